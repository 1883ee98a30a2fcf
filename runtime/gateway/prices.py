"""What the models that a flow names cost, as far as their prices are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.gateway.model_fields import point_at_gateway
from runtime.gateway.models import ASSISTANT
from runtime.guard.admission import runnable
from runtime.results import RunFailed

if TYPE_CHECKING:
    from pydantic_ai import ModelResponse
    from pydantic_ai.embeddings import EmbeddingResult

Price = Callable[[float, float], "float | None"]
"""From tokens in and out to US dollars; None when the price is not known."""


@dataclass
class _Names:
    """Notes what the models of a flow are called, and calls none."""

    allowed_models: set[str] = field(default_factory=set[str])

    def key(self, node: str) -> str:
        """No key."""
        return node

    def model(self, name: str) -> None:
        """No model."""

    def embedding(self, name: str) -> None:
        """No model."""


def price_of(flow: Flow, catalogue: Catalogue, default: str | None) -> Price:
    """What tokens of a flow cost. Of several models nobody knows which one will use how many: the dearest counts.

    Args:
        flow: the flow.
        catalogue: the component types.
        default: the assistant's own model, `provider:name`, which nodes without a chosen model call.
    """
    names = _Names()
    try:
        point_at_gateway(runnable(flow), catalogue, names, "")
    except RunFailed:  # it would not run either
        return _unknown
    models = {default or "" if name == ASSISTANT else name for name in names.allowed_models}

    def price(read: float, written: float) -> float | None:
        if not read + written:
            return 0.0
        known = [_dollars(model, read, written) for model in models]
        found = [one for one in known if one is not None]
        return max(found) if found and len(found) == len(known) else None

    return price


def _unknown(read: float, written: float) -> None:
    del read, written


def _dollars(model: str, read: float, written: float) -> float | None:
    from pydantic_ai import ModelResponse, RequestUsage

    provider, _, name = model.partition(":")
    if not (provider and name):
        return None
    usage = RequestUsage(input_tokens=round(read), output_tokens=round(written))
    return cost_of(ModelResponse(parts=[], usage=usage, model_name=name, provider_name=provider))


def cost_of(answer: ModelResponse | EmbeddingResult) -> float | None:
    """What an answer cost in US dollars, as its provider says or by the list of prices; None when that is not known."""
    if answer.usage.cost is not None:
        return float(answer.usage.cost)
    if not answer.model_name:
        return None
    try:
        return float(answer.cost().total_price)
    except (LookupError, ValueError):  # no price is known of that model, or not how many tokens it was
        return None
