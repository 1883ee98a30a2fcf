"""Model providers: which are available here, what models they have, and how a wish becomes a choice of models."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from agent.errors import ModelChoiceError

DEMO = "demo"
"""The model name of the demo planner, which is no language model."""


@dataclass(frozen=True, kw_only=True)
class ProviderInfo:
    """What is known of one provider.

    Attributes:
        name: PydanticAI's prefix.
        title: its name for people.
        ways: the sets of environment variables that make it available, the usual one first: one whole set is enough.
        also: variables that it reads, too, and does not need.
        models: candidates, newest first; the chain follows this order. None where only the account knows the names.
    """

    name: str
    title: str
    ways: tuple[tuple[str, ...], ...]
    also: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The variable that usually makes it available: its key, or its base URL when it needs none."""
        return self.ways[0][0]

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable that it reads, each once."""
        return tuple(dict.fromkeys((*(name for way in self.ways for name in way), *self.also)))

    def available(self, environment: Mapping[str, str]) -> bool:
        """Whether one of its ways is complete."""
        return any(all(environment.get(name, "").strip() for name in way) for way in self.ways)


_OPENAI = ("gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-astra", "gpt-6-luna", "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna")
_ANTHROPIC = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-4-8", "claude-sonnet-4-6")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")

_ALL = (
    ProviderInfo(name="openai", title="OpenAI", ways=(("OPENAI_API_KEY",),), also=("OPENAI_BASE_URL",), models=_OPENAI),
    ProviderInfo(
        name="openai-chat",
        title="OpenAI (Chat Completions)",
        ways=(("OPENAI_API_KEY",), ("OPENAI_BASE_URL",)),
        models=_OPENAI,
    ),
    ProviderInfo(
        name="anthropic",
        title="Anthropic",
        ways=(("ANTHROPIC_API_KEY",),),
        also=("ANTHROPIC_BASE_URL",),
        models=_ANTHROPIC,
    ),
    ProviderInfo(
        name="google",
        title="Google",
        ways=(("GOOGLE_API_KEY",), ("GEMINI_API_KEY",)),
        also=("GOOGLE_GEMINI_BASE_URL",),
        models=("gemini-4-argon", "gemini-4-carbon", "gemini-3.8-flash", "gemini-3.1-pro-preview"),
    ),
    ProviderInfo(
        name="groq",
        title="Groq",
        ways=(("GROQ_API_KEY",),),
        also=("GROQ_BASE_URL",),
        models=("qwen/qwen3.8-27b", "openai/gpt-oss-120b", "openai/gpt-oss-20b"),
    ),
    ProviderInfo(
        name="mistral",
        title="Mistral",
        ways=(("MISTRAL_API_KEY",),),
        also=("MISTRAL_BASE_URL",),
        models=("mistral-large-latest", "mistral-medium-latest", "mistral-small-latest"),
    ),
    ProviderInfo(
        name="openrouter",
        title="OpenRouter",
        ways=(("OPENROUTER_API_KEY",),),
        also=("OPENROUTER_BASE_URL",),
        models=("openai/gpt-6.1-sol", "anthropic/claude-opus-5.5", "google/gemini-4-argon", "openai/gpt-6-luna"),
    ),
    ProviderInfo(
        name="azure",
        title="Azure OpenAI",
        ways=(("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"),),
        also=("OPENAI_API_VERSION",),
    ),
    ProviderInfo(
        name="bedrock",
        title="Amazon Bedrock",
        ways=(
            *(("AWS_BEARER_TOKEN_BEDROCK", region) for region in _REGIONS),
            *(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", region) for region in _REGIONS),
        ),
        also=("AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
        models=tuple(f"global.anthropic.{name}" for name in _ANTHROPIC),
    ),
    ProviderInfo(
        name="ollama",
        title="Ollama",
        ways=(("OLLAMA_BASE_URL",),),
        also=("OLLAMA_API_KEY",),
        models=("qwen3", "llama3.1"),
    ),
    ProviderInfo(
        name="openai-compatible",
        title="OpenAI-compatible server",
        ways=(("OPENAI_COMPATIBLE_BASE_URL",),),
        also=("OPENAI_COMPATIBLE_API_KEY",),
    ),
)

PROVIDERS: Mapping[str, ProviderInfo] = {info.name: info for info in _ALL}
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
    return [info for info in PROVIDERS.values() if info.available(values)]


def choose(wanted: str | None, default: str | None, environment: Mapping[str, str] | None = None) -> ModelChoice:
    """The models that serve a request.

    Args:
        wanted: what the request names: `provider:name`, a provider alone, `demo`, or None.
        default: what the configuration names, in the same forms.
        environment: where keys are looked for; the process's own when None.

    Raises:
        ModelChoiceError: when the provider is unknown, not configured, or has no models to choose from. The demo never
            steps in for it.
    """
    asked = (wanted or default or "").strip()
    if not asked:
        ready = [info for info in available(environment) if info.models]
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
            f"Set {' and '.join(info.ways[0])}, or choose another provider.",
        )
    if not name and not info.models:
        raise ModelChoiceError.of(
            "model_needed",
            f"Only your account knows the models of {info.title}.",
            f"Name one, as {provider}:NAME.",
        )
    rest = tuple(model for model in info.models if model != name)
    return ModelChoice(provider=provider, names=(name, *rest) if name else info.models)
