"""A run of an AG-UI client as a request for a turn: what is new in it, and nothing of the history that it repeats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from flows.document import Json, JsonObject
from flows.json_values import as_object, as_text
from server.agui.run_input import RESULT_ID, ResentMessage, Resume, RunInput
from server.errors import ApiError
from tools.approvals import Approval

OPTIONS: Final = ("flow_id", "flow", "provider", "model_name", "max_retries", "apply", "files", "resumable")
"""What a client may ask of a turn, in `forwardedProps`."""

PLACES: Final = {
    "$.input_value": "$.messages",
    "$.tool_results": "$.messages",
    "$.approvals": "$.resume",
    "$.session_id": "$.threadId",
    "$.turn_id": "$.runId",
    **{f"$.{name}": f"$.forwardedProps.{name}" for name in OPTIONS},
}
"""Where what a turn is asked for stands in a request of an AG-UI client."""

PROPOSAL: Final = "proposal-"
"""What the id of an offered flow begins with."""


def assist_document(run: RunInput, pending: Mapping[str, Approval]) -> JsonObject:
    """The request for the turn, as `AssistRequest` reads it.

    Args:
        run: what the client sent.
        pending: what waits in the conversation, by id.

    Raises:
        ApiError: 422, an answer or a message cannot be read.
    """
    given, state = as_object(run.forwarded_props), as_object(run.state)
    document: JsonObject = {
        "session_id": run.thread_id,
        "turn_id": run.turn_id,
        "details": True,
        "tools": [_tool(tool.name, tool.description, tool.parameters) for tool in run.tools],
        "context": [{"description": one.description[:1_000], "value": one.value} for one in run.context],
        **{name: given[name] for name in OPTIONS if given.get(name) is not None},
    }
    if "flow" not in document:
        flow_id = document.get("flow_id") or as_text(state.get("flow_id"))
        document |= {"flow_id": flow_id} if flow_id else {"keep_canvas": True}
    text = _text(run)
    results = {name: content for name, content in _results(run).items() if name in pending or not text}
    approvals: JsonObject = {}
    for at, entry in enumerate(run.resume or ()):
        asked = pending.get(entry.interrupt_id)
        if entry.status == "resolved" and asked is not None and asked.kind == "tool":
            results[entry.interrupt_id] = entry.payload
        else:
            approvals[entry.interrupt_id] = _decision(entry, f"$.resume.{at}.payload")
    if text and approvals and not results and _are_dismissed(run.resume or (), pending):
        approvals, document["dismiss"] = {}, True
    if text or (pending and not approvals and not results):
        document["input_value"] = text
    elif not approvals and not results:
        fix = "Add a message of the user's after the assistant's last one, or answer what waits with resume."
        raise ApiError(422, "invalid_request", "There is no new message.", fix, "$.messages")
    return {**document, "approvals": approvals, "tool_results": results}


def _tool(name: str, description: str, parameters: dict[str, JsonValue] | None) -> Json:
    return {"name": name, "description": description, "parameters": parameters or {}}


def _text(run: RunInput) -> str:
    """The user's new message; empty without one."""
    users = [(at, message) for at, message in run.new if message.role == "user"]
    return users[-1][1].text(f"$.messages.{users[-1][0]}.content").strip() if users else ""


def _results(run: RunInput) -> JsonObject:
    """What the front end's tools gave, by call; results of the server's own tools are history."""
    new = [message for _, message in run.new if message.role == "tool" and message.tool_call_id]
    return {message.tool_call_id or "": _result(message) for message in new if not is_ours(message)}


def is_ours(message: ResentMessage) -> bool:
    """Whether a tool's message repeats a result that the server sent."""
    return message.id == f"{RESULT_ID}{message.tool_call_id}"


def _result(message: ResentMessage) -> Json:
    if message.error:
        return {"error": message.error}
    content = message.content
    return [part.text for part in content] if isinstance(content, list) else content


def _are_dismissed(entries: list[Resume] | tuple[()], pending: Mapping[str, Approval]) -> bool:
    """Whether the user went on without an answer to anything that waits."""
    known = all(entry.interrupt_id in pending or entry.interrupt_id.startswith(PROPOSAL) for entry in entries)
    return known and all(entry.status == "cancelled" for entry in entries)


def _decision(entry: Resume, where: str) -> Json:
    """The decision that a payload stands for: `true`, or `{approved, reason?, editedArgs?}`."""
    if entry.status == "cancelled":
        return {"decision": "deny"}
    if isinstance(entry.payload, bool):
        return {"decision": "approve" if entry.payload else "deny"}
    payload = as_object(entry.payload)
    approved = payload.get("approved")
    if not isinstance(approved, bool):
        fix = 'Send {"approved": true or false, "reason"?, "editedArgs"?}, as responseSchema says.'
        raise ApiError(422, "invalid_request", "The payload does not say whether it is approved.", fix, where)
    decision: JsonObject = {"decision": "approve" if approved else "deny"}
    if isinstance(payload.get("reason"), str):
        decision["reason"] = payload["reason"]
    if payload.get("editedArgs") is not None:
        decision["args"] = payload["editedArgs"]
    return decision
