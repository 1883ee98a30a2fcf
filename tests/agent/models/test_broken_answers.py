"""Answers that a provider cuts, leaves empty or never ends: each is a typed error of the turn."""

import gzip
import json
import tracemalloc
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import ModelRequest, ModelResponse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent.assistant import Assistant
from agent.models.chain import chain
from agent.models.connections import connect
from agent.settings import AssistantSettings
from agent.turn.result import TurnError
from flows.catalogue import Catalogue
from runtime.gateway.limits.responses import LIMIT
from runtime.gateway.provider_errors import TOO_LARGE, classify
from scripts.cassettes import WIRES
from scripts.scripted_provider import Reply, ScriptedProvider
from scripts.wire_formats import EveryWire
from tests.shared.scripted_assistant import play_all
from tests.shared.stand_ins import StandInRunner
from tests.shared.wires import addressed

pytestmark = pytest.mark.anyio
HEAD: dict[str, Any] = {"id": "x", "created": 1_760_000_000, "model": "words"}
Respond = Callable[[Request], Awaitable[Response]]


class Provider(ScriptedProvider):
    """A provider that answers with whatever it is given."""

    def __init__(self, respond: Respond) -> None:
        super().__init__(lambda _: Reply())
        self.app = Starlette(routes=[Route("/v1/chat/completions", respond, methods=["POST"])])


def whole(text: str) -> Response:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return JSONResponse({**HEAD, "object": "chat.completion", "choices": [choice]})


async def error_of(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch, answer: Respond) -> TurnError | None:
    """The error of a turn whose question is classified, and then answered like that."""

    async def respond(request: Request) -> Response:
        body = await request.json()
        return (
            await answer(request) if "[Canvas" in str(body) or body.get("stream") else whole('{"intent": "question"}')
        )

    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    async with Provider(respond).serve() as url:
        monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", url)
        assistant = Assistant(AssistantSettings(model="openai-compatible:words"), StandInRunner(), catalogue=catalogue)
        try:
            _, result = await play_all(assistant, "What is a prompt?")
        finally:
            await assistant.aclose()
    return result.error


async def test_a_stream_that_is_cut_is_an_error_that_says_so(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def frames() -> AsyncGenerator[str]:
        for text in ("A prompt ", "is a"):
            choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
            yield f"data: {json.dumps({**HEAD, 'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"

    async def cut(_: Request) -> Response:
        return StreamingResponse(frames(), media_type="text/event-stream")

    error = await error_of(catalogue, monkeypatch, cut)
    assert error is not None
    assert (error.code, "stopped in the middle" in error.message) == ("model_cut", True)


class CutShort:
    """Ends streamed responses of a provider after some frames, as a whole response or by dropping the connection."""

    def __init__(self, app: ASGIApp, frames: int, *, drops: bool) -> None:
        self._app, self._frames, self._drops = app, frames, drops

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = 0

        async def cut(message: Message) -> None:
            nonlocal sent
            sent += message["type"] == "http.response.body"
            if sent <= self._frames:
                await send(message)
            elif self._drops:
                raise ConnectionResetError
            elif sent == self._frames + 1:
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        await self._app(scope, receive, cut)


@pytest.mark.parametrize("drops", [False, True], ids=["ends", "drops"])
@pytest.mark.parametrize("wire", WIRES)
async def test_a_stream_that_is_cut_is_an_error_whatever_the_wire(
    wire: str, drops: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    provider = EveryWire(lambda _: Reply(text="A prompt is a text with places for other texts. " * 8))
    provider.app = CutShort(provider.app, 6, drops=drops)  # pyright: ignore[reportAttributeAccessIssue]
    kind, _, name = WIRES[wire].model.partition(":")
    async with provider.serve() as url:
        model = chain([connect(kind, name, addressed(kind, url.removesuffix("/v1")))])
        with pytest.raises(Exception) as raised:
            async with model_request_stream(model, [ModelRequest.user_text_prompt("hello")]) as stream:
                async for _ in stream:
                    pass
    found = classify(raised.value)
    assert found is not None
    assert found.code == "model_cut"


@pytest.mark.parametrize(
    "body", [{**HEAD, "choices": []}, {**HEAD, "choices": [{}]}, {**HEAD, "choices": None}, {}, []]
)
async def test_a_response_without_an_answer_is_a_providers_error(body: object, monkeypatch: pytest.MonkeyPatch) -> None:
    async def empty(_: Request) -> Response:
        return JSONResponse(body)

    failure = await failure_of(empty, monkeypatch)
    found = classify(failure)
    assert found is not None
    assert found.code == "model_behaviour"


async def test_no_more_of_a_response_is_read_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = 0

    async def pieces() -> AsyncGenerator[bytes]:
        nonlocal sent
        while sent < 4 * LIMIT:
            sent += 1 << 20
            yield b" " * (1 << 20)

    async def endless(_: Request) -> Response:
        return StreamingResponse(pieces(), media_type="application/json")

    assert classify(await failure_of(endless, monkeypatch)) == TOO_LARGE
    assert sent > LIMIT


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_small_response_that_unpacks_beyond_the_limit_is_not_unpacked(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = zlib.compressobj(9, wbits=31 if encoding == "gzip" else 15)
    packed = b"".join(pack.compress(b" " * (1 << 20)) for _ in range(8 * LIMIT >> 20)) + pack.flush()
    assert len(packed) < LIMIT // 50

    async def bomb(_: Request) -> Response:
        return Response(packed, media_type="application/json", headers={"content-encoding": encoding})

    tracemalloc.start()
    try:
        failure = await failure_of(bomb, monkeypatch)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert classify(failure) == TOO_LARGE
    assert peak < 3 * LIMIT


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "GZIP", "identity"])
async def test_a_packed_response_is_read(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = encoding.lower()
    body = bytes(whole("A prompt is a text.").body)
    packed = body if kind == "identity" else gzip.compress(body) if kind == "gzip" else zlib.compress(body)

    async def answer(_: Request) -> Response:
        return Response(packed, media_type="application/json", headers={"content-encoding": encoding})

    assert (await answer_to(answer, monkeypatch)).text == "A prompt is a text."


@pytest.mark.parametrize(
    ("encoding", "body"), [("gzip", b"not packed"), ("gzip", gzip.compress(b"{}", mtime=0)[:-9]), ("br", b"x")]
)
async def test_a_response_that_cannot_be_unpacked_is_a_providers_error(
    encoding: str, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_: Request) -> Response:
        return Response(body, media_type="application/json", headers={"content-encoding": encoding})

    found = classify(await failure_of(broken, monkeypatch))
    assert found is not None
    assert found.code in {"model_behaviour", "model_error"}


async def failure_of(respond: Respond, monkeypatch: pytest.MonkeyPatch) -> Exception:
    """What a request that is not streamed raises."""
    with pytest.raises(Exception) as raised:
        await answer_to(respond, monkeypatch)
    return raised.value


async def answer_to(respond: Respond, monkeypatch: pytest.MonkeyPatch) -> ModelResponse:
    """The answer to a request that is not streamed."""
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    async with Provider(respond).serve() as url:
        model = chain([connect("openai-compatible", "words", {"OPENAI_COMPATIBLE_BASE_URL": url})])
        return await model_request(model, [ModelRequest.user_text_prompt("hello")])
