"""Choosing models: what is available, and what is refused."""

import pytest

from agent.failures import ModelChoiceError
from agent.providers import PROVIDERS, ModelChoice, available, choose

KEYED = {"ANTHROPIC_API_KEY": "k", "OLLAMA_BASE_URL": "http://127.0.0.1:11434/v1"}


def test_the_demo_serves_only_when_nothing_is_configured() -> None:
    assert choose(None, None, {}).is_demo
    assert choose(None, None, KEYED).provider == "anthropic"
    assert choose("demo", "anthropic", KEYED).is_demo


def test_a_provider_is_available_by_its_own_rule() -> None:
    assert [info.name for info in available(KEYED)] == ["anthropic", "ollama"]
    assert available({"ANTHROPIC_API_KEY": "  "}) == []


def test_a_named_model_comes_first_and_the_provider_s_others_follow() -> None:
    newest, *_, last = PROVIDERS["anthropic"].models
    assert choose(f"anthropic:{last}", None, KEYED).names[:2] == (last, newest)
    assert choose("anthropic", None, KEYED).names == PROVIDERS["anthropic"].models
    assert choose(None, "anthropic:own-tune", KEYED).names[0] == "own-tune"


def test_the_request_s_wish_comes_before_the_default() -> None:
    assert choose("ollama", "anthropic", KEYED) == ModelChoice(provider="ollama", names=PROVIDERS["ollama"].models)


@pytest.mark.parametrize(
    ("wanted", "code", "words"),
    [
        ("nobody:model", "unknown_provider", "Unknown provider: nobody."),
        ("openai", "provider_not_configured", "'openai' is not configured. Available providers: anthropic, ollama."),
    ],
)
def test_a_provider_that_cannot_be_had_is_refused_and_never_replaced(wanted: str, code: str, words: str) -> None:
    with pytest.raises(ModelChoiceError) as refused:
        choose(wanted, None, KEYED)
    assert refused.value.error.code == code
    assert words in refused.value.error.message
    assert refused.value.error.fix


def test_a_refusal_names_the_variable_to_set() -> None:
    with pytest.raises(ModelChoiceError) as refused:
        choose("groq:any", None, {})
    assert "GROQ_API_KEY" in refused.value.error.fix
    assert "demo only" in refused.value.error.message
