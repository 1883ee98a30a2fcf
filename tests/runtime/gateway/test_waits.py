"""A provider that asks a running flow's model call to wait is waited for, visibly, and within the run's time."""

import time

import pytest
from openai import APIStatusError

from agent.models.connections import connect as connect_model
from runtime.gateway.models import Models
from runtime.gateway.server import GatewayServer
from scripts.scripted_provider import Reply, ScriptedProvider, in_order
from tests.runtime.gateway.words import NAME, Connect

pytestmark = pytest.mark.anyio
LIMITED = {"message": "Rate limit reached", "type": "requests", "param": None, "code": "rate_limit_exceeded"}


def asks_to_wait(seconds: str) -> Reply:
    return Reply(status=429, error=LIMITED, headers={"Retry-After": seconds})


@pytest.mark.parametrize("stream", [False, True])
async def test_a_wait_is_waited_for_and_told(
    gateway: GatewayServer, connect: Connect, monkeypatch: pytest.MonkeyPatch, *, stream: bool
) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    waits: list[tuple[str | None, float]] = []
    async with ScriptedProvider(in_order(asks_to_wait("1"), Reply(text="four"))).serve() as url:
        model = connect_model("openai-compatible", "words", {"OPENAI_COMPATIBLE_BASE_URL": url})
        account = gateway.open(Models(resolve=lambda _: model), 30, lambda *wait: waits.append(wait))
        account.allowed_models.add(NAME)
        begun = time.monotonic()
        answer = await connect(account).chat.completions.create(
            model=NAME, messages=[{"role": "user", "content": "2+2"}], stream=stream
        )
        text = "".join(
            [chunk.choices[0].delta.content or "" async for chunk in answer if chunk.choices]
            if stream
            else [answer.choices[0].message.content]
        )
    assert text == "four"
    assert waits == [("Model-1", 1.0)]
    assert time.monotonic() - begun >= 0.95
    assert account.total.calls == 1


@pytest.mark.parametrize(("asked", "patience"), [("60", 30.0), ("1", 0.0)])
async def test_a_wait_that_would_outlast_the_run_is_the_typed_error_at_once(
    asked: str, patience: float, gateway: GatewayServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    begun = time.monotonic()
    async with ScriptedProvider(lambda _: asks_to_wait(asked)).serve() as url:
        model = connect_model("openai-compatible", "words", {"OPENAI_COMPATIBLE_BASE_URL": url})
        account = gateway.open(Models(resolve=lambda _: model), patience)
        account.allowed_models.add(NAME)
        with pytest.raises(APIStatusError) as refused:
            await connect(account).chat.completions.create(model=NAME, messages=[{"role": "user", "content": "2+2"}])
    assert refused.value.status_code == 429
    assert account.last_failure is not None
    assert account.last_failure.failure.code == "rate_limit_exceeded"
    assert time.monotonic() - begun < 20
