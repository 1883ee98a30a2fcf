"""Making new component types from source that the agent writes: read, made, kept, and usable in the same turn."""

import logging
from typing import Literal

from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.toolsets import FunctionToolset

from flows.component_type import ComponentType
from flows.faults import Fault
from flows.json_values import as_text, texts
from runtime.components.inspection import Inspection, is_taken, name_taken
from runtime.telemetry import log_event
from tools.events import Progress
from tools.replies import attempts_failed, fault_lines
from tools.workbench import MAX_ATTEMPTS, Workbench

TO_MEND = frozenset({"no_type", "no_display_name", "no_description"})
"""Warnings that a model has to mend all the same: nobody could find or connect such a component."""


async def generate_component(ctx: RunContext[Workbench], source: str) -> str:
    """Make a new component type from Python source that you write, for what no existing type does.

    It is checked, made once in isolation, and kept for the user; from then on it can be searched, described and built
    with like any other, in this turn too.

    Args:
        source: the whole source: imports, and one class that inherits from Component.
    """
    bench = ctx.deps
    if bench.workshop is None:
        return "Not made: components cannot be made here. Use existing component types."
    attempt = len(bench.component_failures) + 1
    await _tell(ctx, "validating", "Checking the component...", attempt)
    found = await bench.workshop.make(_bare(source))
    faults = [fault for fault in found.faults if fault.is_error or fault.code in TO_MEND]
    if found.name is not None and is_taken(bench.catalogue, found.name):
        faults.append(name_taken(found.name))
    if faults or found.component is None:
        return await _failed(ctx, source, found, faults, attempt)
    bench.catalogue = bench.catalogue.with_components([found.component])
    bench.components.append(found.component)
    refusal = await bench.workshop.keep(found.component)
    if refusal is not None:
        bench.caveats.append(f"The component {found.component.type} is not kept: {refusal.message}")
    log_event("assistant.validation.success", class_name=found.component.type, attempts=attempt)
    await _tell(ctx, "validated", f"The component {found.component.type} is ready.", attempt)
    return _ports(found.component)


async def _failed(ctx: RunContext[Workbench], source: str, found: Inspection, faults: list[Fault], attempt: int) -> str:
    bench = ctx.deps
    repeated = source.strip() in bench.component_failures
    bench.component_failures.append(source.strip())
    await _tell(ctx, "validation_failed", "The component did not pass.", min(attempt, bench.max_attempts))
    reason = fault_lines(faults)
    error = faults[0].message if faults else "it makes no component"
    log_event("assistant.validation.failed", logging.WARNING, attempt=attempt, class_name=found.name, error=error[:200])
    outside = not found.lasting and any(fault.code == "busy" for fault in faults)
    if repeated or outside or attempt >= bench.max_attempts:
        log_event("assistant.validation.exhausted", logging.ERROR, attempts=attempt, error=error[:200])
        tried = "the same source failed again" if repeated else attempts_failed(bench.max_attempts)
        stop = "Do not call generate_component again; tell the user plainly what is missing."
        return f"Not made: {'the engine is busy' if outside else tried}. {stop}\n{reason}"
    raise ModelRetry(f"Not made. Correct the source and call generate_component again.\n{reason}")


async def _tell(
    ctx: RunContext[Workbench],
    step: Literal["validating", "validated", "validation_failed"],
    message: str,
    attempt: int,
) -> None:
    await ctx.emit(Progress(step=step, message=message, attempt=attempt, max_attempts=ctx.deps.max_attempts))


def _bare(source: str) -> str:
    """A source without the fence that models put around code."""
    lines = source.strip("\n").split("\n")
    if lines and lines[0].strip().startswith("```"):
        lines = lines[1 : -1 if lines[-1].strip().startswith("```") else None]
    return "\n".join(lines) + "\n"


def _ports(component: ComponentType) -> str:
    """What was made, as a model needs it to build with it."""
    inputs = [
        f"{name} ({', '.join([*texts(field.get('input_types')), as_text(field.get('type'))])})"
        + (", tool input" if field.get("tool_mode") else "")
        for name, field in component.template.items()
        if name != "code" and field.get("show") is not False
    ]
    outputs = [
        f"{as_text(output.get('name'))} ({', '.join(texts(output.get('types')))})" for output in component.outputs
    ]
    tool = "component_as_tool, for an agent's tools" if component.can_be_tool else ""
    return "\n".join(
        [
            f"Made the component type {component.type}; build with it by this name.",
            f"inputs: {'; '.join(inputs) or 'none'}",
            f"outputs: {'; '.join([*outputs, *([tool] if tool else [])])}",
        ]
    )


component_tools = FunctionToolset[Workbench](
    [generate_component], max_retries=MAX_ATTEMPTS + 2, sequential=True, id="components"
)
