"""What is configured to serve turns, in the seeds' shape."""

import pytest
from inline_snapshot import snapshot

from flows.catalogue import Catalogue
from tests.server.live import STREAM, serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio


async def test_the_configuration_says_when_only_the_demo_serves(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        found = (await live.client.get("/api/v1/agentic/check-config")).json()
    assert {key: found[key] for key in found if key != "providers"} == snapshot(
        {
            "configured": False,
            "configured_providers": [],
            "demo": True,
            "default_provider": "demo",
            "default_model": "demo",
            "message": "The demo planner serves: rules, not a language model. Set a provider's API key for more.",
        }
    )
    assert all(provider["configured"] is False for provider in found["providers"])


async def test_the_configuration_names_the_providers_with_a_key_and_never_the_key(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.get("/api/v1/agentic/check-config")
    found = reply.json()
    assert "sk-secret" not in reply.text
    assert (found["configured"], found["demo"]) == (True, False)
    assert found["configured_providers"] == ["anthropic"]
    assert found["default_provider"] == "anthropic"
    anthropic = next(provider for provider in found["providers"] if provider["name"] == "anthropic")
    assert found["default_model"] == anthropic["default_model"] == anthropic["models"][0]["name"]
    assert set(anthropic["models"][0]) == {"name", "display_name"}


async def test_the_configuration_says_when_the_default_model_is_unavailable(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_MODEL", "openai:gpt-6-luna")
    async with serving(assistant(catalogue)) as live:
        found = (await live.client.get("/api/v1/agentic/check-config")).json()
        asked = await live.client.post(STREAM, json={"input_value": "Build an echo"})
    assert (found["configured"], found["default_provider"]) == (False, None)
    assert found["error"]["code"] == asked.json()["error"]["code"] == "provider_not_configured"
    assert asked.status_code == 400


async def test_a_stored_key_counts_as_configured(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        await live.client.put("/api/v1/providers/groq", json={"api_key": "gsk_secret"})
        found = (await live.client.get("/api/v1/agentic/check-config")).json()
    assert (found["configured"], found["configured_providers"]) == (True, ["groq"])
    assert found["default_provider"] == "groq"
    assert "gsk_secret" not in str(found)
