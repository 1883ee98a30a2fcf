"""Which models are there, and which of them answer."""

from collections.abc import Mapping
from typing import Any

import pytest

from agent.models.clients import Clients
from agent.models.overview import ModelTest, models_to_test, overview, try_models
from agent.models.providers import PROVIDERS
from scripts.cassettes import WIRES
from scripts.conversations import CONVERSATIONS
from scripts.scripted_provider import Reply
from scripts.wire_formats import EveryWire
from tests.shared.wires import addressed

pytestmark = pytest.mark.anyio
NEWEST = {name: info.models[0] for name, info in PROVIDERS.items() if info.models}


def test_every_provider_says_whether_it_is_configured_and_why() -> None:
    environment = {"ANTHROPIC_API_KEY": "sk-ant-secret", "AZURE_OPENAI_API_KEY": "azure-secret"}
    found = overview(None, environment, {"anthropic": frozenset({"ANTHROPIC_API_KEY"})})
    assert found.default == f"anthropic:{NEWEST['anthropic']}"
    by_name = {one.name: one for one in found.providers}
    assert list(by_name) == list(PROVIDERS)
    assert [one.name for one in found.providers if one.default] == ["anthropic"]
    assert (by_name["anthropic"].configured, by_name["anthropic"].why) == (True, "ANTHROPIC_API_KEY is set")
    assert [one.source for one in by_name["anthropic"].variables] == ["stored"]
    assert (by_name["azure"].configured, by_name["azure"].why) == (False, "set AZURE_OPENAI_ENDPOINT")
    assert [one.source for one in by_name["azure"].variables] == ["environment"]
    assert by_name["openai"].why == "set OPENAI_API_KEY"
    assert "secret" not in found.model_dump_json()


def test_an_unavailable_default_is_an_error_beside_the_list() -> None:
    found = overview("groq:m", {"ANTHROPIC_API_KEY": "k"})
    assert found.default is None
    assert found.error is not None
    assert found.error.code == "provider_not_configured"
    assert overview(None, {}).default == "demo"


def test_the_default_and_one_model_of_each_other_provider_are_tested() -> None:
    environment = {"ANTHROPIC_API_KEY": "k", "GROQ_API_KEY": "k", "OPENAI_COMPATIBLE_BASE_URL": "http://127.0.0.1:9"}
    assert models_to_test(overview("groq:own", environment)) == ["groq:own", f"anthropic:{NEWEST['anthropic']}"]
    assert models_to_test(overview("openai-compatible:own", environment))[0] == "openai-compatible:own"
    assert models_to_test(overview(None, {})) == []


async def tried(names: list[str], environment: Mapping[str, str]) -> list[ModelTest]:
    """What the test of these models gives."""
    clients = Clients(lambda: environment)
    try:
        return await try_models(names, clients, environment)
    finally:
        await clients.aclose()


@pytest.mark.parametrize("wire", WIRES)
async def test_a_model_that_answers_is_said_to_answer(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    asked: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> Reply:
        asked.append(body)
        return Reply(text="ok")

    name = WIRES[wire].model
    async with EveryWire(answer).serve() as url:
        [test] = await tried([name], addressed(name.partition(":")[0], url.removesuffix("/v1")))
    assert (test.model, test.ok, test.error) == (name, True, None)
    assert test.answered_by == name.partition(":")[2]
    assert len(asked) == 1
    assert len(str(asked[0])) < 500, "the request is tiny"


@pytest.mark.parametrize(
    ("conversation", "code"),
    [
        ("openai_chat_refused_401", "auth"),
        ("openai_chat_limited_429", "rate_limit"),
        ("openai_chat_model_not_found_404", "model_not_found"),
        ("anthropic_refused_401", "auth"),
        ("google_refused_400", "auth"),
    ],
)
async def test_a_model_that_does_not_answer_says_why_and_no_other_takes_its_place(
    conversation: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    refusal = CONVERSATIONS[conversation][0]
    wire = next(wire for prefix, wire in WIRES.items() if conversation.startswith(f"{prefix}_"))
    provider = wire.model.partition(":")[0]
    async with EveryWire(lambda _: refusal).serve() as url:
        environment = dict(addressed(provider, url.removesuffix("/v1")))
        [test] = await tried([wire.model], environment)
    assert not test.ok
    assert test.error is not None
    assert test.error.code == code, test.error
    assert test.error.fix
    for name, value in environment.items():
        assert not name.endswith("_KEY") or value not in test.model_dump_json()


async def test_models_that_cannot_be_asked_are_typed_errors_too() -> None:
    found = await tried(["nobody:m", "groq:m", "demo"], {})
    assert [test.error.code for test in found if test.error] == [
        "unknown_provider",
        "provider_not_configured",
        "no_model",
    ]
