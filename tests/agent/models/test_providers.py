"""Choosing models: what is available, and what is refused."""

import pytest

from agent.errors import ModelChoiceError
from agent.models.connections import connect, connect_embedding
from agent.models.providers import PROVIDERS, ModelChoice, available, choose
from flows.fields.model_providers import STORED
from tests.shared.wires import addressed

KEYED = {"ANTHROPIC_API_KEY": "k", "OLLAMA_BASE_URL": "http://127.0.0.1:11434/v1"}


@pytest.mark.parity("base-error-no-provider")
def test_the_demo_serves_only_when_nothing_is_configured() -> None:
    assert choose(None, None, {}).is_demo
    assert choose(None, None, KEYED).provider == "anthropic"
    assert choose("demo", "anthropic", KEYED).is_demo


@pytest.mark.parity("base-term-enabled-provider", "base-term-model-provider", "ADR-014")
def test_a_provider_is_available_with_a_complete_variable_set() -> None:
    assert [info.name for info in available(KEYED)] == ["anthropic", "ollama"]
    assert available({"ANTHROPIC_API_KEY": "  "}) == []


def test_a_named_model_comes_first_and_the_provider_s_others_follow() -> None:
    newest, *_, last = PROVIDERS["anthropic"].models
    assert choose(f"anthropic:{last}", None, KEYED).names[:2] == (last, newest)
    assert choose("anthropic", None, KEYED).names == PROVIDERS["anthropic"].models
    assert choose(None, "anthropic:own-tune", KEYED).names[0] == "own-tune"


def test_the_requests_model_takes_precedence_over_the_default() -> None:
    assert choose("ollama", "anthropic", KEYED) == ModelChoice(provider="ollama", names=PROVIDERS["ollama"].models)


@pytest.mark.parametrize(
    ("wanted", "code", "words"),
    [
        ("nobody:model", "unknown_provider", "Unknown provider: nobody."),
        ("openai", "provider_not_configured", "'openai' is not configured. Available providers: anthropic, ollama."),
    ],
)
@pytest.mark.parity("base-error-provider-unavailable", "base-error-unknown-provider")
def test_an_unavailable_provider_is_refused_and_never_replaced(wanted: str, code: str, words: str) -> None:
    with pytest.raises(ModelChoiceError) as refused:
        choose(wanted, None, KEYED)
    assert refused.value.error.code == code
    assert words in refused.value.error.message
    assert refused.value.error.fix


@pytest.mark.parity("base-error-missing-key")
def test_a_refusal_names_the_variable_to_set() -> None:
    with pytest.raises(ModelChoiceError) as refused:
        choose("groq:any", None, {})
    assert "GROQ_API_KEY" in refused.value.error.fix
    assert "demo only" in refused.value.error.message


@pytest.mark.parametrize(
    ("environment", "names"),
    [
        ({"OPENAI_API_KEY": "k"}, ["openai", "openai-chat"]),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1"}, ["openai-chat"]),
        ({"GEMINI_API_KEY": "k"}, ["google"]),
        ({"OPENROUTER_API_KEY": "k"}, ["openrouter"]),
        ({"AZURE_OPENAI_API_KEY": "k"}, []),
        ({"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com"}, ["azure"]),
        ({"AWS_ACCESS_KEY_ID": "k", "AWS_REGION": "eu-west-1"}, []),
        ({"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "k", "AWS_REGION": "eu-west-1"}, ["bedrock"]),
        ({"AWS_BEARER_TOKEN_BEDROCK": "k", "AWS_DEFAULT_REGION": "eu-west-1"}, ["bedrock"]),
        ({"OPENAI_COMPATIBLE_BASE_URL": "http://127.0.0.1:8000/v1"}, ["openai-compatible"]),
    ],
)
def test_every_provider_has_variables(environment: dict[str, str], names: list[str]) -> None:
    assert [info.name for info in available(environment)] == names


def test_a_provider_whose_models_only_the_account_knows_needs_a_name() -> None:
    environment = {"OPENAI_COMPATIBLE_BASE_URL": "http://127.0.0.1:8000/v1"}
    assert choose("openai-compatible:granite", None, environment).names == ("granite",)
    assert choose(None, None, environment).is_demo
    with pytest.raises(ModelChoiceError) as refused:
        choose("openai-compatible", None, environment)
    assert refused.value.error.code == "model_needed"


def test_candidates_are_listed_once() -> None:
    for info in PROVIDERS.values():
        assert len(set(info.models)) == len(info.models)


def test_every_provider_is_connected_to_its_configured_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    for name, info in PROVIDERS.items():
        environment = addressed(name, "http://127.0.0.1:9")
        assert info.available(environment)
        model = connect(name, "x/m" if name == "openrouter" else "m", environment)
        assert str(model.base_url).startswith("http://127.0.0.1:9")


def test_a_name_that_a_provider_cannot_have_is_refused() -> None:
    with pytest.raises(ModelChoiceError) as refused:
        connect("openrouter", "no-slash", {"OPENROUTER_API_KEY": "k"})
    assert refused.value.error.code == "unknown_model"
    with pytest.raises(ModelChoiceError) as refused:
        connect_embedding("anthropic", "any", {"ANTHROPIC_API_KEY": "k"})
    assert refused.value.error.code == "no_embeddings"


def test_a_provider_may_be_written_as_langflow_names_it() -> None:
    environment = {"GOOGLE_API_KEY": "k", "AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_ENDPOINT": "https://x.example"}
    assert choose("Google Generative AI:gemini-x", None, environment).names[0] == "gemini-x"
    assert choose("Azure OpenAI:own", None, environment) == ModelChoice(provider="azure", names=("own",))


def test_every_provider_has_a_name_to_store_in_a_flow() -> None:
    assert set(PROVIDERS) <= set(STORED)


def test_an_error_proposes_only_what_is_configured() -> None:
    with pytest.raises(ModelChoiceError) as refused:
        choose("nobody:model", None, {**KEYED, "OPENAI_COMPATIBLE_BASE_URL": "http://127.0.0.1:8000/v1"})
    newest = PROVIDERS["anthropic"].models[0]
    assert refused.value.error.fix == f"Use one of: anthropic:{newest}, ollama:qwen3, openai-compatible:NAME."
    with pytest.raises(ModelChoiceError) as refused:
        choose("nobody:model", None, {})
    assert refused.value.error.fix.startswith("Set a provider's key")
