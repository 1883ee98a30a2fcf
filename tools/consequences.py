"""What a change has caused: every tool that changes the flow answers with the errors that were not there before."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from pydantic_ai import RunContext

from flows.document import Flow
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
    kinds = {"errors": errors(caused), "warnings": [fault for fault in caused if warnings and not fault.is_error]}
    return "\n".join(f"The flow now has these {kind}:\n{fault_lines(some)}" for kind, some in kinds.items() if some)
