"""A tool over MCP: what it takes and gives, which scope it needs, and what it does to what the user has."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from runtime.accounts.scopes import Scope
from server.mcp.answers import Answer
from server.mcp.bench import agent_tools, wrong_arguments
from server.mcp.call import Call, fail

Group: TypeAlias = Literal["canvas", "system"]
"""Which of the two servers a tool is of: the one that works on a flow, or the one that looks things up."""

Touch: TypeAlias = Literal["reads", "adds", "changes"]
"""What a tool does to what the user has: nothing, add to it, or change and remove it."""

Act: TypeAlias = Callable[[Call, Mapping[str, Any]], Awaitable[Answer]]

FLOW_ID: Final[dict[str, Any]] = {"type": "string", "description": "The stored flow, as list_flows gives it."}

A = TypeVar("A", bound="Arguments")


class Arguments(BaseModel):
    """The arguments of a tool."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool.

    Attributes:
        name: its name.
        description: what it does, for a model.
        group: which server it is of; both for a tool that each of them has.
        scope: what the user's token must allow.
        touch: what it does to what the user has.
        takes: the JSON schema of its arguments.
        gives: what it answers.
        act: does it.
        runs: whether it runs flows, so that it needs one of the places for runs.
        outbound: whether it may reach hosts.
    """

    name: str
    description: str
    group: tuple[Group, ...]
    scope: Scope
    touch: Touch
    takes: dict[str, Any]
    gives: type[Answer]
    act: Act
    runs: bool = False
    outbound: bool = False

    @property
    def gives_schema(self) -> dict[str, Any]:
        """The JSON schema of what it answers."""
        return self.gives.model_json_schema(mode="serialization")


def own_tool(
    act: Callable[[Call, A], Awaitable[Answer]],
    takes: type[A],
    gives: type[Answer],
    *,
    group: Group | tuple[Group, ...],
    scope: Scope = "read",
    touch: Touch = "reads",
    runs: bool = False,
    outbound: bool = False,
) -> Tool:
    """A tool of this server; its name and description are those of its function.

    Args:
        act: does it.
        takes: the model of its arguments.
        gives: the model of its answer.
        group: the server or servers that it is of.
        scope: what the user's token must allow.
        touch: what it does to what the user has.
        runs: whether it runs flows.
        outbound: whether it may reach hosts.
    """

    async def validated(call: Call, given: Mapping[str, Any]) -> Answer:
        try:
            arguments = takes.model_validate(dict(given))
        except ValidationError as wrong:
            fail(wrong_arguments(wrong), "invalid_arguments")
        return await act(call, arguments)

    return Tool(
        name=act.__name__,
        description=inspect.getdoc(act) or "",
        group=(group,) if isinstance(group, str) else group,
        scope=scope,
        touch=touch,
        takes=_without_titles(takes.model_json_schema()),
        gives=gives,
        act=validated,
        runs=runs,
        outbound=outbound,
    )


def agent_schema(name: str, *, of_flow: bool) -> dict[str, Any]:
    """The arguments of one of the assistant's tools.

    Args:
        name: the tool.
        of_flow: whether it works on a flow, which has to be named.
    """
    schema = dict(agent_tools()[name].tool_def.parameters_json_schema)
    if of_flow:
        schema["properties"] = {"flow_id": FLOW_ID, **schema.get("properties", {})}
        schema["required"] = ["flow_id", *schema.get("required", [])]
    return schema


def agent_description(name: str) -> str:
    """What one of the assistant's tools does, as its model reads it."""
    return agent_tools()[name].tool_def.description or ""


def flow_id_of(given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The flow that arguments name, and the other arguments.

    Raises:
        ToolFailed: they name none.
    """
    rest = dict(given)
    flow_id: object = rest.pop("flow_id", None)
    if not isinstance(flow_id, str) or not flow_id:
        fail("The arguments are wrong; nothing was done.\n- flow_id: list_flows gives the ids.", "invalid_arguments")
    return flow_id, rest


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without the titles that pydantic makes of names, and without the docstring of its class."""
    schema.pop("title", None)
    schema.pop("description", None)
    for one in schema.get("properties", {}).values():
        one.pop("title", None)
    return schema
