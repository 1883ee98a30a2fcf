"""The models of flows: which name leads to which model, and what a flow is told when there is none."""

from collections.abc import Callable

import pytest
from pydantic_ai.models import Model
from pydantic_ai.models.test import TestModel

from agent.models.flow_models import flow_models
from agent.models.providers import ModelChoice
from agent.models.scripted import call
from flows.catalogue import Catalogue
from runtime.gateway.models import ASSISTANT, Budget, ModelUnavailable
from runtime.results import ModelUsage, RunMetrics, RunResult
from scripts.scripted_provider import Reply
from tests.shared.flow_texts import ECHO
from tests.shared.provider_turns import provider_turns
from tests.shared.scripted_assistant import ScriptedModel, assistant, play
from tests.shared.stand_ins import StandInRunner
from tools.verify import PROBE_BUDGET

pytestmark = pytest.mark.anyio


@pytest.fixture
def connected() -> tuple[list[ModelChoice], Callable[[ModelChoice], Model]]:
    """A way to connect that remembers what was chosen."""
    choices: list[ModelChoice] = []

    def connect(choice: ModelChoice) -> Model:
        choices.append(choice)
        return TestModel()

    return choices, connect


Connected = tuple[list[ModelChoice], Callable[[ModelChoice], Model]]


def test_a_name_resolves_to_its_model_and_the_providers_chain(
    connected: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    choices, connect = connected
    flow_models(None, connect=connect).resolve("anthropic:claude-x")
    [choice] = choices
    assert (choice.provider, choice.names[0]) == ("anthropic", "claude-x")
    assert len(choice.names) > 1


def test_the_assistants_model_is_the_configured_one(connected: Connected, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    choices, connect = connected
    flow_models("anthropic:claude-x", connect=connect).resolve(ASSISTANT)
    flow_models(None, connect=connect).resolve(ASSISTANT)
    assert [choice.provider for choice in choices] == ["anthropic", "openai"]


@pytest.mark.parametrize(
    ("name", "default", "code", "words"),
    [
        (ASSISTANT, None, "missing_model", "is not a language model"),
        (ASSISTANT, "demo", "missing_model", "is not a language model"),
        ("demo", None, "missing_model", "is not a language model"),
        ("openai:gpt-x", None, "missing_key", "not configured"),
        ("watsonx:granite", None, "missing_model", "Unknown provider"),
    ],
)
def test_an_unavailable_model_is_an_error_and_never_served_by_the_demo(
    name: str, default: str | None, code: str, words: str
) -> None:
    models = flow_models(default)
    for ask in (models.resolve, models.embedding):
        with pytest.raises(ModelUnavailable, match=words) as caught:
            ask(name)
        assert caught.value.code == code
        assert caught.value.fix


@pytest.mark.parametrize(
    ("default", "environment", "served"),
    [
        (None, {"OPENAI_API_KEY": "k"}, "openai"),
        ("openai-chat:m", {"OPENAI_API_KEY": "k"}, "openai-chat"),
        (None, {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, "openai-chat"),
        ("openai-chat:m", {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, "openai-chat"),
    ],
)
def test_what_flows_call_openai_is_served_by_the_api_that_is_configured(
    default: str | None, environment: dict[str, str], served: str, connected: Connected
) -> None:
    choices, connect = connected
    flow_models(default, connect=connect, environment=lambda: environment).resolve("openai:gpt-x")
    assert [(choice.provider, choice.names[0]) for choice in choices] == [(served, "gpt-x")]


def test_an_override_serves_every_model_but_no_embeddings() -> None:
    script = TestModel()
    models = flow_models(None, override=script)
    assert models.resolve("openai:gpt-x") is models.resolve(ASSISTANT) is script
    with pytest.raises(ModelUnavailable):
        models.embedding(ASSISTANT)


def test_embeddings_come_from_the_provider_of_their_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    models = flow_models(None)
    named, own = models.embedding("openai:text-embedding-x"), models.embedding(ASSISTANT)
    assert isinstance(named, OpenAIEmbeddingModel)
    assert (named.model_name, own.model_name) == ("text-embedding-x", "text-embedding-3-small")
    for name in ("anthropic:claude-x", ASSISTANT):
        with pytest.raises(ModelUnavailable, match="embedding"):
            flow_models("anthropic").embedding(name)


@pytest.mark.parametrize(
    ("default", "configured", "remedy"),
    [
        (
            "anthropic",
            ("OPENAI_API_KEY",),
            "configured provider in the Embedding Model: openai:text-embedding-3-small.",
        ),
        (
            "anthropic",
            ("GOOGLE_API_KEY", "MISTRAL_API_KEY"),
            "google:gemini-embedding-001 or mistral:mistral-embed.",
        ),
        ("anthropic", (), "Set the key of a provider that has embeddings (openai, google, mistral, ollama)"),
        ("openai-compatible:m", ("OPENAI_COMPATIBLE_BASE_URL",), "openai-compatible:NAME"),
    ],
)
def test_a_provider_without_embeddings_says_which_configured_one_has_them(
    default: str, configured: tuple[str, ...], remedy: str
) -> None:
    environment = {"ANTHROPIC_API_KEY": "k", **dict.fromkeys(configured, "http://127.0.0.1:9/v1")}
    with pytest.raises(ModelUnavailable, match="does not provide embeddings") as caught:
        flow_models(default, environment=lambda: environment).embedding(ASSISTANT)
    assert caught.value.code == "missing_model"
    assert remedy in caught.value.fix


@pytest.mark.parity("ADR-MCP-043", "term-agent-run-context", "term-usage-rollup")
async def test_the_flows_of_a_turn_call_the_model_of_that_turn_and_are_counted(catalogue: Catalogue) -> None:
    script = ScriptedModel("build_flow", call("build_flow", 1, spec=ECHO), call("run_flow", 2, input="hi"), "Done.")
    used = ModelUsage(input_tokens=5, output_tokens=2, calls=1)
    run = RunResult(run_id="r", output="hi", outputs={}, metrics=RunMetrics(seconds=0.1), usage={"M-1": used})
    runner = StandInRunner(results=[run])
    result = await play(assistant(catalogue, script, runner), "go")
    assert (result.usage["flow"].requests, result.usage["flow"].input_tokens) == (2, 10)
    verified, asked = runner.models
    assert verified is not None
    assert asked is not None
    assert (verified.budget, asked.budget) == (PROBE_BUDGET, Budget())
    assert asked.resolve("openai:gpt-x") is script


MODEL_FLOW = """name: Talk
nodes:
  chat: ChatInput
  model: LanguageModelComponent
  answer: ChatOutput
edges:
  chat.message -> model.input_value
  model.text_output -> answer.input_value
"""


async def test_what_is_built_without_a_model_stores_the_assistants_own(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = (
        Reply(text='{"intent": "build_flow"}'),
        Reply(calls=(("build_flow", {"spec": MODEL_FLOW}),)),
        Reply(text="Built: chat input, model, chat output."),
    )
    async with provider_turns("openai_chat", catalogue, monkeypatch, *replies) as turns:
        _, result = await turns.take("Build a flow that answers with a model")
    assert result.proposal is not None, result.error
    [model] = [node for node in result.proposal.nodes if node.type == "LanguageModelComponent"]
    assert model.value("model") == [{"provider": "OpenAI", "name": "gpt-6.1-sol"}]
    assert [fault.code for fault in result.faults] == []
