"""Tools of the client: the model calls them like ours, and the client carries the calls out."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator
from pydantic_ai import ToolDefinition

from agent.toolsets.cached import Toolset
from agent.toolsets.checked import CheckedToolset
from agent.turn.result import TurnError
from tools.workbench import Workbench

CLIENT_TOOLS: Final = 50
"""How many tools a client may bring."""

SCHEMA_CHARACTERS: Final = 20_000
"""How long the JSON Schema of a tool's parameters may be."""

RESULT_CHARACTERS: Final = 32_000
"""How much of a result the model is shown."""


class ClientTool(BaseModel):
    """A tool that the client carries out: a call of it suspends the turn, and `tool_results` goes on with it.

    Attributes:
        name: its name, which none of the assistant's own tools has.
        description: what it does and when it is called, for the model.
        parameters: its arguments, as the JSON Schema of an object.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    description: str = Field(default="", max_length=4_000)
    parameters: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])

    @field_validator("parameters")
    @classmethod
    def _describes_an_object(cls, schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if schema.get("type", "object") != "object":
            raise ValueError("parameters must be the JSON Schema of an object")
        if len(json.dumps(schema)) > SCHEMA_CHARACTERS:
            raise ValueError(f"parameters is longer than {SCHEMA_CHARACTERS:,} characters")
        return {"type": "object", "properties": {}, **schema}


class ClientContext(BaseModel):
    """Something that the client's application shows to the assistant.

    Attributes:
        description: what it is.
        value: the text.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    description: str = Field(default="", max_length=1_000)
    value: str = Field(default="", max_length=100_000)


def client_toolset(tools: Iterable[ClientTool]) -> CheckedToolset[Workbench]:
    """The tools of a client as a toolset whose calls suspend the turn."""
    definitions = [
        ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters))
        for tool in tools
    ]
    return CheckedToolset(definitions, id="client")


def refused_name(tools: Sequence[ClientTool], own: Iterable[Toolset]) -> int | None:
    """The place of the first tool whose name another one has; None when all names are unused.

    Args:
        tools: the tools of a client.
        own: the assistant's toolsets.
    """
    used = set[str]().union(*(toolset.tools for toolset in own))
    for at, tool in enumerate(tools):
        if tool.name in used:
            return at
        used.add(tool.name)
    return None


def name_taken(name: str) -> TurnError:
    """What is said of a tool whose name another one has."""
    fix = "Give each of the client's tools a name of its own, which none of the assistant's has."
    return TurnError(code="tool_name_taken", message=f"There is another tool called {name}.", fix=fix)


def merged(earlier: Collection[ClientTool], now: Collection[ClientTool]) -> tuple[ClientTool, ...]:
    """The tools of a turn that goes on: those that it had, as the client describes them now, and new ones."""
    return tuple({tool.name: tool for tool in (*earlier, *now)}.values())


def shown_result(content: JsonValue) -> JsonValue:
    """A result as the model is shown it: whole, or cut as text when it is long."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return content if len(text) <= RESULT_CHARACTERS else f"{text[:RESULT_CHARACTERS]}\n... [truncated]"
