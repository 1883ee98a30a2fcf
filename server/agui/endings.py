"""What a run of AG-UI ends with: interrupts, and what it has used."""

from __future__ import annotations

from typing import Final

from agent.contract.events import TokenCount
from agent.contract.questions import Question
from flows.document import Flow, JsonObject

RESPONSE: Final[JsonObject] = {
    "type": "object",
    "required": ["approved"],
    "properties": {
        "approved": {"type": "boolean"},
        "reason": {"type": "string", "description": "Why not, for the assistant."},
        "editedArgs": {"type": "object", "description": "The arguments of the call that the user changed."},
    },
}
"""What answers an approval: the schema that its interrupt has."""


def interrupt(question: Question) -> JsonObject:
    """A question as the interrupt that asks it."""
    asked = question.model_dump(mode="json")
    message = asked.get("title") or asked.get("reason") or asked.get("markdown") or "May this be done?"
    return {
        "id": question.id,
        "reason": "tool_call",
        "toolCallId": question.id,
        "message": message,
        "responseSchema": RESPONSE,
        "metadata": {"approval": asked},
    }


def offer(name: str, flow: Flow) -> JsonObject:
    """An offered flow as the interrupt that asks whether it is put on the canvas."""
    nodes: JsonObject = {node.id: {"type": node.type} for node in flow.components[:100]}
    return {
        "id": name,
        "reason": "confirmation",
        "message": f"Put the flow {flow.name!r} on the canvas?",
        "responseSchema": RESPONSE,
        "metadata": {"proposal": {"name": flow.name, "nodes": nodes}},
    }


def usage(count: TokenCount, model: str | None) -> JsonObject:
    """The tokens of a turn."""
    counted: JsonObject = {
        "inputTokens": count.input_tokens,
        "outputTokens": count.output_tokens,
        "totalTokens": count.total_tokens,
    }
    if count.cached_tokens is not None:
        counted["cachedInputTokens"] = count.cached_tokens
    return counted if model is None else {"model": model, **counted}
