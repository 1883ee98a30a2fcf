"""The scripted provider in three more wire formats: OpenAI Responses, Anthropic Messages and Google generateContent.

Each is served as the provider streams it, tool calls in pieces included, and as one reply.
"""

import json
from collections.abc import Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from scripts.scripted_provider import CREATED, Reply, Script, ScriptedProvider, completion_tokens

PIECE = 24
"""Characters of a streamed piece of text or arguments."""


class EveryWire(ScriptedProvider):
    """A scripted provider that understands all four wires at once.

    Args:
        script: the answers.
    """

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.app.router.routes += [
            Route("/v1/responses", self._responses, methods=["POST"]),
            Route("/v1/messages", self._messages, methods=["POST"]),
            Route("/v1beta/models/{call}", self._generate, methods=["POST"]),
        ]

    async def _responses(self, request: Request) -> Response:
        body, reply = await self.reply_to(request)
        if reply.status != 200:
            return JSONResponse({"error": reply.error}, reply.status, reply.headers)
        whole = responses_whole(reply, body["model"], self.requests)
        return _sent(responses_frames(reply, whole)) if body.get("stream") else JSONResponse(whole)

    async def _messages(self, request: Request) -> Response:
        body, reply = await self.reply_to(request)
        if reply.status != 200:
            return JSONResponse({"type": "error", "error": reply.error}, reply.status, reply.headers)
        whole = messages_whole(reply, body["model"], self.requests)
        return _sent(messages_frames(whole)) if body.get("stream") else JSONResponse(whole)

    async def _generate(self, request: Request) -> Response:
        _, reply = await self.reply_to(request)
        if reply.status != 200:
            return JSONResponse({"error": reply.error}, reply.status, reply.headers)
        model, _, method = request.path_params["call"].partition(":")
        streams = method == "streamGenerateContent"
        chunks = generate_chunks(reply, model, self.requests, split=streams)
        return _sent(_frame(chunk) for chunk in chunks) if streams else JSONResponse(next(chunks))


def _sent(frames: Iterator[str]) -> Response:
    return StreamingResponse(frames, media_type="text/event-stream")


def _frame(event: dict[str, Any], *, named: bool = False) -> str:
    name = f"event: {event['type']}\n" if named else ""
    return f"{name}data: {json.dumps(event)}\n\n"


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


def responses_whole(reply: Reply, model: str, number: int) -> dict[str, Any]:
    """A response of OpenAI's Responses API."""
    output: list[dict[str, Any]] = []
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        head = {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": "completed"}
        output.append({**head, "content": content})
    for index, (name, arguments) in enumerate(reply.calls):
        output.append(
            {
                "id": f"fc_{number}_{index}",
                "type": "function_call",
                "call_id": f"call_{number}_{index}",
                "name": name,
                "arguments": json.dumps(arguments),
                "status": "completed",
            }
        )
    written = completion_tokens(reply)
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "model": model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": reply.cached},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 100 + written,
        },
    }


def responses_frames(reply: Reply, whole: dict[str, Any]) -> Iterator[str]:
    """The same response as the events of its stream."""
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(whole["output"]):
        place = {"item_id": item["id"], "output_index": index}
        if item["type"] == "message":
            part = item["content"][0]
            at = {**place, "content_index": 0}
            empty = {**item, "status": "in_progress", "content": []}
            events.append({"type": "response.output_item.added", "output_index": index, "item": empty})
            events.append({"type": "response.content_part.added", **at, "part": {**part, "text": ""}})
            events += [
                {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
                for piece in _pieces(reply.text)
            ]
            events.append({"type": "response.output_text.done", **at, "text": reply.text, "logprobs": []})
            events.append({"type": "response.content_part.done", **at, "part": part})
        else:
            empty = {**item, "status": "in_progress", "arguments": ""}
            events.append({"type": "response.output_item.added", "output_index": index, "item": empty})
            events += [
                {"type": "response.function_call_arguments.delta", **place, "delta": piece}
                for piece in _pieces(item["arguments"])
            ]
            done = {"arguments": item["arguments"], "name": item["name"]}
            events.append({"type": "response.function_call_arguments.done", **place, **done})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": whole})
    for sequence, event in enumerate(events):
        yield _frame({**event, "sequence_number": sequence}, named=True)


def messages_whole(reply: Reply, model: str, number: int) -> dict[str, Any]:
    """A message of Anthropic's API."""
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": name, "input": arguments}
        for index, (name, arguments) in enumerate(reply.calls)
    ]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {**_anthropic_input(reply), "output_tokens": completion_tokens(reply)},
    }


def _anthropic_input(reply: Reply) -> dict[str, int]:
    cached = {"cache_read_input_tokens": reply.cached} if reply.cached else {}
    return {"input_tokens": 100 - reply.cached, **cached}


def messages_frames(whole: dict[str, Any]) -> Iterator[str]:
    """The same message as the events of its stream."""
    usage = {**whole["usage"], "output_tokens": 1}
    begun = {**whole, "content": [], "stop_reason": None, "usage": usage}
    yield _frame({"type": "message_start", "message": begun}, named=True)
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            empty: dict[str, Any] = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        else:
            empty = {**block, "input": {}}
            deltas = [
                {"type": "input_json_delta", "partial_json": piece} for piece in _pieces(json.dumps(block["input"]))
            ]
        yield _frame({"type": "content_block_start", "index": index, "content_block": empty}, named=True)
        for delta in deltas:
            yield _frame({"type": "content_block_delta", "index": index, "delta": delta}, named=True)
        yield _frame({"type": "content_block_stop", "index": index}, named=True)
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    written = {"output_tokens": whole["usage"]["output_tokens"]}
    yield _frame({"type": "message_delta", "delta": ended, "usage": written}, named=True)
    yield _frame({"type": "message_stop"}, named=True)


def generate_chunks(reply: Reply, model: str, number: int, *, split: bool) -> Iterator[dict[str, Any]]:
    """Google's answers: one, or with `split` one a piece of text and one a tool call, as its stream has them."""
    pieces = list(_pieces(reply.text)) if split else [reply.text] * bool(reply.text)
    parts: list[dict[str, Any]] = [{"text": piece} for piece in pieces]
    parts += [
        {"functionCall": {"id": f"call_{number}_{index}", "name": name, "args": arguments}}
        for index, (name, arguments) in enumerate(reply.calls)
    ]
    written = completion_tokens(reply)
    counts = {"promptTokenCount": 100, "candidatesTokenCount": written, "totalTokenCount": 100 + written}
    head = {"modelVersion": model, "responseId": f"resp_{number}", "usageMetadata": counts}
    groups = [[part] for part in parts] if split else [parts]
    for index, group in enumerate(groups):
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": group}, "index": 0}
        if index == len(groups) - 1:
            candidate["finishReason"] = "STOP"
        yield {**head, "candidates": [candidate]}
