"""Converts PydanticAI's answers to OpenAI's format, whole and in chunks."""

from __future__ import annotations

import json
import struct
import time
import uuid
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterable, Iterator, Sequence
from dataclasses import dataclass, field

from pydantic_ai import (
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.embeddings import EmbeddingResult
from pydantic_ai.usage import RequestUsage

from flows.document import Json, JsonObject

_FINISH_REASONS = {"stop": "stop", "length": "length", "content_filter": "content_filter", "tool_call": "tool_calls"}


def completion(response: ModelResponse, model: str) -> JsonObject:
    """A whole answer."""
    texts = [part.content for part in response.parts if isinstance(part, TextPart)]
    calls: list[Json] = [_call(part) for part in response.parts if isinstance(part, ToolCallPart)]
    message: JsonObject = {"role": "assistant", "content": "".join(texts) if texts else None, "refusal": None}
    if calls:
        message["tool_calls"] = calls
    choice: JsonObject = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish(response)}
    return {**_head("chat.completion", model), "choices": [choice], "usage": usage_of(response.usage)}


def finish(response: ModelResponse) -> str:
    """Why the model stopped: for its tool calls if it has any, unless the answer was cut off."""
    reason = _FINISH_REASONS.get(response.finish_reason or "", "stop")
    calls = any(isinstance(part, ToolCallPart) for part in response.parts)
    return "tool_calls" if calls and reason == "stop" else reason


def usage_of(usage: RequestUsage) -> JsonObject:
    """The tokens of a call."""
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
    }


def _call(part: ToolCallPart) -> JsonObject:
    function: JsonObject = {"name": part.tool_name, "arguments": part.args_as_json_str()}
    return {"id": part.tool_call_id, "type": "function", "function": function}


def _head(kind: str, model: str) -> JsonObject:
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": model}


@dataclass
class Chunks:
    """Converts the events of one streamed answer to chunks.

    Attributes:
        model: the name that the client requested.
    """

    model: str
    _head: JsonObject = field(init=False)
    _calls: dict[int, int] = field(default_factory=dict[int, int])
    """The position of each tool call, by the index of its part."""
    _buffered: set[int] = field(default_factory=set[int])
    """Parts whose arguments come as an object, which is sent once it is complete."""
    _started: bool = False

    def __post_init__(self) -> None:
        self._head = _head("chat.completion.chunk", self.model)

    async def of(self, events: AsyncIterable[ModelResponseStreamEvent]) -> AsyncGenerator[JsonObject]:
        """A chunk for each event that a client can use, after one that begins the answer."""
        async for event in events:
            delta = self._delta(event)
            if delta is not None:
                for chunk in self._start():
                    yield chunk
                yield self._chunk(delta)

    def rest(self, response: ModelResponse, *, include_usage: bool) -> Iterator[JsonObject]:
        """The chunks at the end: why the model stopped and, if the client wants it, the usage."""
        yield from self._start()
        yield self._chunk({}, finish(response))
        if include_usage:
            yield {**self._head, "choices": [], "usage": usage_of(response.usage)}

    def _start(self) -> Iterator[JsonObject]:
        if not self._started:
            self._started = True
            yield self._chunk({"role": "assistant", "content": ""})

    def _chunk(self, delta: JsonObject, reason: str | None = None) -> JsonObject:
        return {**self._head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}]}

    def _delta(self, event: ModelResponseStreamEvent) -> JsonObject | None:
        match event:
            case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                return {"content": text} if text else None
            case PartStartEvent(part=ToolCallPart() as part):
                return self._tool_call(event.index, part)
            case PartDeltaEvent(delta=ToolCallPartDelta(args_delta=str(more))) if event.index not in self._buffered:
                return self._arguments(event.index, more) if more else None
            case PartEndEvent(part=ToolCallPart() as part) if event.index in self._buffered:
                return self._arguments(event.index, part.args_as_json_str())
            case _:
                return None

    def _tool_call(self, index: int, part: ToolCallPart) -> JsonObject:
        place = self._calls.setdefault(index, len(self._calls))
        if isinstance(part.args, dict):
            self._buffered.add(index)
        function: JsonObject = {"name": part.tool_name, "arguments": part.args if isinstance(part.args, str) else ""}
        return {"tool_calls": [{"index": place, "id": part.tool_call_id, "type": "function", "function": function}]}

    def _arguments(self, index: int, more: str) -> JsonObject:
        return {"tool_calls": [{"index": self._calls[index], "function": {"arguments": more}}]}


def embeddings(result: EmbeddingResult, model: str, *, encoded: bool) -> JsonObject:
    """Vectors, as numbers or as the base64 text of little-endian floats."""
    data: list[Json] = [
        {"object": "embedding", "index": index, "embedding": _packed(vector) if encoded else list(vector)}
        for index, vector in enumerate(result.embeddings)
    ]
    tokens = result.usage.input_tokens
    usage: JsonObject = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": model, "usage": usage}


def _packed(vector: Sequence[float]) -> str:
    return b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")


def model_list(names: Sequence[str]) -> JsonObject:
    """The models that a run may call."""
    data: list[Json] = [{"id": name, "object": "model", "created": 0, "owned_by": "wirewright"} for name in names]
    return {"object": "list", "data": data}


def frame(chunk: JsonObject) -> bytes:
    """A chunk as a server-sent event."""
    return b"data: " + json.dumps(chunk, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
