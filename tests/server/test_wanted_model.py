"""The model that a request names by `provider` and `model_name`, in every form that clients send."""

import pytest

from flows.catalogue import Catalogue
from server.requests.model import wanted_model
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("provider", "name", "wanted"),
    [
        (None, None, None),
        ("OpenAI", None, "openai"),
        ("OpenAI", "gpt-x", "openai:gpt-x"),
        ("openai", "openai:gpt-x", "openai:gpt-x"),
        ("Google Generative AI", "gemini-x", "google:gemini-x"),
        ("Azure OpenAI", "my-deployment", "azure:my-deployment"),
        ("bedrock", "global.anthropic.claude-x:1", "bedrock:global.anthropic.claude-x:1"),
        ("OpenRouter", "openai/gpt-x", "openrouter:openai/gpt-x"),
        ("openai-compatible", "granite", "openai-compatible:granite"),
        ("ollama", "mistral:7b", "ollama:mistral:7b"),
        (None, "bedrock:claude-x", "bedrock:claude-x"),
        (None, "openai-compatible:granite", "openai-compatible:granite"),
        (None, "Azure OpenAI:d", "azure:d"),
        ("demo", None, "demo"),
        (None, "demo", "demo"),
    ],
)
async def test_provider_and_name_make_one_model(
    provider: str | None, name: str | None, wanted: str | None, catalogue: Catalogue
) -> None:
    assert await wanted_model(assistant(catalogue), provider, name) == wanted


async def test_a_name_alone_is_one_of_the_default_provider(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert await wanted_model(assistant(catalogue), None, "claude-x") == "anthropic:claude-x"
