"""`wirewright models`: the list of providers, and the test of what is configured."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal

from scripts.scripted_provider import Reply, ScriptedProvider
from tests.cli.conftest import Wirewright
from tests.databases.secrets import store_key


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A provider on loopback, which is the only one configured."""
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    serving = ScriptedProvider(lambda _: Reply(text="ok")).serve()
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(serving) as url:
        monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", url)
        monkeypatch.setenv("WIREWRIGHT_MODEL", "openai-compatible:granite")
        yield url


def test_the_list_says_what_is_configured_and_what_to_set(
    wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk_secret")
    shown = wirewright("models", "list")
    assert shown.code == 0
    assert shown.out.startswith("Default: groq:")
    assert "GROQ_API_KEY is set; models: " in shown.out
    assert "  no   openai             set OPENAI_API_KEY\n" in shown.out
    found = wirewright("models", "list", "--json").json
    assert set(found) == {"default", "error", "providers"}
    assert [one["name"] for one in found["providers"] if one["configured"]] == ["groq"]
    assert "gsk_secret" not in shown.out + str(found)


def test_stored_keys_count_as_well(wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WIREWRIGHT_DATA", str(tmp_path / "data"))
    store_key("groq", {"GROQ_API_KEY": "gsk_secret"})
    [groq] = [one for one in wirewright("models", "list", "--json").json["providers"] if one["configured"]]
    assert groq["variables"] == [{"name": "GROQ_API_KEY", "source": "stored"}]
    (tmp_path / "data" / "secret.key").unlink()
    broken = wirewright("models", "list", "--json")
    assert (broken.code, broken.json["error"]["code"]) == (1, "keys_unreadable")


def test_a_configured_model_is_really_asked(wirewright: Wirewright, provider: str) -> None:
    done = wirewright("models", "test")
    assert done.code == 0, done
    assert done.out.startswith("yes  openai-compatible:granite  answered in ")
    found = wirewright("models", "test", "--json").json
    assert found["ok"] is True
    assert [(one["model"], one["ok"], one["error"]) for one in found["models"]] == [
        ("openai-compatible:granite", True, None)
    ]


def test_one_model_that_does_not_answer_fails_the_command(wirewright: Wirewright, provider: str) -> None:
    done = wirewright("models", "test", "openai-compatible:granite", "groq:m", "--json")
    assert done.code == 1
    assert [(one["ok"], (one["error"] or {}).get("code")) for one in done.json["models"]] == [
        (True, None),
        (False, "provider_not_configured"),
    ]


def test_a_default_that_is_unavailable_fails_the_command(
    wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_MODEL", "groq:m")
    done = wirewright("models", "test")
    assert done.code == 1
    assert done.out.startswith("no  groq:m  Provider 'groq' is not configured.")


def test_with_nothing_configured_there_is_nothing_to_test(wirewright: Wirewright) -> None:
    done = wirewright("models", "test")
    assert (done.code, done.out) == (1, "")
    assert "wirewright models list" in done.err
