"""Model providers: which are configured, what models they have, and which serve a request."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from agent.errors import ModelChoiceError
from agent.turn.result import TurnError
from flows.fields.model_providers import prefix_of
from runtime.keychain.user_secrets import KeptSecrets

DEMO = "demo"
"""The model name of the demo planner, which is not a language model."""

FOLDER_VARIABLES = "WIREWRIGHT_FOLDER_VARIABLES"
"""The variable that names, separated by commas, the providers' variables that came from a folder's `.env` file."""

_ADDRESS_ENDS = ("_BASE_URL", "_ENDPOINT", "_RUNTIME")
_KEY_ENDS = ("_API_KEY", "_BEDROCK", "_KEY_ID", "_ACCESS_KEY", "_SESSION_TOKEN")


def is_address(name: str) -> bool:
    """Whether a variable of a provider holds its address."""
    return name.endswith(_ADDRESS_ENDS)


def is_key(name: str) -> bool:
    """Whether a variable of a provider holds a key."""
    return name.endswith(_KEY_ENDS)


def folder_variables(environment: Mapping[str, str]) -> frozenset[str]:
    """The variables of providers that came from the `.env` file of a folder.

    Args:
        environment: the environment variables.
    """
    return frozenset(filter(None, environment.get(FOLDER_VARIABLES, "").split(",")))


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
        """Whether one of its variable sets is complete, and no key of it would go to an address that a folder names."""
        complete = any(all(environment.get(name, "").strip() for name in names) for names in self.variable_sets)
        return complete and self.refused_address(environment) is None

    def refused_address(self, environment: Mapping[str, str]) -> str | None:
        """The variable of an address of a folder's `.env` that a key from elsewhere would go to; None if there is none.

        Args:
            environment: the environment variables.
        """
        of_folder = folder_variables(environment)
        address = next((name for name in self.variables if is_address(name) and name in of_folder), None)
        others = (name for name in self.variables if is_key(name) and name not in of_folder)
        return address if any(environment.get(name, "").strip() for name in others) else None


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
        ModelChoiceError: the provider is unknown, not configured, needs a model's name, or would send a key to an
            address that a folder names. The demo planner never replaces it.
    """
    wanted = (wanted or default or "").strip()
    configured, values = available(environment), os.environ if environment is None else environment
    if not wanted:
        named = (one for one in PROVIDERS.values() if one.models)
        usual = next((one for one in named if one in configured or one.refused_address(values)), None)
        _check_address(usual, values)
        return ModelChoice(provider=DEMO) if usual is None else ModelChoice(provider=usual.name, names=usual.models)
    if wanted == DEMO:
        return ModelChoice(provider=DEMO)
    given, _, name = wanted.partition(":")
    provider, name = prefix_of(given) or given.strip(), name.strip()
    info = PROVIDERS.get(provider)
    if info is None:
        raise ModelChoiceError.of("unknown_provider", f"Unknown provider: {provider[:60]}.", _use(configured))
    _check_address(info, values)
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


def address_refusal(info: ProviderInfo, environment: Mapping[str, str]) -> TurnError | None:
    """Why a provider's address is not used, and what to do; None if it is.

    Args:
        info: the provider.
        environment: the environment variables.
    """
    address = info.refused_address(environment)
    if address is None:
        return None
    keys = ", ".join(name for name in info.variables if is_key(name))
    return TurnError(
        code="address_refused",
        message=f"{address} in the .env file of this folder is not used: the key for {info.title} is from elsewhere, "
        "and is not sent where a folder says.",
        fix=f"Write the key ({keys}) into the same file and nowhere else, set {address} in the environment, "
        "or remove it from the file.",
    )


def _check_address(info: ProviderInfo | None, environment: Mapping[str, str]) -> None:
    refusal = None if info is None else address_refusal(info, environment)
    if refusal is not None:
        raise ModelChoiceError(refusal)


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
