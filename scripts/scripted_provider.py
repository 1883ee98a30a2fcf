"""A model provider that follows a script, on loopback, in the wire formats of OpenAI's Chat Completions and Embeddings.

For recordings and benchmarks: the client side is the real SDK, only the words are written beforehand.
"""

import asyncio
import base64
import functools
import json
from array import array
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from runtime.web.server import Server

CREATED = 1_760_000_000
"""The time stamp of every answer, so that recordings repeat."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One scripted answer.

    Attributes:
        text: what the model writes.
        calls: tool calls as (name, arguments).
        status: an HTTP status other than 200 makes it an error.
        error: the body of that error's `error` object.
        headers: headers of that error, such as `Retry-After`.
        cached: how many of its 100 input tokens were read from a cache.
    """

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    status: int = 200
    error: dict[str, Any] = field(default_factory=dict[str, Any])
    headers: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    cached: int = field(default=0, repr=False)


Script = Callable[[dict[str, Any]], Reply]
"""From a request's body to the answer."""

Embed = Callable[[str], list[float]]
"""From a text to its vector."""


def in_order(*replies: Reply) -> Script:
    """A script that answers in order, whatever is asked."""
    left = iter(replies)
    return lambda _: next(left)


class ScriptedProvider:
    """Answers chat completion requests by a script, and counts what it was sent.

    Args:
        script: the answers.
        embed: the vectors of texts; None for a provider without embeddings.

    Attributes:
        embedded: the texts of each request for embeddings.
    """

    def __init__(self, script: Script, embed: Embed | None = None) -> None:
        self.script = script
        self.requests = 0
        self.sizes: list[int] = []
        self.embedded: list[list[str]] = []
        routes = [Route("/v1/chat/completions", self._complete, methods=["POST"])]
        if embed is not None:
            routes.append(Route("/v1/embeddings", functools.partial(self._embed, embed), methods=["POST"]))
        self.app = Starlette(routes=routes)

    @asynccontextmanager
    async def serve(self, port: int = 0) -> AsyncGenerator[str]:
        """Serve on loopback; yields the base URL for clients.

        Args:
            port: the port, or 0 for a free one.
        """
        config = uvicorn.Config(
            self.app, host="127.0.0.1", port=port, log_level="error", lifespan="off", log_config=None
        )
        server = Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110  (uvicorn has no event for it)
            await asyncio.sleep(0.01)
        bound = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{bound}/v1"
        finally:
            server.stop()
            await serving

    @property
    def characters(self) -> int:
        """Characters of all request bodies together."""
        return sum(self.sizes)

    async def reply_to(self, request: Request) -> tuple[dict[str, Any], Reply]:
        """The body of a request, which is counted, and the script's answer."""
        raw = await request.body()
        self.requests += 1
        self.sizes.append(len(raw.decode()))
        body = json.loads(raw)
        return body, self.script(body)

    async def _embed(self, embed: Embed, request: Request) -> Response:
        body = json.loads(await request.body())
        texts: list[str] = [body["input"]] if isinstance(body["input"], str) else body["input"]
        self.embedded.append(texts)
        data = [
            {"object": "embedding", "index": index, "embedding": _vector(embed(text), body)}
            for index, text in enumerate(texts)
        ]
        spent = sum(len(text) // 4 + 1 for text in texts)
        usage = {"prompt_tokens": spent, "total_tokens": spent}
        return JSONResponse({"object": "list", "data": data, "model": body["model"], "usage": usage})

    async def _complete(self, request: Request) -> Response:
        body, reply = await self.reply_to(request)
        if reply.status != 200:
            return JSONResponse({"error": reply.error}, reply.status, reply.headers)
        model, number = body["model"], self.requests
        if body.get("stream"):
            return StreamingResponse(_frames(reply, model, number), media_type="text/event-stream")
        return JSONResponse(_whole(reply, model, number))


def _vector(vector: list[float], body: dict[str, Any]) -> str | list[float]:
    """A vector in the encoding that the request asks for; OpenAI's client asks for base64."""
    if body.get("encoding_format") != "base64":
        return vector
    return base64.b64encode(array("f", vector).tobytes()).decode("ascii")


def _tool_calls(reply: Reply, number: int) -> list[dict[str, Any]]:
    return [
        {
            "index": index,
            "id": f"call_{number}_{index}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for index, (name, arguments) in enumerate(reply.calls)
    ]


def completion_tokens(reply: Reply) -> int:
    """The tokens that a reply is said to have."""
    return len(reply.text) // 4 + 20 * len(reply.calls) + 1


def _usage(reply: Reply) -> dict[str, Any]:
    written = completion_tokens(reply)
    cached = {"prompt_tokens_details": {"cached_tokens": reply.cached}} if reply.cached else {}
    return {"prompt_tokens": 100, "completion_tokens": written, "total_tokens": 100 + written, **cached}


def _whole(reply: Reply, model: str, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = [
            {key: value for key, value in call.items() if key != "index"} for call in _tool_calls(reply, number)
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if reply.calls else "stop"}
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": CREATED, "model": model}
    return {**head, "choices": [choice], "usage": _usage(reply)}


async def _frames(reply: Reply, model: str, number: int) -> AsyncGenerator[str]:
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": CREATED, "model": model}

    def frame(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"

    yield frame({"role": "assistant", "content": ""})
    for start in range(0, len(reply.text), 24):
        yield frame({"content": reply.text[start : start + 24]})
    for call in _tool_calls(reply, number):
        arguments = call["function"]["arguments"]
        yield frame({"tool_calls": [{**call, "function": {"name": call["function"]["name"], "arguments": ""}}]})
        for start in range(0, len(arguments), 48):
            piece = {"index": call["index"], "function": {"arguments": arguments[start : start + 48]}}
            yield frame({"tool_calls": [piece]})
    yield frame({}, "tool_calls" if reply.calls else "stop")
    yield f"data: {json.dumps({**head, 'choices': [], 'usage': _usage(reply)})}\n\n"
    yield "data: [DONE]\n\n"
