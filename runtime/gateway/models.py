"""The models that a run may call, and its budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pydantic_ai.embeddings import EmbeddingModel
    from pydantic_ai.models import Model

ASSISTANT = "assistant"
"""The name of the assistant's model, which nodes without a chosen model call."""

Resolve: TypeAlias = "Callable[[str], Model]"
"""From a name (`provider:model`, a model alone, or `ASSISTANT`) to the model; raises `ModelUnavailable`."""

ResolveEmbedding: TypeAlias = "Callable[[str], EmbeddingModel]"
"""The same for embedding models."""


class ModelUnavailable(Exception):
    """A model that a flow calls is unavailable.

    Attributes:
        code: `missing_model`, or `missing_key` if its provider is known but not configured.
        message: why, for the user.
        fix: what to do about it.
    """

    def __init__(self, message: str, fix: str = "", *, code: Literal["missing_model", "missing_key"] = "missing_model"):
        super().__init__(message)
        self.code: Literal["missing_model", "missing_key"] = code
        self.message = message
        self.fix = fix


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What one run may use: model calls, and tokens in and out together.

    A call that starts within the budget is finished, so the tokens may exceed it by those of active calls.
    """

    calls: int = 200
    tokens: int = 2_000_000


@dataclass(frozen=True, kw_only=True)
class Models:
    """The models of a run.

    Attributes:
        resolve: returns the model of a name.
        embed: returns the embedding model of a name; None if there are none.
        budget: what the run may use.
        own: the assistant's own model as `provider:name`, if a flow can name it.
        own_embedding: its embedding model in the same form.
    """

    resolve: Resolve
    embed: ResolveEmbedding | None = None
    budget: Budget = field(default_factory=Budget)
    own: str | None = None
    own_embedding: str | None = None

    def embedding(self, name: str) -> EmbeddingModel:
        """The embedding model of a name.

        Raises:
            ModelUnavailable: it is not available.
        """
        if self.embed is None:
            raise ModelUnavailable(
                "This installation does not provide embeddings.", "Use components that need no embeddings."
            )
        return self.embed(name)
