"""Creating component types from source that the agent writes: checked, stored, and usable in the same turn."""

import logging

from pydantic_ai import ApprovalRequired, ModelRetry, RunContext
from pydantic_ai.toolsets import FunctionToolset

from flows.component_type import ComponentType
from flows.faults import Fault
from flows.json_values import as_text, texts
from runtime.components.inspection import Inspection, is_taken, name_taken
from runtime.telemetry import log_event
from tools.approvals import PlanApproval, approval_metadata
from tools.consent.ask import carried, consents
from tools.consent.declared import has_effects
from tools.consent.gate import ask_before_sending
from tools.consent.hosts import hosts_in
from tools.consent.rules import Act, uncovered
from tools.events import Progress, Step
from tools.replies import clip, fault_lines, reason_to_stop
from tools.toolsets.plan import PLAN_LIMIT
from tools.workbench import MAX_ATTEMPTS, Workbench

REQUIRED = frozenset({"no_type", "no_display_name", "no_description"})
"""Warnings that a model has to correct nevertheless: nobody could find or connect such a component."""


@has_effects("write_components", "reach")
async def generate_component(ctx: RunContext[Workbench], source: str) -> str:
    """Make a new component type from Python source that you write, for what no existing type does.

    It is checked, made once in isolation, and kept for the user; from then on it can be searched, described and built
    with like any other, in this turn too.

    Args:
        source: the whole source: imports, and one class that inherits from Component.
    """
    bench = ctx.deps
    if bench.user_components is None:
        return "Not made: components cannot be made here. Use existing component types."
    _ask_to_write(ctx, source)
    attempt = len(bench.component_failures) + 1
    await _report(ctx, "validating", "Checking the component...", attempt)
    found = await bench.user_components.make(_without_fence(source))
    faults = [fault for fault in found.faults if fault.is_error or fault.code in REQUIRED]
    if found.name is not None and is_taken(bench.catalogue, found.name):
        faults.append(name_taken(found.name))
    if faults or found.component is None:
        return await _failed(ctx, source, found, faults, attempt)
    bench.catalogue = bench.catalogue.with_components([found.component])
    bench.components.append(found.component)
    refusal = await bench.user_components.keep(found.component)
    if refusal is not None:
        bench.caveats.append(f"The component {found.component.type} is not kept: {refusal.message}")
    log_event("assistant.validation.success", class_name=found.component.type, attempts=attempt)
    await _report(ctx, "validated", f"The component {found.component.type} is ready.", attempt)
    return _ports(found.component)


def _ask_to_write(ctx: RunContext[Workbench], source: str) -> None:
    """Return when the user's words, or an approval, cover a new component and the hosts that its source names."""
    bench = ctx.deps
    if uncovered(bench, [Act("component", "")]) and not (bench.auto_plan or consents(ctx).approvals):
        plan = PlanApproval(markdown=f"{_UNASKED}\n\n```python\n{clip(_without_fence(source), PLAN_LIMIT)}```")
        raise ApprovalRequired(metadata=approval_metadata(plan) | carried(ctx))
    hosts = hosts_in(source)
    ask_before_sending(ctx, hosts, "Write a component that sends data to")
    bench.allowed_hosts |= set(hosts)


_UNASKED = "Write this new component. It is asked because your message does not ask for one."


async def _failed(ctx: RunContext[Workbench], source: str, found: Inspection, faults: list[Fault], attempt: int) -> str:
    bench = ctx.deps
    stop = reason_to_stop(bench.component_failures, source.strip(), bench.max_attempts, "source")
    await _report(ctx, "validation_failed", "The component did not pass.", min(attempt, bench.max_attempts))
    reason = fault_lines(faults)
    error = faults[0].message if faults else "it makes no component"
    if not found.lasting and any(fault.code == "busy" for fault in faults):
        stop = "the engine is busy"
    log_event("assistant.validation.failed", logging.WARNING, attempt=attempt, class_name=found.name, error=error[:200])
    if stop:
        log_event("assistant.validation.exhausted", logging.ERROR, attempts=attempt, error=error[:200])
        advice = "Do not call generate_component again; tell the user plainly what is missing."
        return f"Not made: {stop}. {advice}\n{reason}"
    raise ModelRetry(f"Not made. Correct the source and call generate_component again.\n{reason}")


async def _report(ctx: RunContext[Workbench], step: Step, message: str, attempt: int) -> None:
    await ctx.emit(Progress(step=step, message=message, attempt=attempt, max_attempts=ctx.deps.max_attempts))


def _without_fence(source: str) -> str:
    """A source without the Markdown fence that models put around code."""
    lines = source.strip("\n").split("\n")
    if lines and lines[0].strip().startswith("```"):
        lines = lines[1 : -1 if lines[-1].strip().startswith("```") else None]
    return "\n".join(lines) + "\n"


def _ports(component: ComponentType) -> str:
    """A component type's ports, as a model needs them to build with it."""
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
