"""The user's files, and component types of their own, with the assistant's tools for both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from runtime.accounts.scopes import Scope
from server.mcp.answers import Answer
from server.mcp.bench import desk_of
from server.mcp.call import Call, fail
from server.mcp.tools.tool import Act, Tool, Touch, agent_description, agent_schema

FILES: Final[Mapping[str, tuple[Scope, Touch]]] = {
    "read_file": ("read", "reads"),
    "glob_search": ("read", "reads"),
    "grep_search": ("read", "reads"),
    "write_file": ("build", "changes"),
    "edit_file": ("build", "changes"),
}
"""The tools for files, with the scope that each needs and what it does."""


def _acts(name: str) -> Act:
    async def act(call: Call, given: Mapping[str, Any]) -> Answer:
        async with desk_of(call) as desk:
            text = await desk.use(name, given)
            if name == "generate_component" and not desk.bench.components:
                fail(text, "not_made")
            return Answer(text=text)

    return act


def _tool(name: str, scope: Scope, touch: Touch) -> Tool:
    return Tool(
        name=name,
        description=agent_description(name),
        group=("canvas",),
        scope=scope,
        touch=touch,
        takes=agent_schema(name, of_flow=False),
        gives=Answer,
        act=_acts(name),
    )


def workspace_tools() -> list[Tool]:
    """The tools."""
    files = [_tool(name, scope, touch) for name, (scope, touch) in FILES.items()]
    return [*files, _tool("generate_component", "build", "adds")]
