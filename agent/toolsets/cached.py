"""The tools of a turn as one toolset, whose definitions are made once instead of for every request."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pydantic_ai import ApprovalRequired, ModelRetry, RunContext
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, ToolsetTool

from tools.approvals import held_metadata, is_held, read_note
from tools.consent.ask import carried
from tools.consent.declared import effects_of
from tools.mandate import Effect
from tools.workbench import Workbench

Toolset = FunctionToolset[Workbench]
"""Tools with fixed definitions; none of them has a `prepare`."""

CACHE_SIZE = 64
"""How many combined toolsets are cached; the least recently used is dropped first."""


UNAFFECTED = frozenset({"search_components", "describe_component", "list_templates", "read_manual", "write_todos"})
"""Tools that read neither the canvas nor files, so that they need not wait for an earlier call."""

ASKING = frozenset({"configure_component", "edit_flow", "propose_plan"})
"""Tools that can ask their own question, or hold back, while an earlier call waits."""

_CHANGING = frozenset[Effect]({"edit", "remove", "undo", "write_components"})
"""The effects of tools that change what a run would run."""

NOT_RUN = "Not run: the change before it was refused. Make the change first, then run the flow."
"""The answer to a run in the same answer of the model as a change that was refused."""


class CachedToolset(AbstractToolset[Workbench]):
    """Several toolsets as one.

    Before each request the framework asks every toolset of a run for its tools, instructions and state, copies the
    run's context for each tool, and copies each definition that does not say which toolset it is of. Fixed tools need
    that only once.

    Args:
        toolsets: the toolsets, in the order in which a model sees their tools; names must be unique.
    """

    def __init__(self, toolsets: Sequence[Toolset]) -> None:
        self._toolsets = tuple(toolsets)
        self._tools: dict[str, ToolsetTool[Workbench]] | None = None

    @property
    def id(self) -> str | None:
        """None: every tool keeps the id of its toolset."""
        return None

    async def get_tools(self, ctx: RunContext[Workbench]) -> dict[str, ToolsetTool[Workbench]]:
        """The tools by name, the same for every request."""
        if self._tools is None:
            self._tools = {
                name: toolset.tool_for_tool_def(replace(tool.tool_def, toolset_id=toolset.id), ctx=ctx)
                for toolset in self._toolsets
                for name, tool in toolset.tools.items()
            }
        return self._tools

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Workbench], tool: ToolsetTool[Workbench]
    ) -> Any:
        """Call a tool through its toolset; a call that follows one which waits for an approval waits too."""
        given = ctx.tool_call_metadata
        if is_held(given):
            ctx = replace(ctx, tool_call_approved=False)
        if ctx.deps.waits and name not in UNAFFECTED and name not in ASKING:
            raise ApprovalRequired(metadata=held_metadata() | carried(ctx))
        if name == "run_flow" and ctx.deps.refused_in == ctx.run_step:
            return NOT_RUN
        try:
            answer = await tool.toolset.call_tool(name, tool_args, ctx, tool)
        except ApprovalRequired:
            ctx.deps.waits = True
            raise
        except ModelRetry:
            if effects_of(name) & _CHANGING:
                ctx.deps.refused_in = ctx.run_step
            raise
        note = read_note(given)
        return f"{note}\n{answer}" if note and isinstance(answer, str) else answer


@lru_cache(CACHE_SIZE)
def cached_toolset(toolsets: tuple[Toolset, ...]) -> CachedToolset:
    """The combination of these toolsets, made once."""
    return CachedToolset(toolsets)


def subset(toolset: Toolset, *names: str) -> Toolset:
    """A toolset with only the named tools, under the same id."""
    kept = [tool for name, tool in toolset.tools.items() if name in names]
    return Toolset(kept, max_retries=toolset.max_retries, id=toolset.id)
