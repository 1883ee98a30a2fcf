"""The tool calls of an attempt and the tools' replies, read from its messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_ai import ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart

from agent.turn.result import TurnResult
from evals.attempt import Attempt


@dataclass(frozen=True)
class Call:
    """One tool call.

    Attributes:
        arguments: as the model gave them; empty if they were not a JSON object.
        accepted: whether the tool accepted it.
        reply: what the tool answered.
    """

    tool: str
    arguments: dict[str, Any]
    accepted: bool
    reply: str


def calls_of(turn: TurnResult) -> list[Call]:
    """The calls of a turn in order."""
    replies: dict[str, tuple[bool, str]] = {}
    for message in turn.messages:
        for part in message.parts if isinstance(message, ModelRequest) else ():
            if isinstance(part, ToolReturnPart):
                replies[part.tool_call_id] = (part.outcome == "success", str(part.content))
    return [
        Call(part.tool_name, _arguments(part), *replies.get(part.tool_call_id, (True, "")))
        for message in turn.messages
        if isinstance(message, ModelResponse)
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]


def calls(attempt: Attempt) -> list[Call] | None:
    """The calls of an attempt; None if the player does not show its messages."""
    if not any(turn.messages for turn in attempt.turns):
        return None
    return [call for turn in attempt.turns for call in calls_of(turn)]


def _arguments(part: ToolCallPart) -> dict[str, Any]:
    try:
        return part.args_as_dict()
    except (ValueError, AssertionError):  # the arguments are not a JSON object
        return {}
