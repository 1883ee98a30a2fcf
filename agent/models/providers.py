"""Model providers: which are configured, what models they have, and which serve a request."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from agent.errors import ModelChoiceError
from flows.fields.model_providers import prefix_of
from runtime.keychain.user_secrets import KeptSecrets

DEMO = "demo"
"""The model name of the demo planner, which is not a language model."""


@dataclass(frozen=True, kw_only=True)
class ProviderInfo:
    """A provider of language models.

    Attributes:
        name: PydanticAI's prefix.
        title: its display name.
        variable_sets: sets of environment variables, the usual one first; any complete set makes it available.
        optional_variables: other variables that it reads.
        models: its models, newest first, in the order of the chain; empty where only the account knows the names.
    """

    name: str
    title: str
    variable_sets: tuple[tuple[str, ...], ...]
    optional_variables: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The variable that usually makes it available: its key, or its base URL if it needs no key."""
        return self.variable_sets[0][0]

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable that it reads, each once."""
        return tuple(dict.fromkeys((*chain.from_iterable(self.variable_sets), *self.optional_variables)))

    def available(self, environment: Mapping[str, str]) -> bool:
        """Whether one of its variable sets is complete."""
        return any(all(environment.get(name, "").strip() for name in names) for names in self.variable_sets)


_OPENAI = ("gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-astra", "gpt-6-luna", "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna")
_ANTHROPIC = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-4-8", "claude-sonnet-4-6")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")

_ALL = (
    ProviderInfo(
        name="openai",
        title="OpenAI",
        variable_sets=(("OPENAI_API_KEY",),),
        optional_variables=("OPENAI_BASE_URL",),
        models=_OPENAI,
    ),
    ProviderInfo(
        name="openai-chat",
        title="OpenAI (Chat Completions)",
        variable_sets=(("OPENAI_API_KEY",), ("OPENAI_BASE_URL",)),
        models=_OPENAI,
    ),
    ProviderInfo(
        name="anthropic",
        title="Anthropic",
        variable_sets=(("ANTHROPIC_API_KEY",),),
        optional_variables=("ANTHROPIC_BASE_URL",),
        models=_ANTHROPIC,
    ),
    ProviderInfo(
        name="google",
        title="Google",
        variable_sets=(("GOOGLE_API_KEY",), ("GEMINI_API_KEY",)),
        optional_variables=("GOOGLE_GEMINI_BASE_URL",),
        models=("gemini-4-argon", "gemini-4-carbon", "gemini-3.8-flash", "gemini-3.1-pro-preview"),
    ),
    ProviderInfo(
        name="groq",
        title="Groq",
        variable_sets=(("GROQ_API_KEY",),),
        optional_variables=("GROQ_BASE_URL",),
        models=("qwen/qwen3.8-27b", "openai/gpt-oss-120b", "openai/gpt-oss-20b"),
    ),
    ProviderInfo(
        name="mistral",
        title="Mistral",
        variable_sets=(("MISTRAL_API_KEY",),),
        optional_variables=("MISTRAL_BASE_URL",),
        models=("mistral-large-latest", "mistral-medium-latest", "mistral-small-latest"),
    ),
    ProviderInfo(
        name="openrouter",
        title="OpenRouter",
        variable_sets=(("OPENROUTER_API_KEY",),),
        optional_variables=("OPENROUTER_BASE_URL",),
        models=("openai/gpt-6.1-sol", "anthropic/claude-opus-5.5", "google/gemini-4-argon", "openai/gpt-6-luna"),
    ),
    ProviderInfo(
        name="azure",
        title="Azure OpenAI",
        variable_sets=(("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"),),
        optional_variables=("OPENAI_API_VERSION",),
    ),
    ProviderInfo(
        name="bedrock",
        title="Amazon Bedrock",
        variable_sets=(
            *(("AWS_BEARER_TOKEN_BEDROCK", region) for region in _REGIONS),
            *(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", region) for region in _REGIONS),
        ),
        optional_variables=("AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
        models=tuple(f"global.anthropic.{name}" for name in _ANTHROPIC),
    ),
    ProviderInfo(
        name="ollama",
        title="Ollama",
        variable_sets=(("OLLAMA_BASE_URL",),),
        optional_variables=("OLLAMA_API_KEY",),
        models=("qwen3", "llama3.1"),
    ),
    ProviderInfo(
        name="openai-compatible",
        title="OpenAI-compatible server",
        variable_sets=(("OPENAI_COMPATIBLE_BASE_URL",),),
        optional_variables=("OPENAI_COMPATIBLE_API_KEY",),
    ),
)

PROVIDERS: Mapping[str, ProviderInfo] = {info.name: info for info in _ALL}
"""Every provider by name, in the order in which a default is chosen."""


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """The models of one turn: a provider and its candidates, preferred first. The demo has none.

    Attributes:
        provider: the provider's name.
        names: the names of the candidates.
        secrets: what the user kept when it was made, which the whole turn has; None for the environment alone.
    """

    provider: str
    names: tuple[str, ...] = ()
    secrets: KeptSecrets | None = field(default=None, repr=False, compare=False)

    @property
    def is_demo(self) -> bool:
        """Whether the demo planner serves the turn."""
        return self.provider == DEMO


def available(environment: Mapping[str, str] | None = None) -> list[ProviderInfo]:
    """The configured providers, in the order of `PROVIDERS`."""
    values = os.environ if environment is None else environment
    return [info for info in PROVIDERS.values() if info.available(values)]


def choose(wanted: str | None, default: str | None, environment: Mapping[str, str] | None = None) -> ModelChoice:
    """Choose the models that serve a request.

    Args:
        wanted: the request's model: `provider:name`, a provider alone, `demo`, or None.
        default: the configured model, in the same forms.
        environment: holds the keys; None uses the process's own.

    Raises:
        ModelChoiceError: the provider is unknown, not configured, or needs a model's name. The demo planner never
            replaces it.
    """
    wanted = (wanted or default or "").strip()
    configured = available(environment)
    if not wanted:
        usual = next((info for info in configured if info.models), None)
        return ModelChoice(provider=DEMO) if usual is None else ModelChoice(provider=usual.name, names=usual.models)
    if wanted == DEMO:
        return ModelChoice(provider=DEMO)
    given, _, name = wanted.partition(":")
    provider, name = prefix_of(given) or given.strip(), name.strip()
    info = PROVIDERS.get(provider)
    if info is None:
        raise ModelChoiceError.of("unknown_provider", f"Unknown provider: {provider[:60]}.", _use(configured))
    if info not in configured:
        names = ", ".join(entry.name for entry in configured) or f"{DEMO} only"
        raise ModelChoiceError.of(
            "provider_not_configured",
            f"Provider '{provider}' is not configured. Available providers: {names}.",
            f"Set {' and '.join(info.variable_sets[0])} ({_how_to_set(info)}), or choose another provider.",
        )
    if not name and not info.models:
        raise ModelChoiceError.of(
            "model_needed",
            f"{info.title} has no default model.",
            f"Name one, as {provider}:NAME.",
        )
    rest = tuple(model for model in info.models if model != name)
    return ModelChoice(provider=provider, names=(name, *rest) if name else info.models)


def usable_models(configured: Iterable[ProviderInfo]) -> list[str]:
    """One usable name for each configured provider, as `provider:name`; NAME where only the account knows the names.

    Args:
        configured: the configured providers.
    """
    return [f"{info.name}:{info.models[0] if info.models else 'NAME'}" for info in configured]


def _use(configured: Sequence[ProviderInfo]) -> str:
    """What to do instead of naming an unknown provider: only what is configured is proposed."""
    if configured:
        return f"Use one of: {', '.join(usable_models(configured))}."
    return "Set a provider's key, such as OPENAI_API_KEY; until then only demo serves."


def _how_to_set(info: ProviderInfo) -> str:
    """The command that sets a provider's usual variables."""
    given = " ".join(f"{name}=..." for name in info.variable_sets[0])
    return f"export {given}, or the same without export in a file .env"
