"""Our own stream contract: the seeds' JSON events, each in a `data:` frame of server-sent events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from pydantic_ai import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

from agent.turn.result import TurnEnded, TurnError, TurnEvent, TurnResult
from flows.actions import (
    AddComponent,
    Amend,
    Arrange,
    Configure,
    Connect,
    Disconnect,
    FlowAction,
    RemoveComponent,
    SelectOutput,
    SetConnectionMode,
    SetDetail,
    SetFlow,
    SetToolMode,
)
from flows.document import Flow, Json, JsonObject
from flows.json_values import Missing, as_text, object_at
from runtime.results import RunEvent, RunMetrics
from server.json_bytes import json_bytes
from tools.approvals import Approval, EditApproval
from tools.events import FileWritten, FlowPreview, FlowUpdate, Progress, RunProgress, TodosWritten

_LINE_BREAKS: Mapping[bytes, bytes] = {
    "\u2028".encode(): b"\\u2028",
    "\u2029".encode(): b"\\u2029",
    "\u0085".encode(): b"\\u0085",
}
"""Characters that JSON leaves as they are and that some clients take for the end of a line."""


def frame(event: JsonObject) -> bytes:
    """An event as one frame of server-sent events, ended by an empty line."""
    written = json_bytes(event)
    for char, escape in _LINE_BREAKS.items():
        written = written.replace(char, escape)
    return b"data: " + written + b"\n\n"


class SseEncoder:
    """Turns the events of one turn into JSON objects in the seeds' shape.

    Args:
        session: the conversation's id, repeated at the end.
    """

    def __init__(self, session: str) -> None:
        self._session = session
        self._has_text = False

    def encode(self, event: TurnEvent, stored: JsonObject | None = None) -> list[JsonObject]:
        """The objects that one event becomes: none for an event that clients are not sent.

        Args:
            event: what happened.
            stored: for the last event, whether and how the stored flow was saved, when the turn worked on one.
        """
        match event:
            case Progress():
                return [
                    {
                        "event": "progress",
                        "step": event.step,
                        "attempt": event.attempt,
                        "max_attempts": event.max_attempts,
                        "message": event.message,
                    }
                ]
            case RunProgress(event=RunEvent(kind="node_started", iteration=1), label=label):
                return [
                    {
                        "event": "progress",
                        "step": "running_flow",
                        "attempt": 1,
                        "max_attempts": 1,
                        "message": f"Running {label}...",
                    }
                ]
            case FlowUpdate():
                return [_update(event)]
            case FlowPreview():
                return [
                    {
                        "event": "flow_preview",
                        "flow": event.flow.raw,
                        "name": event.flow.name,
                        "node_count": len(event.flow.nodes),
                        "edge_count": len(event.flow.edges),
                        "graph": event.graph,
                    }
                ]
            case FileWritten():
                return [
                    {
                        "event": "file_written",
                        "action": "edit_file" if event.change.change == "edited" else "write_file",
                        "path": event.change.path,
                        "size": event.change.size,
                        "content": event.content,
                    }
                ]
            case TodosWritten():
                return [{"event": "todos", "todos": [{"content": t.content, "status": t.status} for t in event.todos]}]
            case PartStartEvent(part=TextPart(content=text)):
                return self._token(f"\n\n{text}" if self._has_text else text)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                return self._token(text)
            case TurnEnded():
                return [*questions(event.result), ending(event.result, self._session, stored)]
            case _:
                return []

    def _token(self, text: str) -> list[JsonObject]:
        if not text:
            return []
        self._has_text = True
        return [{"event": "token", "chunk": text}]


def _update(event: FlowUpdate) -> JsonObject:
    facts = change_json(event.action)
    if event.node is not None:
        facts["node"] = event.node
    if event.action.kind == "set_flow":
        facts["auto_apply"] = event.applied
    return {"event": "flow_update", "action": event.action.kind, **facts}


def change_json(action: FlowAction) -> JsonObject:
    """What a flow update says about a change, under the seeds' keys."""
    match action:
        case AddComponent():
            edges: list[Json] = [edge for _, edge in action.edges]
            return {"node": action.node, **({"edges": edges} if edges else {})}
        case RemoveComponent():
            return {"component_id": as_text(object_at(action.node, "data").get("id")) or as_text(action.node.get("id"))}
        case Connect() | Disconnect():
            return {"edge": action.edge}
        case Configure():
            return {
                "component_id": action.node,
                "params": {action.field: _value(action.new)},
            }
        case SelectOutput():
            return {"component_id": action.node, "output_name": _value(action.new)}
        case SetConnectionMode():
            enabled = action.new == "connect_other_models"
            return {"component_id": action.node, "field": action.field, "enabled": enabled}
        case SetToolMode():
            return {"component_id": action.node, "enabled": action.enabled}
        case Arrange():
            return {"component_id": action.node, "key": action.key, "value": _value(action.new)}
        case Amend():
            return {"component_id": action.node}
        case SetDetail():
            return {"path": list[Json](action.path), "value": _value(action.new)}
        case SetFlow():
            return {"flow": action.new}
        case _:
            assert_never(action)


def ending(result: TurnResult, session: str, stored: JsonObject | None = None) -> JsonObject:
    """The last event of a turn.

    Args:
        result: what the turn came to.
        session: the conversation's id.
        stored: what became of the stored flow, when the turn worked on one.
    """
    match result.outcome:
        case "complete" | "refused" | "pending":
            return {"event": "complete", "data": {**complete_data(result, session), **(stored or {})}}
        case "cancelled":
            return cancelled("The turn was cancelled.", stored)
        case "error":
            error = result.error or TurnError(code="internal", message="Something went wrong inside the assistant.")
            costs: JsonObject = {"usage": usage_json(result), "duration_seconds": result.seconds}
            return {**failed(error), "session_id": session, **costs, **(stored or {})}
        case _:
            assert_never(result.outcome)


def questions(result: TurnResult) -> list[JsonObject]:
    """What a turn that waits asks, as the seeds' updates: a plan to read, a change of a field to look at.

    Args:
        result: what the turn came to.
    """
    asked: list[JsonObject] = []
    for call, approval in result.approvals.items():
        if approval.kind == "plan":
            asked.append({"event": "flow_update", "action": "propose_plan", "id": call, "markdown": approval.markdown})
        else:
            asked.append({"event": "flow_update", "action": "edit_field", **_edit(call, approval, result.after)})
    return asked


def _edit(call: str, approval: EditApproval, canvas: Flow) -> JsonObject:
    edit = approval.edit
    node = canvas.node(edit.node)
    at = next((at for at, one in enumerate(canvas.nodes) if one.id == edit.node), 0)
    path = f"/data/nodes/{at}/data/node/template/{edit.field}/value"
    return {
        "id": call,
        "component_id": edit.node,
        "component_type": "" if node is None else node.type,
        "field": edit.field,
        "old_value": _value(edit.old),
        "new_value": _value(edit.new),
        "description": approval.reason,
        "patch": [{"op": "replace", "path": path, "value": _value(edit.new)}],
    }


def _approval(call: str, approval: Approval, canvas: Flow) -> JsonObject:
    if approval.kind == "plan":
        return {"id": call, "kind": "plan", "markdown": approval.markdown}
    return {**_edit(call, approval, canvas), "kind": "edit", "reason": approval.reason}


def complete_data(result: TurnResult, session: str) -> JsonObject:
    """What a finished turn tells its client."""
    data: JsonObject = {
        "result": result.text,
        "intent": result.intent,
        "session_id": session,
        "flow": result.after.raw,
        "actions": len(result.actions),
        "faults": [fault.to_json() for fault in result.faults],
        "caveats": list[Json](result.caveats),
        "model": result.models[-1] if result.models else None,
        "usage": usage_json(result),
        "duration_seconds": result.seconds,
    }
    if result.actions or result.proposal is not None:
        data["validated"] = not result.caveats and not any(fault.is_error for fault in result.faults)
    if result.components:
        made = result.components[-1]
        data.update({"class_name": made.class_name, "component_code": made.source})
        data.setdefault("validated", True)
    if result.approvals:
        data["approvals"] = [_approval(call, approval, result.after) for call, approval in result.approvals.items()]
        data["continuation_expected"] = result.deferred and all(
            approval.kind == "edit" for approval in result.approvals.values()
        )
    if result.files:
        data["files"] = [{"path": one.path, "size": one.size, "change": one.change} for one in result.files]
    if result.proposal is not None:
        data["proposal"] = result.proposal.raw
    if result.runs:
        data["run"] = result.runs[-1].to_json()
        data["run_metrics"] = _run_metrics(result.runs[-1].metrics)
    return data


def usage_json(result: TurnResult) -> JsonObject:
    """The tokens of a turn, summed over its phases."""
    given = sum(usage.input_tokens for usage in result.usage.values())
    got = sum(usage.output_tokens for usage in result.usage.values())
    return {"input_tokens": given, "output_tokens": got, "total_tokens": given + got}


def failed(error: TurnError) -> JsonObject:
    """The event that ends a turn which failed."""
    return {"event": "error", "message": error.message, "code": error.code, "fix": error.fix}


def cancelled(message: str, stored: JsonObject | None = None) -> JsonObject:
    """The event that ends a turn which was stopped."""
    return {"event": "cancelled", "message": message, **(stored or {})}


def _run_metrics(metrics: RunMetrics) -> JsonObject:
    return {
        "duration_seconds": metrics.seconds,
        "input_tokens": metrics.input_tokens,
        "output_tokens": metrics.output_tokens,
        "total_tokens": metrics.total_tokens,
    }


def _value(value: Json | Missing) -> Json:
    return None if isinstance(value, Missing) else value
