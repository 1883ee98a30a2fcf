"""What every request shares is marked for caching where a provider has marks, and cached tokens are reported."""

import json
from typing import Any

import pytest

from agent.contract.endings import ending
from agent.contract.events import CompleteEvent
from flows.catalogue import Catalogue
from scripts.scripted_provider import Reply
from tests.shared.provider_turns import provider_turns

pytestmark = pytest.mark.anyio

QUESTION = Reply(text='{"intent": "question"}')
LOOKUP = Reply(calls=(("search_components", {"query": "prompt"}),), cached=40)
ANSWER = Reply(text="A prompt is a text.", cached=80)


async def requests(wire: str, catalogue: Catalogue, monkeypatch: Any) -> tuple[list[dict[str, Any]], Any]:
    """The requests of a turn that asks twice after its classification, and its result."""
    async with provider_turns(wire, catalogue, monkeypatch, QUESTION, LOOKUP, ANSWER) as turns:
        _, result = await turns.take("What is a prompt?")
    assert result.outcome == "complete", result.error
    return turns.bodies, result


async def test_anthropic_is_told_what_to_cache(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    (classified, first, second), _ = await requests("anthropic", catalogue, monkeypatch)
    for body in (first, second):
        assert body["system"][-1]["cache_control"]["type"] == "ephemeral"
        assert body["tools"][-1]["cache_control"]["type"] == "ephemeral"
    assert first["tools"] == second["tools"]
    assert first["system"] == second["system"]
    assert "cache_control" in {key for body in (first, second) for key in body} or "cache_control" in json.dumps(
        second["messages"]
    )
    assert "cache_control" not in json.dumps(classified), "the classifier's prompt is too short to be cached"


async def test_openai_gets_one_key_a_conversation(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    (_, first, second), _ = await requests("openai_responses", catalogue, monkeypatch)
    assert first["prompt_cache_key"] == second["prompt_cache_key"]
    assert first["prompt_cache_key"].startswith("wirewright-")
    assert "one" not in first["prompt_cache_key"].partition("-")[2], "the session's id stays here"


async def test_servers_of_openais_older_api_get_no_key(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    (_, first, _), _ = await requests("openai_chat", catalogue, monkeypatch)
    assert "prompt_cache_key" not in first


@pytest.mark.parametrize("wire", ["openai_chat", "openai_responses", "anthropic"])
async def test_cached_tokens_are_reported_at_the_end(
    wire: str, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, result = await requests(wire, catalogue, monkeypatch)
    last = ending(result, "one")
    assert isinstance(last, CompleteEvent)
    assert last.data.usage is not None
    assert last.data.usage.cached_tokens == 120
    assert last.data.usage.input_tokens == 300
