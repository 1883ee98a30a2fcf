"""Model providers: which are available here, what models they have, and how a choice becomes a model."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic_ai.models import Model, infer_model

from agent.failures import ModelChoiceError

DEMO = "demo"
"""The model name of the demo planner, which is no language model."""


@dataclass(frozen=True, kw_only=True)
class ProviderInfo:
    """What is known of one provider.

    Attributes:
        name: PydanticAI's prefix.
        title: its name for people.
        variable: the environment variable that makes it available: its key, or its base URL when it needs none.
        models: candidates, newest first; the chain follows this order.
    """

    name: str
    title: str
    variable: str
    models: tuple[str, ...]


_OPENAI = ("gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-astra", "gpt-6-luna", "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna")

PROVIDERS: Mapping[str, ProviderInfo] = {
    info.name: info
    for info in (
        ProviderInfo(name="openai", title="OpenAI", variable="OPENAI_API_KEY", models=_OPENAI),
        ProviderInfo(name="openai-chat", title="OpenAI (Chat Completions)", variable="OPENAI_API_KEY", models=_OPENAI),
        ProviderInfo(
            name="anthropic",
            title="Anthropic",
            variable="ANTHROPIC_API_KEY",
            models=("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-4-8", "claude-sonnet-4-6"),
        ),
        ProviderInfo(
            name="google",
            title="Google",
            variable="GOOGLE_API_KEY",
            models=("gemini-4-argon", "gemini-4-carbon", "gemini-3.8-flash", "gemini-3.1-pro-preview"),
        ),
        ProviderInfo(
            name="groq",
            title="Groq",
            variable="GROQ_API_KEY",
            models=("openai/gpt-oss-120b", "qwen/qwen3.8-27b", "openai/gpt-oss-20b"),
        ),
        ProviderInfo(
            name="mistral",
            title="Mistral",
            variable="MISTRAL_API_KEY",
            models=("mistral-large-latest", "mistral-medium-latest", "mistral-small-latest"),
        ),
        ProviderInfo(name="ollama", title="Ollama", variable="OLLAMA_BASE_URL", models=("qwen3", "llama3.1")),
    )
}
"""Every provider that can be asked for by name, in the order in which a default is looked for."""


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """The models of one turn: a provider and its candidates, preferred first. The demo has none."""

    provider: str
    names: tuple[str, ...] = ()

    @property
    def is_demo(self) -> bool:
        """Whether the demo planner serves."""
        return self.provider == DEMO


def available(environment: Mapping[str, str] | None = None) -> list[ProviderInfo]:
    """The providers whose own rule is met, in the order of `PROVIDERS`."""
    values = os.environ if environment is None else environment
    return [info for info in PROVIDERS.values() if values.get(info.variable, "").strip()]


def choose(wanted: str | None, default: str | None, environment: Mapping[str, str] | None = None) -> ModelChoice:
    """The models that serve a request.

    Args:
        wanted: what the request names: `provider:name`, a provider alone, `demo`, or None.
        default: what the configuration names, in the same forms.
        environment: where keys are looked for; the process's own when None.

    Raises:
        ModelChoiceError: when the provider is unknown or not configured. The demo never steps in for it.
    """
    asked = (wanted or default or "").strip()
    if not asked:
        ready = available(environment)
        return ModelChoice(provider=ready[0].name, names=ready[0].models) if ready else ModelChoice(provider=DEMO)
    if asked == DEMO:
        return ModelChoice(provider=DEMO)
    provider, _, name = asked.partition(":")
    info = PROVIDERS.get(provider)
    if info is None:
        raise ModelChoiceError.of(
            "unknown_provider", f"Unknown provider: {provider[:60]}.", f"Use one of: {', '.join(PROVIDERS)}, {DEMO}."
        )
    ready = available(environment)
    if info not in ready:
        names = ", ".join(entry.name for entry in ready) or f"{DEMO} only"
        raise ModelChoiceError.of(
            "provider_not_configured",
            f"Provider '{provider}' is not configured. Available providers: {names}.",
            f"Set {info.variable}, or choose another provider.",
        )
    rest = tuple(model for model in info.models if model != name)
    return ModelChoice(provider=provider, names=(name, *rest) if name else info.models)


def connect(provider: str, name: str) -> Model:
    """A model of an available provider, with the SDK's own retries off: the chain decides what is tried again."""
    builder = _BUILDERS.get(provider)
    return builder(name) if builder else infer_model(f"{provider}:{name}")


def _openai(name: str) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIResponsesModel(name, provider=OpenAIProvider(openai_client=AsyncOpenAI(max_retries=0)))


def _openai_chat(name: str) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=AsyncOpenAI(max_retries=0)))


def _anthropic(name: str) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=AsyncAnthropic(max_retries=0)))


def _groq(name: str) -> Model:
    from groq import AsyncGroq
    from pydantic_ai.models.groq import GroqModel
    from pydantic_ai.providers.groq import GroqProvider

    return GroqModel(name, provider=GroqProvider(groq_client=AsyncGroq(max_retries=0)))


_BUILDERS: Mapping[str, Callable[[str], Model]] = {
    "openai": _openai,
    "openai-chat": _openai_chat,
    "anthropic": _anthropic,
    "groq": _groq,
}
