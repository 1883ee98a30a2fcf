"""A provider that asks to wait is waited for, visibly, within the turn's limit."""

from typing import Any

import pytest

from agent.turn.result import TurnEvent
from flows.catalogue import Catalogue
from scripts.scripted_provider import Reply
from tests.shared.provider_turns import provider_turns
from tools.events import Progress

pytestmark = pytest.mark.anyio

OFF_TOPIC = Reply(text='{"intent": "off_topic"}')
QUESTION = Reply(text='{"intent": "question"}')
ERRORS: dict[str, dict[str, Any]] = {
    "openai_chat": {"message": "Rate limit reached", "type": "requests", "param": None, "code": "rate_limit_exceeded"},
    "openai_responses": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"},
    "anthropic": {"type": "rate_limit_error", "message": "This request would exceed your rate limit"},
    "google": {"code": 429, "message": "Resource has been exhausted", "status": "RESOURCE_EXHAUSTED"},
}


def limited(wire: str, seconds: str | None) -> Reply:
    """A refusal that asks to wait."""
    return Reply(status=429, error=ERRORS[wire], headers={} if seconds is None else {"Retry-After": seconds})


def waits(events: list[TurnEvent]) -> list[str]:
    """What clients see of the waits."""
    return [event.message for event in events if isinstance(event, Progress) and event.step == "waiting"]


@pytest.mark.parametrize("wire", ERRORS)
async def test_a_wait_is_waited_for_and_shown(wire: str, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    async with provider_turns(wire, catalogue, monkeypatch, limited(wire, "1"), OFF_TOPIC) as turns:
        events, result = await turns.take("hello")
    assert (result.outcome, result.error) == ("refused", None)
    assert [message.partition(" asks")[2] for message in waits(events)] == [" to wait 1 s..."]
    first, second = turns.times
    assert second - first >= 0.95
    assert result.usage["intent"].requests == 1


async def test_a_streamed_request_waits_as_well_and_goes_on_where_it_was(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = (QUESTION, limited("anthropic", "0"), limited("anthropic", "0"), Reply(text="A prompt is a text."))
    async with provider_turns("anthropic", catalogue, monkeypatch, *replies) as turns:
        events, result = await turns.take("What is a prompt?")
    assert (result.outcome, result.text) == ("complete", "A prompt is a text.")
    assert waits(events) == ["Anthropic asks to wait 1 s...", "Anthropic asks to wait 1 s..."]
    assert turns.bodies[1] == turns.bodies[2] == turns.bodies[3]
    assert result.usage["main"].requests == 1


@pytest.mark.parametrize(("asked", "limit"), [("3600", 120.0), ("1", 0.0), (None, 120.0)])
async def test_a_wait_beyond_the_limit_is_the_typed_error_at_once(
    asked: str | None, limit: float, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = (limited("openai_chat", asked),)
    async with provider_turns("openai_chat", catalogue, monkeypatch, *replies, wait_limit=limit) as turns:
        events, result = await turns.take("hello")
    assert result.error is not None
    assert result.error.code == "rate_limit"
    assert waits(events) == []
    assert len(turns.times) == 1
    assert (f"in {asked} seconds" in result.error.fix) == (asked is not None)


async def test_the_waits_of_a_turn_share_one_limit(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    replies = [limited("openai_chat", "1") for _ in range(3)]
    async with provider_turns("openai_chat", catalogue, monkeypatch, *replies, wait_limit=2.5) as turns:
        events, result = await turns.take("hello")
    assert result.error is not None
    assert result.error.code == "rate_limit"
    assert len(waits(events)) == 2


async def test_a_used_up_quota_is_never_waited_for(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}
    replies = (Reply(status=429, error=error, headers={"Retry-After": "1"}),)
    async with provider_turns("openai_chat", catalogue, monkeypatch, *replies) as turns:
        events, result = await turns.take("hello")
    assert result.error is not None
    assert (result.error.code, waits(events)) == ("quota", [])
