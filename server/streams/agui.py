"""AG-UI: the events of a turn in its words, for clients of version 1.0 and of those before."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from agent.contract.details import ReasoningEvent, RemarkEvent, StartedEvent, ToolCallEvent, ToolResultEvent
from agent.contract.events import (
    CancelledEvent,
    CompleteData,
    CompleteEvent,
    ErrorEvent,
    Event,
    FileWrittenEvent,
    FlowPreviewEvent,
    ProgressEvent,
    RewoundEvent,
    TodosEvent,
    TokenEvent,
)
from flows.document import Flow, JsonObject
from server.agui.endings import interrupt, offer, usage
from server.agui.run_input import RESULT_ID
from server.agui.state import SharedState
from server.json_response import json_bytes
from server.streams.sse import frame, line_of

VERSION: Final = "1.0"

_OMITTED: Final = {"flow", "proposal", "approvals", "withdrawn", "run", "result"}
"""What `complete` leaves out, because the state, the interrupts or the text have it, or because it is large."""


class AguiEvent(BaseModel):
    """One event of AG-UI; its other keys follow from its type."""

    model_config = ConfigDict(extra="allow", defer_build=True)

    type: str


class AguiTranslation:
    """Turns the events of one turn into those of a run.

    Args:
        thread: the thread's id.
        run: the run's id, of which its messages' ids are made.
        version: the version that the client speaks; None for one before 1.0.
        parent: the run that this one branches from.
        answered: the calls of which the client has sent the results, which it is not told again.
        client_tools: the tools that the client carries out.
    """

    def __init__(
        self,
        thread: str,
        run: str,
        *,
        version: str | None = VERSION,
        parent: str | None = None,
        answered: Collection[str] = (),
        client_tools: Collection[str] = (),
    ) -> None:
        self._names: JsonObject = {"threadId": thread, "runId": run}
        self._thread, self._run, self._version, self._parent = thread, run, version, parent
        self._answered, self._client_tools = answered, client_tools
        self._state: SharedState | None = None
        self._messages = 0
        self._text = self._thought = ""
        self._step: str | None = None
        self._told, self._open_text = list[str](), b""
        self._has_begun = self._has_ended = False

    def frames(self, event: Event) -> list[bytes]:
        """The frames that one event becomes."""
        if self._text and isinstance(event, TokenEvent):  # most events of a turn
            self._told.append(event.chunk)
            return [line_of(b"%b%b}" % (self._open_text, json_bytes(event.chunk)))] if event.chunk else []
        return [] if self._has_ended else [frame(one) for one in self._events(event)]

    def cut(self) -> list[bytes]:
        """The frames that end a run whose later events cannot be read."""
        if self._has_ended:
            return []
        return [frame(one) for one in self._failed("The events of this run cannot be read.", "events_unavailable")]

    def _events(self, event: Event) -> list[JsonObject]:
        made = [] if self._has_begun else self._begin()
        match event:
            case TokenEvent() | RemarkEvent():
                return [*made, *self._said(event)]
            case ReasoningEvent():
                return [*made, *self._thinking(event.chunk, is_new=event.is_new)]
            case ProgressEvent():
                return [*made, *self._progress(event)]
            case ToolCallEvent():
                return [*made, *self._close(), *_call(event)]
            case ToolResultEvent(tool_call_id=call):
                return made if call in self._answered else [*made, *self._close(), _result(event)]
            case StartedEvent():
                return [*made, *self._started(event)]
            case FlowPreviewEvent() | FileWrittenEvent() | TodosEvent():
                return [*made, _custom(event.event, _value(event, {"flow"}))]
            case RewoundEvent(flow=flow):
                return [*made, *self._delta([] if self._state is None else self._state.set(flow))]
            case CompleteEvent(data=data):
                return [*made, *self._completed(data)]
            case ErrorEvent():
                return [*made, *self._failed(event.message, event.code, _custom("error", _value(event, set())))]
            case CancelledEvent():
                return [*made, *self._finished({"type": "cancelled"}, [_custom("cancelled", _value(event, set()))])]
            case _:
                return [*made, *self._delta([] if self._state is None else self._state.change(event))]

    def _begin(self) -> list[JsonObject]:
        self._has_begun = True
        begun: JsonObject = {"type": "RUN_STARTED", **self._names}
        if self._version is not None:
            begun["protocolVersion"] = VERSION
        if self._parent is not None:
            begun["parentRunId"] = self._parent
        return [begun]

    def _started(self, event: StartedEvent) -> list[JsonObject]:
        if event.session_id != self._thread:
            return self._failed("The run of this id belongs to another thread.", "other_thread")
        self._state = SharedState(event.flow, event.flow_id)
        return [{"type": "STATE_SNAPSHOT", "snapshot": self._state.snapshot}]

    def _progress(self, event: ProgressEvent) -> list[JsonObject]:
        made: list[JsonObject] = []
        if event.step != self._step:
            made = [*self._end_step(), {"type": "STEP_STARTED", "stepName": event.step}]
            self._step = event.step
        return [*made, _custom("progress", _value(event, set()))]

    def _end_step(self) -> list[JsonObject]:
        ended, self._step = self._step, None
        return [] if ended is None else [{"type": "STEP_FINISHED", "stepName": ended}]

    def _said(self, event: TokenEvent | RemarkEvent) -> list[JsonObject]:
        ended = self._close() if isinstance(event, RemarkEvent) and event.is_new else []
        return [*ended, *self._spoken(event.chunk)]

    def _spoken(self, chunk: str) -> list[JsonObject]:
        if not chunk:
            return []
        made: list[JsonObject] = []
        if not self._text:
            made = self._close()
            self._text = self._new_id()
            made.append({"type": "TEXT_MESSAGE_START", "messageId": self._text, "role": "assistant"})
            self._open_text = json_bytes({"type": "TEXT_MESSAGE_CONTENT", "messageId": self._text})[:-1] + b',"delta":'
        self._told.append(chunk)
        return [*made, {"type": "TEXT_MESSAGE_CONTENT", "messageId": self._text, "delta": chunk}]

    def _thinking(self, chunk: str, *, is_new: bool) -> list[JsonObject]:
        made: list[JsonObject] = []
        if is_new or not self._thought:
            made = self._close()
            self._thought = self._new_id()
            made.append({"type": "REASONING_START", "messageId": self._thought})
            made.append({"type": "REASONING_MESSAGE_START", "messageId": self._thought, "role": "reasoning"})
        if chunk:
            made.append({"type": "REASONING_MESSAGE_CONTENT", "messageId": self._thought, "delta": chunk})
        return made

    def _close(self) -> list[JsonObject]:
        """End the text or the thought that is open."""
        made: list[JsonObject] = []
        if self._text:
            made.append({"type": "TEXT_MESSAGE_END", "messageId": self._text})
        if self._thought:
            made.append({"type": "REASONING_MESSAGE_END", "messageId": self._thought})
            made.append({"type": "REASONING_END", "messageId": self._thought})
        self._text = self._thought = ""
        return made

    def _new_id(self) -> str:
        self._messages += 1
        return f"{self._run}-{self._messages}"

    @staticmethod
    def _delta(patch: list[JsonObject]) -> list[JsonObject]:
        return [{"type": "STATE_DELTA", "delta": [*patch]}] if patch else []

    def _completed(self, data: CompleteData) -> list[JsonObject]:
        made, told = self._close(), "".join(self._told)
        if data.result and not told.endswith(data.result):
            said = data.result
            if told and said.startswith(told):
                said = said[len(told) :].lstrip("\n")
            made += [*self._spoken(said), *self._close()]
        if self._state is not None and isinstance(data.flow, Flow) and data.merged:
            made += self._delta(self._state.set(data.flow))
        interrupts = [interrupt(one) for one in data.approvals or () if one.kind != "tool"]
        if data.proposal_id is not None and data.proposal is not None:
            interrupts.append(offer(data.proposal_id, data.proposal))
        outcome: JsonObject = {"type": "interrupt", "interrupts": [*interrupts]} if interrupts else {"type": "success"}
        return self._finished(outcome, [*made, _custom("complete", _value(data, _OMITTED))], data)

    def _finished(
        self, outcome: JsonObject, made: list[JsonObject], data: CompleteData | None = None
    ) -> list[JsonObject]:
        self._has_ended = True
        finished: JsonObject = {"type": "RUN_FINISHED", **self._names}
        if data is not None:
            finished["result"] = {"text": data.result}
        if self._version is not None:
            finished["outcome"] = outcome
            if data is not None and data.usage is not None:
                finished["usage"] = [usage(data.usage, data.model)]
        elif outcome["type"] == "interrupt":
            finished["outcome"] = outcome
        return [*self._close(), *made, *self._end_step(), finished]

    def _failed(self, message: str, code: str, *before: JsonObject) -> list[JsonObject]:
        made = [*([] if self._has_begun else self._begin()), *self._close(), *self._end_step(), *before]
        self._has_ended = True
        return [*made, {"type": "RUN_ERROR", "message": message, "code": code}]


def _custom(name: str, value: Any) -> JsonObject:
    return {"type": "CUSTOM", "name": name, "value": value}


def _value(event: BaseModel, without: set[str]) -> Any:
    return event.model_dump(mode="json", exclude=without | {"event", "turn_id", "sequence"})


def _call(event: ToolCallEvent) -> list[JsonObject]:
    call = event.tool_call_id
    arguments = event.model_dump_json(include={"arguments"})[len('{"arguments":') : -1]
    return [
        {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": event.tool_name},
        {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": arguments},
        {"type": "TOOL_CALL_END", "toolCallId": call},
    ]


def _result(event: ToolResultEvent) -> JsonObject:
    call = event.tool_call_id
    made: JsonObject = {"type": "TOOL_CALL_RESULT", "messageId": f"{RESULT_ID}{call}", "toolCallId": call}
    return {**made, "role": "tool", "content": event.content}
