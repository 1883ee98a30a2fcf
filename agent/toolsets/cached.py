"""The tools of a turn as one set, whose definitions are made once and not for every request."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, ToolsetTool

from tools.workbench import Workbench

Toolset = FunctionToolset[Workbench]
"""Tools whose definitions depend on nothing but themselves; none of them has a `prepare`."""

KITS = 64
"""Kits that are kept; the one unused for longest goes first."""


class CachedToolset(AbstractToolset[Workbench]):
    """Several sets as one.

    The framework asks every set of a run for its tools, its instructions and its state before each request, and copies
    the run's context for each tool. Tools that never change need to be asked for once.

    Args:
        toolsets: the sets, in the order in which a model is told of their tools; no name may be in two of them.
    """

    def __init__(self, toolsets: Sequence[Toolset]) -> None:
        self._toolsets = tuple(toolsets)
        self._tools: dict[str, ToolsetTool[Workbench]] | None = None

    @property
    def id(self) -> str | None:
        """None: every tool keeps the id of its own set."""
        return None

    async def get_tools(self, ctx: RunContext[Workbench]) -> dict[str, ToolsetTool[Workbench]]:
        """The tools by name, the same for every request."""
        if self._tools is None:
            self._tools = {
                name: toolset.tool_for_tool_def(tool.tool_def, ctx=ctx)
                for toolset in self._toolsets
                for name, tool in toolset.tools.items()
            }
        return self._tools

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Workbench], tool: ToolsetTool[Workbench]
    ) -> Any:
        """Call a tool the way its own set does."""
        return await tool.toolset.call_tool(name, tool_args, ctx, tool)


@lru_cache(KITS)
def cached_toolset(toolsets: tuple[Toolset, ...]) -> CachedToolset:
    """The kit of some sets, made once.

    Args:
        toolsets: the sets, in order.
    """
    return CachedToolset(toolsets)


def subset(toolset: Toolset, *names: str) -> Toolset:
    """Some of a set's tools, as a set of their own under the same id.

    Args:
        toolset: the set.
        names: the tools to keep.
    """
    kept = [tool for name, tool in toolset.tools.items() if name in names]
    return Toolset(kept, max_retries=toolset.max_retries, id=toolset.id)
