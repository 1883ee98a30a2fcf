"""The models that running flows may call: those of the providers that are configured here, or the assistant's own.

Loads PydanticAI only when a flow asks for a model, so that running a flow without any stays quick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from runtime.gateway.models import ASSISTANT, Models, ModelUnavailable

if TYPE_CHECKING:
    from pydantic_ai.embeddings import EmbeddingModel
    from pydantic_ai.models import Model

    from agent.models.providers import ModelChoice

Environment: TypeAlias = Callable[[], Mapping[str, str]]
"""Gives the variables that make providers available, as they are now."""

EMBEDDINGS = {
    "openai": "text-embedding-3-small",
    "openai-chat": "text-embedding-3-small",
    "google": "gemini-embedding-001",
    "mistral": "mistral-embed",
    "ollama": "nomic-embed-text",
}
"""The embedding model that stands for the assistant's own, by its provider."""

_SET_KEY = "Set a provider's key, such as OPENAI_API_KEY."


def flow_models(
    default: str | None,
    *,
    connect: Callable[[ModelChoice], Model] | None = None,
    own: Model | None = None,
    environment: Environment | None = None,
) -> Models:
    """The models of flows: by name behind the provider's chain, and what the configuration names as the assistant's.

    Args:
        default: `provider:name`, a provider, `demo`, or None for the first provider that is configured.
        connect: makes the model of a choice; keeps what it made.
        own: answers every call, whatever it names: a script, or a test's model.
        environment: gives the variables that make providers available; the process's own when None.
    """

    def values() -> Mapping[str, str] | None:
        return None if environment is None else environment()

    def resolve(name: str) -> Model:
        if own is not None:
            return own
        choice = _choice(name, default, values())
        return connect(choice) if connect else _connected(choice, values())

    def embed(name: str) -> EmbeddingModel:
        if own is not None:
            raise ModelUnavailable("The script that answers for models makes no embeddings.")
        return _embedding(name, default, values())

    return Models(resolve=resolve, embed=embed)


def _choice(name: str, default: str | None, environment: Mapping[str, str] | None) -> ModelChoice:
    from agent.errors import ModelChoiceError
    from agent.models.providers import choose

    try:
        choice = choose(None if name == ASSISTANT else name, default, environment)
    except ModelChoiceError as refused:
        error = refused.error
        code = "missing_key" if error.code == "provider_not_configured" else "missing_model"
        raise ModelUnavailable(error.message, error.fix, code=code) from None
    if choice.is_demo:
        raise ModelUnavailable("The demo is no language model, so it does not answer the models of a flow.", _SET_KEY)
    return choice


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
    if not wanted:
        raise ModelUnavailable(
            f"{provider} has no embedding model here.", "Choose an embedding model of another provider."
        )
    try:
        return connect_embedding(provider, wanted, environment)
    except ModelChoiceError as refused:
        raise ModelUnavailable(refused.error.message, refused.error.fix) from None
