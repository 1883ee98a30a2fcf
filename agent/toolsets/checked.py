"""Tools that somebody else carries out, whose calls must fit the schema that was given for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeVar, cast

from pydantic import JsonValue
from pydantic_ai import ModelRetry, RunContext, ToolDefinition
from pydantic_ai.toolsets import ExternalToolset, ToolsetTool

from agent.toolsets.json_schema import problems

Deps = TypeVar("Deps")

RETRIES: Final = 3
"""How often a call with wrong arguments goes back to the model."""


class CheckedToolset(ExternalToolset[Deps]):
    """Tools that the client carries out; calls that do not fit a tool's schema go back to the model."""

    async def get_tools(self, ctx: RunContext[Deps]) -> dict[str, ToolsetTool[Deps]]:
        """The tools, each with what checks its arguments."""
        found = await super().get_tools(ctx)
        return {
            name: replace(tool, max_retries=RETRIES, args_validator_func=_checks(tool.tool_def))
            for name, tool in found.items()
        }


def _checks(tool: ToolDefinition) -> Callable[..., None]:
    schema = cast("JsonValue", tool.parameters_json_schema)

    def check(_: RunContext[Any], /, **arguments: JsonValue) -> None:
        if wrong := problems(arguments, schema):
            lines = (f"- {one}" for one in wrong)
            raise ModelRetry("\n".join(["The arguments are wrong; nothing was called.", *lines]))

    return check
