"""The models that flows may call: those of the configured providers, and the assistant's own.

PydanticAI is imported only when a flow calls a model, so that other flows start quickly.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from runtime.gateway.models import ASSISTANT, Models, ModelUnavailable

if TYPE_CHECKING:
    from pydantic_ai.embeddings import EmbeddingModel
    from pydantic_ai.models import Model

    from agent.models.providers import ModelChoice

Environment: TypeAlias = Callable[[], Mapping[str, str]]
"""Returns the current environment variables."""

EMBEDDINGS = {
    "openai": "text-embedding-3-small",
    "openai-chat": "text-embedding-3-small",
    "google": "gemini-embedding-001",
    "mistral": "mistral-embed",
    "ollama": "nomic-embed-text",
}
"""The embedding model used as the assistant's own, by provider."""

_SET_KEY = "Set a provider's key, such as OPENAI_API_KEY."


def flow_models(
    default: str | None,
    *,
    connect: Callable[[ModelChoice], Model] | None = None,
    override: Model | None = None,
    environment: Environment | None = None,
) -> Models:
    """Return the models that flows may call, by name or as the assistant's own.

    Args:
        default: the assistant's own: `provider:name`, a provider, `demo`, or None for the first configured provider.
        connect: makes and caches the model of a choice.
        override: serves every call, whatever model it names, such as a script.
        environment: returns the environment variables; None uses the process's own.
    """

    def values() -> Mapping[str, str] | None:
        return None if environment is None else environment()

    def resolve(name: str) -> Model:
        if override is not None:
            return override
        choice = _choice(name, default, values())
        return connect(choice) if connect else _connected(choice, values())

    def embed(name: str) -> EmbeddingModel:
        if override is not None:
            raise ModelUnavailable("The scripted model does not provide embeddings.")
        return _embedding(name, default, values())

    own = None if override is not None or ":" not in (default or "") else default
    embedding = own and EMBEDDINGS.get(own.partition(":")[0])
    return Models(
        resolve=resolve,
        embed=embed,
        own=own,
        own_embedding=f"{own.partition(':')[0]}:{embedding}" if own and embedding else None,
    )


def has_default_model(default: str | None, environment: Environment) -> bool:
    """Whether a language model serves the model fields of flows that are left open.

    Args:
        default: the assistant's own model, as for `flow_models`.
        environment: returns the environment variables.
    """
    from agent.errors import AssistantUnavailable

    try:
        _choice(ASSISTANT, default, environment())
    except (ModelUnavailable, AssistantUnavailable):  # no model, or stored keys that cannot be read
        return False
    return True


def _choice(name: str, default: str | None, environment: Mapping[str, str] | None) -> ModelChoice:
    from agent.errors import ModelChoiceError
    from agent.models.providers import choose

    try:
        choice = choose(None if name == ASSISTANT else _served(name, default, environment), default, environment)
    except ModelChoiceError as refused:
        error = refused.error
        code = "missing_key" if error.code == "provider_not_configured" else "missing_model"
        raise ModelUnavailable(error.message, error.fix, code=code) from None
    if choice.is_demo:
        raise ModelUnavailable("The demo planner is not a language model, so it cannot serve flows.", _SET_KEY)
    return choice


def _served(name: str, default: str | None, environment: Mapping[str, str] | None) -> str:
    """The name with the API that serves it: flows call both of OpenAI's APIs `OpenAI`.

    Chat Completions serves a flow where the assistant itself uses it, or where only it is configured.
    """
    from agent.models.providers import PROVIDERS

    values = os.environ if environment is None else environment
    provider, _, model = name.partition(":")
    uses_chat = (default or "").partition(":")[0].strip() == "openai-chat" or not PROVIDERS["openai"].available(values)
    if provider == "openai" and uses_chat and PROVIDERS["openai-chat"].available(values):
        return f"openai-chat:{model}"
    return name


def _connected(choice: ModelChoice, environment: Mapping[str, str] | None) -> Model:
    from agent.models.chain import chain
    from agent.models.connections import connect

    return chain([connect(choice.provider, name, environment) for name in choice.names], choice.provider)


def _embedding(name: str, default: str | None, environment: Mapping[str, str] | None) -> EmbeddingModel:
    from agent.errors import ModelChoiceError
    from agent.models.connections import connect_embedding

    choice = _choice(name, default, environment)
    provider = choice.provider
    wanted = EMBEDDINGS.get(provider) if name == ASSISTANT else name.partition(":")[2]
    try:
        if wanted:
            return connect_embedding(provider, wanted, environment)
    except ModelChoiceError:  # it has no embeddings, whatever name it is asked for
        pass
    raise ModelUnavailable(f"{provider} does not provide embeddings.", _other_embeddings(provider, environment))


def _other_embeddings(provider: str, environment: Mapping[str, str] | None) -> str:
    """What to do when a provider has no embeddings: the models that are configured and have them, or how to get one."""
    from agent.models.providers import PROVIDERS

    if provider == "openai-compatible":
        return "Choose its embedding model by name in the Embedding Model: openai-compatible:NAME."
    values = os.environ if environment is None else environment
    offered = [
        f"{name}:{model}"
        for name, model in EMBEDDINGS.items()
        if name != "openai-chat" and PROVIDERS[name].available(values)
    ]
    if offered:
        return f"Choose an embedding model of a configured provider in the Embedding Model: {' or '.join(offered)}."
    able = ", ".join(name for name in EMBEDDINGS if name != "openai-chat")
    return f"Set the key of a provider that has embeddings ({able}), then choose its model in the Embedding Model."
