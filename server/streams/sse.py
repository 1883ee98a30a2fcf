"""The SSE contract: the events of a turn as models of `agent.contract`, framed as server-sent events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from pydantic import BaseModel
from pydantic_ai import (
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
)

from agent.contract.canvas_changes import flow_update
from agent.contract.details import ReasoningEvent, RemarkEvent, ToolCallEvent, ToolResultEvent
from agent.contract.endings import ending, field_edit
from agent.contract.events import (
    CompleteEvent,
    Event,
    FileWrittenEvent,
    FlowPreviewEvent,
    ProgressEvent,
    Stored,
    TodosEvent,
    TokenEvent,
    file_url,
)
from agent.contract.flow_updates import (
    FieldEdit,
    FieldEditProposed,
    PatchOperation,
    PlanProposed,
)
from agent.contract.questions import EditQuestion
from agent.honesty.remarks import Remark
from agent.turn.loop import CallResumed
from agent.turn.result import TurnEnded, TurnEvent, TurnResult
from flows.document import Flow, JsonObject
from runtime.run_events import NodeStarted
from server.json_response import json_bytes
from tools.events import FileWritten, FlowPreview, FlowUpdate, Progress, RunProgress, TodosWritten

_LINE_BREAKS: Mapping[bytes, bytes] = {
    "\u2028".encode(): b"\\u2028",
    "\u2029".encode(): b"\\u2029",
    "\u0085".encode(): b"\\u0085",
}
"""Characters that JSON leaves as they are and that some clients take for the end of a line."""


def frame(event: BaseModel | JsonObject) -> bytes:
    """An event as one frame of server-sent events: a single `data:` line, and an empty one."""
    return line_of(json_bytes(event))


def line_of(written: bytes) -> bytes:
    """An event's JSON as one frame."""
    return b"data: " + escaped(written) + b"\n\n"


def escaped(written: bytes) -> bytes:
    """JSON on one line, however a client splits lines."""
    for char, escape in _LINE_BREAKS.items():
        written = written.replace(char, escape)
    return written


class SseEncoder:
    """Turns the events of one turn into those that clients receive.

    Args:
        session: the conversation's id, repeated at the end.
        details: whether clients also receive thoughts, and the calls and results of tools.

    Attributes:
        has_text: whether a part of the answer's text was sent.
    """

    def __init__(self, session: str, *, details: bool = False) -> None:
        self._session = session
        self._details = details
        self.has_text = False

    def encode(self, event: TurnEvent, stored: Stored | None = None) -> list[Event]:
        """The events that one event of a turn becomes: none for one that clients do not receive.

        Args:
            event: what happened.
            stored: for the last event, what became of the stored flow, when the turn worked on one.
        """
        match event:
            case Progress():
                return [
                    ProgressEvent(
                        step=event.step,
                        attempt=event.attempt,
                        max_attempts=event.max_attempts,
                        message=event.message,
                    )
                ]
            case RunProgress(event=NodeStarted(iteration=1), label=label):
                return [ProgressEvent(step="running_flow", attempt=1, max_attempts=1, message=f"Running {label}...")]
            case FlowUpdate():
                return [flow_update(event)]
            case FlowPreview(flow=flow):
                nodes, edges = len(flow.nodes), len(flow.edges)
                preview = FlowPreviewEvent(
                    flow=flow.raw, name=flow.name, node_count=nodes, edge_count=edges, graph=event.graph
                )
                return [preview]
            case FileWritten():
                return [file_written(event)]
            case TodosWritten():
                return [TodosEvent(todos=event.todos)]
            case PartStartEvent(part=TextPart(content=text)):
                return self._token(f"\n\n{text}" if self.has_text else text)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                return self._token(text)
            case TurnEnded(result=result):
                return [*questions(result), with_patches(ending(result, self._session, stored), result.after)]
            case _:
                return self._detail(event) if self._details else []

    def _detail(self, event: TurnEvent) -> list[Event]:
        match event:
            case PartStartEvent(part=ThinkingPart(content=text)):
                return [ReasoningEvent(chunk=text, is_new=True)]
            case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text))) if text:
                return [ReasoningEvent(chunk=text)]
            case Remark():
                return [RemarkEvent(chunk=event.chunk, is_new=event.is_new)] if event.chunk else []
            case CallResumed():
                return []
            case FunctionToolCallEvent(part=part):
                arguments = part.args_as_dict()
                return [ToolCallEvent(tool_call_id=part.tool_call_id, tool_name=part.tool_name, arguments=arguments)]
            case FunctionToolResultEvent():
                return [tool_result(event)]
            case _:
                return []

    def _token(self, text: str) -> list[Event]:
        if not text:
            return []
        self.has_text = True
        return [TokenEvent(chunk=text)]


RESULT_CHARACTERS: Final = 16_000
"""How much of a tool's answer clients receive."""


def tool_result(event: FunctionToolResultEvent) -> ToolResultEvent:
    """What came of a tool's call, as clients receive it."""
    part = event.part
    content = part.model_response_str()
    if len(content) > RESULT_CHARACTERS:
        content = f"{content[:RESULT_CHARACTERS]}…"
    answer: object = part.content
    is_refused = isinstance(answer, dict) and "error" in answer
    return ToolResultEvent(
        tool_call_id=part.tool_call_id,
        tool_name=part.tool_name or "",
        content=content,
        is_error=is_refused or part.outcome != "success",
        denied=part.outcome == "denied" or None,
    )


def file_written(event: FileWritten) -> FileWrittenEvent:
    """A file of the user with new content, as clients receive it; one that a flow wrote has a link."""
    change = event.change
    action = "run_flow" if event.by_run else "edit_file" if change.change == "edited" else "write_file"
    written = FileWrittenEvent(action=action, path=change.path, size=change.size, content=event.content)
    if event.by_run:
        written.url = file_url(change.path)
    return written


def questions(result: TurnResult) -> list[Event]:
    """The plans and changes of fields that a turn waits for, as updates; other questions stand in `complete` alone."""
    updates: list[Event] = []
    for call, approval in result.approvals.items():
        if approval.kind == "plan":
            updates.append(PlanProposed(id=call, markdown=approval.markdown))
        elif approval.kind == "edit":
            edit = FieldEditProposed(**dict(field_edit(call, approval, result.after)))
            updates.append(_patched(edit, result.after))
    return updates


def with_patches(last: Event, canvas: Flow) -> Event:
    """The last event with a JSON Patch for each proposed change, for clients of Langflow's own assistant."""
    if isinstance(last, CompleteEvent):
        for question in last.data.approvals or ():
            if isinstance(question, EditQuestion):
                _patched(question, canvas)
    return last


_Edit = TypeVar("_Edit", bound=FieldEdit)


def _patched(edit: _Edit, canvas: Flow) -> _Edit:
    edit.patch = [
        PatchOperation(path=_path(canvas, one.component_id, one.field), value=one.new_value)
        for one in (edit, *(edit.also or ()))
    ]
    return edit


def _path(canvas: Flow, node_id: str, field: str) -> str:
    at = next((at for at, node in enumerate(canvas.nodes) if node.id == node_id), 0)
    return f"/data/nodes/{at}/data/node/template/{field}/value"
