"""What the gateway refuses, and how failures of models keep their class through the wire."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai import exceptions as ai
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from agent.models.scripted import scripted
from runtime.gateway.models import Budget, Models, ModelUnavailable
from runtime.gateway.server import GatewayServer
from runtime.results import ModelUsage
from tests.runtime.gateway.words import NAME, Connect, OpenSession

pytestmark = pytest.mark.anyio

USER: list[Any] = [{"role": "user", "content": "hello"}]


def fine(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
    return ModelResponse(parts=[TextPart("hi")], usage=RequestUsage(input_tokens=6, output_tokens=4))


def failing(error: Exception) -> FunctionModel:
    def plan(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        raise error

    return scripted(plan, "failing")


def http(category: Any, status: int, message: str = "no") -> ai.ModelHTTPError:
    return ai.ModelHTTPError.for_category(
        category, status_code=status, model_name="m", body={"error": {"message": message}}
    )


FAILURES = [
    (http(ai.ModelAuthenticationError, 401, "key sk-live-123456789"), "AuthenticationError", "missing_key"),
    (http(ai.ModelRateLimitError, 429), "RateLimitError", "external"),
    (http(ai.ModelQuotaExceededError, 429), "RateLimitError", "external"),
    (http(ai.ModelContextWindowExceededError, 400), "BadRequestError", "limit"),
    (http(ai.ModelNotFoundError, 404), "NotFoundError", "missing_model"),
    (http(ai.ModelServerError, 500), "InternalServerError", "external"),
    (http(ai.ModelOverloadedError, 529), "InternalServerError", "external"),
    (http(ai.ModelRequestRejectedError, 422), "UnprocessableEntityError", "external"),
    (http(None, 403), "PermissionDeniedError", "external"),
    (ai.ModelConnectionError("m", "refused"), "InternalServerError", "external"),
    (ai.ModelTimeoutError("m", "late"), "InternalServerError", "external"),
    (ai.ContentFilterError("bad words"), "BadRequestError", "external"),
    (ai.UnexpectedModelBehavior("odd"), "InternalServerError", "external"),
    (ai.UserError("no such thing"), "BadRequestError", "external"),
    (ModelUnavailable("None here."), "NotFoundError", "missing_model"),
    (ModelUnavailable("No key here.", code="missing_key"), "AuthenticationError", "missing_key"),
    (ValueError("secret detail"), "InternalServerError", "external"),
    (ai.FallbackExceptionGroup("all", [http(ai.ModelNotFoundError, 404)]), "NotFoundError", "missing_model"),
    (ai.FallbackExceptionGroup("all", [http(ai.ModelRateLimitError, 429)]), "RateLimitError", "external"),
]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("raised", "seen", "code"), FAILURES)
async def test_a_failure_keeps_its_class(
    raised: Exception, seen: str, code: str, stream: bool, opened: OpenSession, connect: Connect
) -> None:
    import openai

    session = opened(failing(raised))
    with pytest.raises(getattr(openai, seen)) as caught:
        await connect(session).chat.completions.create(model=NAME, messages=USER, stream=stream)
    assert session.last_failure is not None
    told = session.last_failure.failure.error("Model-1")
    assert told.code == code
    assert told.message in str(caught.value)
    assert "sk-live" not in str(caught.value)
    assert "secret detail" not in str(caught.value)


async def test_a_failure_in_the_middle_of_an_answer_ends_the_stream_with_an_error(
    opened: OpenSession, connect: Connect
) -> None:
    import openai

    async def stream(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[str]:
        yield "a beginning"
        raise http(ai.ModelRateLimitError, 429)

    session = opened(FunctionModel(stream_function=stream))
    pieces: list[str] = []
    with pytest.raises(openai.APIError, match="is rate-limiting requests"):
        async for piece in await connect(session).chat.completions.create(model=NAME, messages=USER, stream=True):
            pieces.append(piece.choices[0].delta.content or "")  # noqa: PERF401 - kept when a later one fails
    assert "a beginning" in pieces


async def test_an_unknown_key_is_refused(opened: OpenSession, connect: Connect) -> None:
    import openai

    session = opened(scripted(fine, "s"))
    for key in ("sk-run-wrong.0", "none", session.token[:-1] + ".0"):
        with pytest.raises(openai.AuthenticationError):
            await connect(key).chat.completions.create(model=NAME, messages=USER)
        with pytest.raises(openai.AuthenticationError):
            await connect(key).models.list()


async def test_a_key_dies_with_its_run(gateway: GatewayServer, opened: OpenSession, connect: Connect) -> None:
    import openai

    session, other = opened(scripted(fine, "s")), opened(scripted(fine, "s"))
    client = connect(session)
    await client.chat.completions.create(model=NAME, messages=USER)
    gateway.close(session)
    with pytest.raises(openai.AuthenticationError):
        await client.chat.completions.create(model=NAME, messages=USER)
    await connect(other).chat.completions.create(model=NAME, messages=USER)


async def test_a_key_opens_no_model_that_the_flow_does_not_name(opened: OpenSession, connect: Connect) -> None:
    import openai

    client = connect(opened(scripted(fine, "s")))
    with pytest.raises(openai.NotFoundError, match="does not use model"):
        await client.chat.completions.create(model="some:costlier", messages=USER)
    with pytest.raises(openai.NotFoundError):
        await client.embeddings.create(model="some:costlier", input="a")


@pytest.mark.parametrize(("budget", "words"), [(Budget(calls=2), "2 model calls"), (Budget(tokens=15), "15 tokens")])
async def test_a_run_stops_at_its_budget_without_trying_again(
    budget: Budget, words: str, opened: OpenSession, connect: Connect
) -> None:
    import openai

    asked: list[int] = []

    def plan(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(1)
        return fine(messages, info)

    session = opened(scripted(plan, "s"), budget)
    client = connect(session, retries=5)
    for _ in range(2):
        await client.chat.completions.create(model=NAME, messages=USER)
    with pytest.raises(openai.RateLimitError, match=words):
        await client.chat.completions.create(model=NAME, messages=USER, stream=True)
    assert len(asked) == 2
    assert session.last_failure is not None
    assert session.last_failure.failure.run == "limit"


async def test_spending_is_counted_by_node(opened: OpenSession, connect: Connect) -> None:
    session = opened(scripted(fine, "s"))
    for node in ("A-1", "A-1", "B-2"):
        await connect(session, node=node).chat.completions.create(model=NAME, messages=USER)
    await connect(session.token).chat.completions.create(model=NAME, messages=USER)
    one = ModelUsage(input_tokens=6, output_tokens=4, calls=1)
    assert session.usage == {"A-1": one + one, "B-2": one, None: one}
    assert session.total == one + one + one + one


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"model": "some:model", "messages": []}',
        b'{"model": "some:model", "messages": [{"role": "wizard", "content": "x"}]}',
        b'{"model": "some:model", "messages": [{"role": "tool", "tool_call_id": "c", "content": "x"}]}',
        b'{"model": "some:model", "messages": [{"role": "user", "content": [{"type": "video"}]}]}',
        b'{"model": "some:model", "messages": [{"role": "user", "content": "x"}], "n": 2}',
        (
            b'{"model": "some:model", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": '
            b'{"url": "https://example.org/tracker.png"}}]}]}'
        ),
        (
            b'{"model": "some:model", "messages": [{"role": "user", "content": "x"}], "tools": [{"function": '
            b'{"name": "a"}}], "tool_choice": {"function": {"name": "b"}}}'
        ),
    ],
)
async def test_a_request_that_cannot_be_served_says_why(
    body: bytes, gateway: GatewayServer, opened: OpenSession, connect: Connect
) -> None:
    session = opened(scripted(fine, "s"))
    async with httpx.AsyncClient(base_url=gateway.url, headers={"authorization": f"Bearer {session.key('A')}"}) as raw:
        answer = await raw.post("/chat/completions", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert answer.json()["error"]["message"]


async def test_an_endless_request_and_unknown_paths_are_refused(gateway: GatewayServer, opened: OpenSession) -> None:
    session = opened(scripted(fine, "s"))
    async with httpx.AsyncClient(base_url=gateway.url, headers={"authorization": f"Bearer {session.key('A')}"}) as raw:
        assert (await raw.post("/chat/completions", content=b"x" * (17 * 1024**2))).status_code == 413
        assert (await raw.post("/responses", json={})).status_code == 404
        assert (await raw.get("/chat/completions")).status_code == 404


class Hanging:
    """A model that never answers, and tells when it was asked and when it was given up."""

    def __init__(self) -> None:
        self.asked, self.left = asyncio.Event(), asyncio.Event()
        self.model = FunctionModel(self._answer, stream_function=self._stream)

    async def _answer(self, _: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.left.set()
        raise AssertionError

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        yield "a beginning"
        await self._answer(messages, info)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_call_ends_with_its_run(
    stream: bool, gateway: GatewayServer, opened: OpenSession, connect: Connect
) -> None:
    import openai

    hanging = Hanging()
    session = opened(hanging.model)

    async def call() -> None:
        answer = await connect(session).chat.completions.create(model=NAME, messages=USER, stream=stream)
        async for _ in answer:
            pass

    calling = asyncio.create_task(call())
    await asyncio.wait_for(hanging.asked.wait(), 10)
    assert session.active_calls == 1
    gateway.close(session)
    await asyncio.wait_for(hanging.left.wait(), 10)
    with pytest.raises(openai.APIError):
        await asyncio.wait_for(calling, 10)
    assert session.active_calls == 0


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_call_ends_when_its_client_is_gone(stream: bool, opened: OpenSession, connect: Connect) -> None:
    hanging = Hanging()
    session = opened(hanging.model)
    client = connect(session)

    async def call() -> None:
        answer = await client.chat.completions.create(model=NAME, messages=USER, stream=stream)
        async for _ in answer:
            pass

    calling = asyncio.create_task(call())
    await asyncio.wait_for(hanging.asked.wait(), 10)
    calling.cancel()
    await asyncio.wait_for(hanging.left.wait(), 10)
    assert session.last_failure is None


async def test_a_closed_gateway_ends_what_is_under_way_and_starts_again(
    opened: OpenSession, gateway: GatewayServer
) -> None:
    import openai

    hanging = Hanging()
    session = opened(hanging.model)
    client = openai.AsyncOpenAI(base_url=gateway.url, api_key=session.key("A"), max_retries=0)
    calling = asyncio.create_task(client.chat.completions.create(model=NAME, messages=USER))
    await asyncio.wait_for(hanging.asked.wait(), 10)
    await gateway.aclose()
    with pytest.raises(openai.APIError):
        await asyncio.wait_for(calling, 10)
    gateway.start()
    fresh = gateway.open(Models(resolve=lambda _: scripted(fine, "s")))
    fresh.allowed_models.add(NAME)
    again = openai.AsyncOpenAI(base_url=gateway.url, api_key=fresh.key("A"), max_retries=0)
    assert (await again.chat.completions.create(model=NAME, messages=USER)).choices[0].message.content == "hi"
    await client.close()
    await again.close()
