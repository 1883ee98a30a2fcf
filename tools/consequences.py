"""What a change has caused: every tool that changes the flow answers with the errors that were not there before."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from pydantic_ai import RunContext

from flows.document import Flow
from flows.fields.model_providers import prefix_of
from flows.json_values import as_list, as_object, as_text
from runtime.gateway.models import ModelUnavailable
from tools.replies import errors, fault_lines
from tools.workbench import Workbench

P = ParamSpec("P")

Tool = Callable[Concatenate[RunContext[Workbench], P], Awaitable[str]]
"""A tool that answers with text."""


def reports_new_errors(tool: Tool[P]) -> Tool[P]:
    """A tool that changes the flow, whose answer ends with the errors that its change has caused."""

    @wraps(tool)
    async def changed(ctx: RunContext[Workbench], *args: P.args, **options: P.kwargs) -> str:
        before = ctx.deps.current
        answer = await tool(ctx, *args, **options)
        return "\n".join(filter(None, (answer, new_errors(ctx.deps, before))))

    return changed


def new_errors(bench: Workbench, before: Flow, *, warnings: bool = False) -> str:
    """The errors of the current flow that an earlier one did not have, as lines; empty when there are none.

    Args:
        bench: the workbench after the change.
        before: the flow before the change.
        warnings: whether warnings are listed, too.
    """
    if bench.current is before or bench.current.is_empty:
        return ""
    old = () if before.is_empty else bench.check(before)
    known = {(fault.code, fault.message) for fault in old}
    caused = [fault for fault in bench.check(bench.current) if (fault.code, fault.message) not in known]
    kinds = {
        "errors": errors(caused),
        "warnings": [fault for fault in caused if warnings and not fault.is_error],
    }
    found = [f"The flow now has these {kind}:\n{fault_lines(some)}" for kind, some in kinds.items() if some]
    return "\n".join([*found, *(_unavailable_models(bench, before) if warnings else ())])


def _unavailable_models(bench: Workbench, before: Flow) -> list[str]:
    """What a run will miss: the models that a change has chosen and that no configured provider serves."""
    if bench.models is None:
        return []
    chosen = dict.fromkeys(
        name for name in _language_models(bench.current) if name not in set(_language_models(before))
    )
    found: list[str] = []
    for name in chosen:
        try:
            bench.models.resolve(name)
        except ModelUnavailable as missing:
            found.append(f"It cannot run with {name} here: {missing.message} {missing.fix}".rstrip())
    return found


def _language_models(flow: Flow) -> list[str]:
    """The models that the model fields of a flow name, as `provider:name`."""
    fields = [field for node in flow.components for field in node.template.values() if field.get("type") == "model"]
    named = [
        as_object(one)
        for field in fields
        if field.get("model_type") != "embedding"
        for one in as_list(field.get("value"))
    ]
    pairs = [(as_text(one.get("provider")), as_text(one.get("name"))) for one in named]
    return [f"{prefix_of(provider) or provider}:{name}" for provider, name in pairs if provider and name]
