"""The parts of a message of the AI SDK as it is streamed: steps, texts and thoughts, and the calls of tools."""

from __future__ import annotations

import mimetypes
from collections.abc import Collection, Mapping
from typing import Any, Final, TypeAlias

from agent.contract.details import ToolCallEvent, ToolResultEvent
from server.json_response import json_bytes
from server.streams.sse import escaped

OUTPUT_CHARACTERS: Final = 2_000
"""How much of a tool's answer a chunk has: clients send all of it back with every message."""

_TEXT: Final = b'data: {"type":"text-delta","id":"%b","delta":'

Chunk: TypeAlias = dict[str, Any]


class MessageParts:
    """What of a message is open.

    A step is what a model says and calls at one time, with the results: clients look in the last step for what waits.

    Args:
        prefix: begins the ids of texts and thoughts.
        known: the inputs of the calls that the message has already, by their ids.
        answered: those of them that the user has answered, with whether it was a yes.
        changed: the inputs of those that the user has changed.
        client_tools: the names of the tools that the client carries out.
    """

    def __init__(
        self,
        prefix: str,
        known: Mapping[str, object],
        answered: Mapping[str, bool],
        changed: Mapping[str, Mapping[str, Any]],
        client_tools: Collection[str],
    ) -> None:
        self.inputs = dict(known)
        self._prefix = prefix
        self._client_tools = frozenset(client_tools)
        self._running: dict[str, ToolCallEvent] = {}
        self._answered = dict(answered)
        self._changed = dict(changed)
        self._sources: set[str] = set()
        self._part: tuple[str, str] | None = None
        self._going_on: bytes | None = None
        self._parts = 0
        self._in_step = self._has_results = False

    def step(self) -> list[Chunk]:
        """Begin a step, unless one has begun that has no results yet."""
        if self._in_step and not self._has_results:
            return []
        ended = self.end_step()
        self._in_step, self._has_results = True, False
        return [*ended, {"type": "start-step"}]

    def stay(self) -> None:
        """Leave what comes in the step that there is, because it has what waits for the user."""
        self._has_results = False

    def end_step(self) -> list[Chunk]:
        """End the step, if one has begun."""
        is_open, self._in_step = self._in_step, False
        return [{"type": "finish-step"}] if is_open else []

    def piece(self, kind: str, text: str, *, is_new: bool = False) -> list[Chunk]:
        """A piece of a text or a thought, which goes on with the last one unless something came between."""
        part, chunks = self._part, list[Chunk]()
        if part is None or part[0] != kind or is_new:
            chunks = [*self.close(), *self.step()]
            self._parts += 1
            self._part = part = (kind, f"{self._prefix}-{self._parts}")
            self._going_on = None if kind != "text" else _TEXT % part[1].encode()
            chunks.append({"type": f"{kind}-start", "id": part[1]})
        return [*chunks, {"type": f"{kind}-delta", "id": part[1], "delta": text}]

    def text(self, piece: str) -> bytes | None:
        """The frame of a piece of the text that is open; None if none is. Most of a turn's events are such pieces."""
        return None if self._going_on is None else b"%b%b}\n\n" % (self._going_on, escaped(json_bytes(piece)))

    def close(self) -> list[Chunk]:
        """End the text or the thought that is open."""
        if self._part is None:
            return []
        (kind, part), self._part, self._going_on = self._part, None, None
        return [{"type": f"{kind}-end", "id": part}]

    def call(self, event: ToolCallEvent) -> list[Chunk]:
        """A call; one that the message has already is told again only if its input was changed."""
        call, is_known = event.tool_call_id, event.tool_call_id in self.inputs
        self._running[call] = event
        if is_known and self.inputs[call] == event.arguments:
            return []
        chunks = self.close() if is_known else [*self.close(), *self.step()]
        return [*chunks, self.input(call, event.tool_name, event.arguments)]

    def input(self, call: str, tool: str, arguments: Mapping[str, Any]) -> Chunk:
        """The input of a call."""
        self.inputs[call] = arguments
        chunk = {"type": "tool-input-available", "toolCallId": call, "toolName": tool, "input": arguments}
        return chunk if tool in self._client_tools else {**chunk, "dynamic": True, "providerExecuted": True}

    def progress(self, text: str) -> list[Chunk]:
        """What the call has to tell so far that runs, if it is the only one."""
        if len(self._running) != 1:
            return []
        [call] = self._running
        return [{**_output(call, text), "preliminary": True}]

    def result(self, event: ToolResultEvent) -> list[Chunk]:
        """What came of a call, and the file that it has read; nothing for one that the message does not have."""
        call = event.tool_call_id
        called = self._running.pop(call, None)
        self._answered.pop(call, None)
        if call not in self.inputs:
            return []
        self._has_results = True
        if event.tool_name in self._client_tools:
            return self.close()  # the client has its own result
        chunks, changed = self.close(), self._changed.pop(call, None)
        if changed is not None:
            chunks.append(self.input(call, event.tool_name, changed))
        content = event.content
        if len(content) > OUTPUT_CHARACTERS:
            content = f"{content[:OUTPUT_CHARACTERS]}…"
        if event.denied or event.is_error:
            return [*chunks, _denied(call) if event.denied else _failed(call, content)]
        return [*chunks, _output(call, content), *self._source(called)]

    def wait(self, calls: Collection[str]) -> None:
        """Note which calls wait for the user, whose answers the next turn of the message brings."""
        self._answered = dict.fromkeys(calls, True)

    def settle(self, waiting: Collection[str]) -> list[Chunk]:
        """Answered calls without a result of their own, such as a proposal's, when their turn has come to its end."""
        done = {call: yes for call, yes in self._answered.items() if call not in waiting and call in self.inputs}
        self._answered = {}
        self._has_results = self._has_results or bool(done)
        return [_output(call, "Done.") if yes else _denied(call) for call, yes in done.items()]

    def abandon(self, why: str, waiting: Collection[str] = ()) -> list[Chunk]:
        """The calls that have no result and do not wait for the user."""
        left = [call for call in (*self._running, *self._answered) if call not in waiting and call in self.inputs]
        self._running, self._answered = {}, {}
        return [_failed(call, why) for call in dict.fromkeys(left)]

    def _source(self, called: ToolCallEvent | None) -> list[Chunk]:
        path = called.arguments.get("path") if called is not None and called.tool_name == "read_file" else None
        if not isinstance(path, str) or path in self._sources:
            return []
        self._sources.add(path)
        named = {"mediaType": media_type(path), "title": path.rpartition("/")[2], "filename": path}
        return [{"type": "source-document", "sourceId": path, **named}]


def media_type(path: str) -> str:
    """What a file is, by its name."""
    return mimetypes.guess_type(path)[0] or "application/octet-stream"


def _output(call: str, text: str) -> Chunk:
    return {"type": "tool-output-available", "toolCallId": call, "output": text}


def _denied(call: str) -> Chunk:
    return {"type": "tool-output-denied", "toolCallId": call}


def _failed(call: str, why: str) -> Chunk:
    return {"type": "tool-output-error", "toolCallId": call, "errorText": why}
