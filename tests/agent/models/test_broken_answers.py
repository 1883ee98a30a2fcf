"""Answers that a provider cuts, leaves empty or never ends: each is a typed error of the turn."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from agent.assistant import Assistant
from agent.models.connections import connect
from agent.settings import AssistantSettings
from agent.turn.result import TurnError
from flows.catalogue import Catalogue
from runtime.gateway.limits.responses import LIMIT
from runtime.gateway.provider_errors import TOO_LARGE, classify
from scripts.scripted_provider import Reply, ScriptedProvider
from tests.scripted_assistant import play_all
from tests.stand_ins import StandInRunner

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


async def failure_of(respond: Respond, monkeypatch: pytest.MonkeyPatch) -> Exception:
    """What a request that is not streamed raises."""
    from agent.models.chain import chain

    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    async with Provider(respond).serve() as url:
        model = chain([connect("openai-compatible", "words", {"OPENAI_COMPATIBLE_BASE_URL": url})])
        with pytest.raises(Exception) as raised:
            await model_request(model, [ModelRequest.user_text_prompt("hello")])
    return raised.value
