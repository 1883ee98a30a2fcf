"""The events of a turn as the AI SDK's UI message stream: chunks of JSON, each one server-sent event."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from agent.contract.details import ReasoningEvent, RemarkEvent, StartedEvent, ToolCallEvent, ToolResultEvent
from agent.contract.events import (
    CancelledEvent,
    CompleteData,
    CompleteEvent,
    ErrorEvent,
    Event,
    FileWrittenEvent,
    ProgressEvent,
    TokenCount,
    TokenEvent,
)
from agent.contract.questions import Question
from agent.turn.record import unsaid
from server.streams.message_parts import Chunk, MessageParts, media_type
from server.streams.outline import flow_outline, outline, result_outline
from server.streams.sse import frame

STREAM_HEADERS: Final = {"x-vercel-ai-ui-message-stream": "v1"}
"""What tells clients that a stream is of this protocol."""

DONE: Final = b"data: [DONE]\n\n"
"""The last frame of every stream."""

PROPOSAL_TOOL: Final = "put_flow_on_canvas"
"""The name of the call as which a proposed flow waits, so that the user approves it like any other."""

HELD: Final = "Not done yet: it waits for the answer to the call before it."
NO_RESULT: Final = "It has no result."
LOST: Final = "The rest of the answer cannot be read for now. Resume the chat."


_ENDINGS = (CompleteEvent, ErrorEvent, CancelledEvent)


class AisdkTranslation:
    """Turns the events of the turns that make one message into chunks.

    Args:
        turn: the id of the turn, of the last one if there are several.
        session: the conversation's id, which is the chat's.
        message: the id of the message that the chunks make or continue.
        known: the inputs of the calls that the client has in that message, by their ids.
        answered: those of them that the turn answers, with whether the user said yes.
        changed: the inputs of those that the user has changed.
        turns: how many turns the events are of; all but the last leave the message open.
        client_tools: the names of the tools that the client carries out.
    """

    def __init__(
        self,
        turn: str,
        session: str,
        message: str,
        *,
        known: Mapping[str, object] | None = None,
        answered: Mapping[str, bool] | None = None,
        changed: Mapping[str, Mapping[str, Any]] | None = None,
        turns: int = 1,
        client_tools: Collection[str] = (),
    ) -> None:
        metadata = {"turnId": turn, "chatId": session}
        self._start: Chunk = {"type": "start", "messageId": message, "messageMetadata": metadata}
        self._turns = turns
        self._parts = MessageParts(turn, known or {}, answered or {}, changed or {}, client_tools)
        self._flow_id: str | None = None
        self._said: list[str] = []
        self._remark = ""
        self._has_begun = False

    def frames(self, event: Event) -> list[bytes]:
        """The frames that one event becomes."""
        if type(event) is TokenEvent and (going_on := self._parts.text(event.chunk)) is not None:
            self._said.append(event.chunk)
            return [going_on]
        chunks = self._begin()
        parts = self._parts
        match event:
            case TokenEvent():
                self._said.append(event.chunk)
                chunks += parts.piece("text", event.chunk)
            case ReasoningEvent():
                chunks += parts.piece("reasoning", event.chunk, is_new=event.is_new)
            case RemarkEvent():
                self._remark = event.chunk if event.is_new else self._remark + event.chunk
                chunks += parts.piece("text", event.chunk, is_new=event.is_new)
            case ToolCallEvent():
                chunks += parts.call(event)
            case ToolResultEvent():
                chunks += parts.result(event)
            case CompleteEvent():
                chunks += self._complete(event.data)
            case ErrorEvent():
                chunks += self._error(event)
            case CancelledEvent():
                chunks += self._cancelled(event)
            case _:
                chunks += self._told(event)
        framed = [frame(chunk) for chunk in chunks]
        if isinstance(event, _ENDINGS):
            self._turns, self._said, self._remark = self._turns - 1, [], ""
            framed += [] if self._turns else [DONE]
        return framed

    def cut(self) -> list[bytes]:
        """The frames that end the stream when later events cannot be read."""
        chunks: list[Chunk] = [*self._begin(), *self._parts.close(), {"type": "error", "errorText": LOST}]
        return [*(frame(chunk) for chunk in chunks), DONE]

    def _begin(self) -> list[Chunk]:
        if self._has_begun:
            return []
        self._has_begun = True
        return [self._start]

    def _told(self, event: Event) -> list[Chunk]:
        """Parts of our own kinds. They are transient: clients see them once, and never send them back."""
        found = outline(event)
        chunks: list[Chunk] = [] if found is None else [_transient(*found)]
        if isinstance(event, StartedEvent):
            self._flow_id = event.flow_id
        elif isinstance(event, ProgressEvent):
            chunks += self._parts.progress(event.message)
        elif isinstance(event, FileWrittenEvent) and event.url is not None:
            chunks.append({"type": "file", "url": event.url, "mediaType": media_type(event.path)})
        return chunks

    def _complete(self, data: CompleteData) -> list[Chunk]:
        waiting = {one.id for one in data.approvals or ()}
        asked = [one for one in data.approvals or () if one.id in self._parts.inputs or _has_no_call(one)]
        chunks = [] if waiting else self._parts.settle(waiting)
        chunks += self._answer(data, is_asking=bool(asked))
        for one in asked:
            chunks += self._question(one)
        if data.proposal is not None and data.proposal_id is not None:
            waiting.add(data.proposal_id)
            told = flow_outline(data.proposal)
            chunks += [*self._parts.step(), self._parts.input(data.proposal_id, PROPOSAL_TOOL, told)]
            chunks.append(_approval(data.proposal_id))
        chunks += self._parts.abandon(HELD if data.approvals else NO_RESULT, waiting)
        self._parts.wait(waiting)
        chunks.append(_transient("complete", result_outline(data)))
        reason = "tool-calls" if waiting else "stop"
        return [*chunks, *self._finish(reason, self._metadata(reason, data.usage, data.duration_seconds, data))]

    def _answer(self, data: CompleteData, *, is_asking: bool) -> list[Chunk]:
        """What of the answer, and of the record of what was done, has not been said yet."""
        said = "".join(self._said).strip() or _repeated(self._remark.strip(), data.result)
        left = unsaid(said, data.result) if said else data.result
        left = left.strip() if data.result.startswith(said) else ""
        text = "\n\n".join(filter(None, (left, unsaid(data.result, data.record.text))))
        if not text:
            return self._parts.close()
        if is_asking:
            self._parts.stay()
        return [*self._parts.piece("text", f"\n\n{text}" if said else text), *self._parts.close()]

    def _question(self, question: Question) -> list[Chunk]:
        """A question, as a part that stays with the message, and the call that waits for its answer."""
        if question.kind == "tool":
            return []
        told: Chunk = question.model_dump(mode="json", exclude={"patch"})
        chunks: list[Chunk] = [{"type": "data-approval", "id": question.id, "data": told}]
        if question.id not in self._parts.inputs:
            chunks += [*self._parts.step(), self._parts.input(question.id, f"ask_{question.kind}", told)]
        return [*chunks, _approval(question.id)]

    def _error(self, event: ErrorEvent) -> list[Chunk]:
        chunks = [*self._parts.close(), *self._parts.abandon(event.message)]
        if self._turns > 1:
            return chunks
        metadata = self._metadata("error", event.usage, event.duration_seconds)
        told = event.model_dump(mode="json", include={"code", "message", "fix", "record", "saved", "save_error"})
        return [
            *chunks,
            {"type": "message-metadata", "messageMetadata": metadata},
            _transient("error", told),
            {"type": "error", "errorText": f"{event.message} {event.fix}".strip()},
            *self._finish("error", metadata),
        ]

    def _cancelled(self, event: CancelledEvent) -> list[Chunk]:
        chunks = [*self._parts.close(), *self._parts.abandon(event.message)]
        if self._turns > 1:
            return chunks
        told = event.model_dump(mode="json", include={"message", "reason", "record", "saved", "save_error"})
        return [
            *chunks,
            {"type": "message-metadata", "messageMetadata": self._metadata("cancelled")},
            _transient("cancelled", told),
            {"type": "abort", "reason": event.message},
        ]

    def _finish(self, reason: str, metadata: Chunk) -> list[Chunk]:
        if self._turns > 1:
            return []
        return [*self._parts.end_step(), {"type": "finish", "finishReason": reason, "messageMetadata": metadata}]

    def _metadata(
        self,
        reason: str,
        usage: TokenCount | None = None,
        seconds: float | None = None,
        data: CompleteData | None = None,
    ) -> Chunk:
        """What a message says about itself; a key is absent when it is not known."""
        found: Chunk = {"finishReason": reason, "durationSeconds": seconds, "flowId": self._flow_id}
        if usage is not None:
            spent = {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens}
            found |= {"usage": {**spent, "totalTokens": usage.total_tokens}, "cost": usage.cost}
        if data is not None:
            found |= {"model": data.model, "version": data.version or None}
        return {name: value for name, value in found.items() if value is not None}


def _repeated(remark: str, answer: str) -> str:
    """The remark, if the answer begins with it, as that of a turn which waits for the user does."""
    return remark if answer.startswith(remark) else ""


def _has_no_call(question: Question) -> bool:
    """Whether the question is about no call of a tool: whether a key in a message is kept."""
    return question.kind == "secret" and question.use == "keep"


def _approval(call: str) -> Chunk:
    return {"type": "tool-approval-request", "approvalId": call, "toolCallId": call}


def _transient(name: str, data: Chunk) -> Chunk:
    return {"type": f"data-{name}", "data": data, "transient": True}
