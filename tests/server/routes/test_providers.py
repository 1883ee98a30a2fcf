"""Providers over real HTTP: which are available, and keys that go in, are used, and never come out."""

import logging
from pathlib import Path
from typing import Any

import httpx
import pytest

from agent.assistant import Assistant
from agent.models.providers import PROVIDERS
from flows.catalogue import Catalogue
from runtime.files.folders import LOCAL_USER
from tests.server.live import serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio

PATH = "/api/v1/providers"
SECRET = "sk-or-v1-verysecretvalue0123456789"


def error(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["code"]


def contents(folder: Path) -> bytes:
    """Everything that the files of a folder hold."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def one(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(entry for entry in document["providers"] if entry["name"] == name)


async def test_every_provider_is_listed_with_what_it_needs(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    async with serving(assistant(catalogue)) as live:
        listed = await live.client.get(PATH)
        document = listed.json()
        assert [entry["name"] for entry in document["providers"]] == list(PROVIDERS)
        assert one(document, "anthropic") == (await live.client.get(f"{PATH}/anthropic")).json()
    assert one(document, "anthropic")["available"]
    assert one(document, "anthropic")["variables"][0] == {"name": "ANTHROPIC_API_KEY", "source": "environment"}
    assert not one(document, "openai")["available"]
    assert one(document, "azure")["needs"] == [["AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"]]
    assert SECRET not in listed.text


async def test_a_stored_key_makes_a_provider_available_and_is_never_shown(
    catalogue: Catalogue, data_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    who = assistant(catalogue)
    async with serving(who) as live:
        stored = await live.client.put(f"{PATH}/openrouter", json={"api_key": SECRET})
        assert stored.status_code == 200
        assert (stored.json()["available"], stored.json()["stored"]) == (True, True)
        assert (await who.choose("openrouter")).names == PROVIDERS["openrouter"].models
        replies = [stored, await live.client.get(PATH), await live.client.get("/metrics")]
        assert not [reply for reply in replies if SECRET in reply.text]
        assert (await live.client.delete(f"{PATH}/openrouter")).status_code == 204
        assert error(await live.client.delete(f"{PATH}/openrouter")) == (404, "nothing_stored")
        assert not (await live.client.get(f"{PATH}/openrouter")).json()["available"]
    assert SECRET not in caplog.text
    assert "assistant.provider.stored" in caplog.text
    assert SECRET.encode() not in contents(data_folder)


async def test_a_key_outlives_the_server_and_is_the_client_s(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    async with serving(assistant(catalogue)) as live:
        values = {"OPENAI_COMPATIBLE_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_COMPATIBLE_API_KEY": SECRET}
        await live.client.put(f"{PATH}/openai-compatible", json={"values": values})
    again: Assistant = assistant(catalogue)
    choice = await again.choose("openai-compatible:granite")
    model: Any = await again.model(choice)
    assert model.client.api_key == SECRET
    await again.aclose()


async def test_what_is_stored_comes_before_the_environment(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "from-the-environment")
    who = assistant(catalogue)
    async with serving(who) as live:
        stored = await live.client.put(f"{PATH}/groq", json={"api_key": "stored-one"})
        assert stored.json()["variables"][0] == {"name": "GROQ_API_KEY", "source": "stored"}
    assert (await who.keys_of(LOCAL_USER).read()).environment()["GROQ_API_KEY"] == "stored-one"
    await who.aclose()


@pytest.mark.parametrize(
    ("name", "body", "status", "code"),
    [
        ("nobody", {"api_key": "k"}, 404, "unknown_provider"),
        ("openai", {}, 422, "invalid_request"),
        ("openai", {"api_key": 7}, 422, "invalid_request"),
        ("openai", {"key": "k"}, 422, "invalid_request"),
        ("openai", {"api_key": " "}, 422, "invalid_key"),
        ("openai", {"api_key": "two\r\nlines: x"}, 422, "invalid_key"),
        ("openai", {"api_key": "x" * 5_000}, 422, "invalid_key"),
        ("openai", {"values": {"PATH": "/bin"}}, 422, "invalid_key"),
        ("openai", {"values": {"ANTHROPIC_API_KEY": "k"}}, 422, "invalid_key"),
        ("ollama", {"base_url": "file:///etc/passwd"}, 422, "invalid_key"),
    ],
)
async def test_what_cannot_be_stored_is_refused_without_repeating_it(
    catalogue: Catalogue, name: str, body: dict[str, Any], status: int, code: str
) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.put(f"{PATH}/{name}", json=body)
        assert error(reply) == (status, code)
        assert "xxxx" not in reply.text
        assert "lines: x" not in reply.text
        listed = (await live.client.get(PATH)).json()["providers"]
        assert not [entry for entry in listed if entry["stored"]]


async def test_damaged_keys_are_reported_and_nothing_is_lost(catalogue: Catalogue, data_folder: Path) -> None:
    who = assistant(catalogue)
    async with serving(who) as live:
        await live.client.put(f"{PATH}/groq", json={"api_key": "k"})
        (data_folder / "secret.key").rename(data_folder / "other.key")
        (data_folder / "secret.key").write_bytes(b"other")
        again = assistant(catalogue)
    async with serving(again) as live:
        assert error(await live.client.get(PATH)) == (503, "keys_unreadable")
        assert error(await live.client.put(f"{PATH}/groq", json={"api_key": "k"})) == (503, "keys_unreadable")
    (data_folder / "other.key").replace(data_folder / "secret.key")
    async with serving(assistant(catalogue)) as live:
        assert (await live.client.get(f"{PATH}/groq")).json()["stored"]


async def test_an_address_is_told_to_who_stored_it_and_that_of_the_environment_to_an_admin(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", f"http://10.0.0.7:11434/v1?key={SECRET}")
    values = {"OPENAI_COMPATIBLE_BASE_URL": f"https://llm.example/v1?key={SECRET}", "OPENAI_COMPATIBLE_API_KEY": SECRET}
    async with serving(assistant(catalogue)) as live:
        stored = await live.client.put(f"{PATH}/openai-compatible", json={"values": values})
        assert stored.json()["variables"] == [
            {"name": "OPENAI_COMPATIBLE_BASE_URL", "source": "stored", "address": "https://llm.example/v1?…"},
            {"name": "OPENAI_COMPATIBLE_API_KEY", "source": "stored"},
        ]
        listed = await live.client.get(PATH)
        assert one(listed.json(), "ollama")["variables"][0]["address"] == "http://10.0.0.7:11434/v1?…"
        made = await live.client.post("/api/v1/users", json={"name": "eve", "scopes": ["read", "build"]})
        eve = {"Authorization": f"Bearer {made.json()['token']}"}
        hers = await live.stranger.get(PATH, headers=eve)
        assert one(hers.json(), "ollama")["variables"][0] == {"name": "OLLAMA_BASE_URL", "source": "environment"}
        assert one(hers.json(), "openai-compatible")["variables"][0]["source"] is None
        assert "llm.example" not in hers.text
        assert SECRET not in stored.text + listed.text + hers.text
