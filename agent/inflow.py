"""The models that running flows may call: those of the providers that are configured here, or the assistant's own.

Loads PydanticAI only when a flow asks for a model, so that running a flow without any stays quick.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from runtime.gateway.access import ASSISTANT, Models, NoModel

if TYPE_CHECKING:
    from pydantic_ai.embeddings import EmbeddingModel
    from pydantic_ai.models import Model

    from agent.providers import ModelChoice

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
    default: str | None, *, connect: Callable[[ModelChoice], Model] | None = None, own: Model | None = None
) -> Models:
    """The models of flows: by name behind the provider's chain, and what the configuration names as the assistant's.

    Args:
        default: `provider:name`, a provider, `demo`, or None for the first provider that is configured.
        connect: makes the model of a choice; keeps what it made.
        own: answers every call, whatever it names: a script, or a test's model.
    """

    def resolve(name: str) -> Model:
        return own or (connect or _connected)(_choice(name, default))

    def embed(name: str) -> EmbeddingModel:
        if own is not None:
            raise NoModel("The script that answers for models makes no embeddings.")
        return _embedding(name, default)

    return Models(resolve=resolve, embed=embed)


def _choice(name: str, default: str | None) -> ModelChoice:
    from agent.failures import ModelChoiceError
    from agent.providers import choose

    try:
        choice = choose(None if name == ASSISTANT else name, default)
    except ModelChoiceError as refused:
        error = refused.error
        code = "missing_key" if error.code == "provider_not_configured" else "missing_model"
        raise NoModel(error.message, error.fix, code=code) from None
    if choice.is_demo:
        raise NoModel("The demo is no language model, so it does not answer the models of a flow.", _SET_KEY)
    return choice


def _connected(choice: ModelChoice) -> Model:
    from agent.chain import chain
    from agent.providers import connect

    return chain([connect(choice.provider, name) for name in choice.names])


def _embedding(name: str, default: str | None) -> EmbeddingModel:
    from pydantic_ai.embeddings import infer_embedding_model
    from pydantic_ai.exceptions import UserError

    choice = _choice(name, default)
    provider = choice.provider
    wanted = EMBEDDINGS.get(provider) if name == ASSISTANT else name.partition(":")[2]
    if not wanted:
        raise NoModel(f"{provider} has no embedding model here.", "Choose an embedding model of another provider.")
    try:
        return infer_embedding_model(f"{'openai' if provider == 'openai-chat' else provider}:{wanted}")
    except (ValueError, UserError):  # PydanticAI knows no embeddings of this provider
        raise NoModel(f"{provider} makes no embeddings.", "Choose an embedding model of another provider.") from None
