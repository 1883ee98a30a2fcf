"""The cost of attempts in US dollars: PydanticAI prices every response by the list of `genai-prices`.

An unknown price is None, never zero; and a sum with an unknown part is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from genai_prices import Usage, calc_price
from pydantic_ai.messages import ModelResponse

from agent.models.providers import PROVIDERS
from agent.turn.result import TurnResult
from evals.attempt import Attempt

FLOW = "flow"
"""The phase of the models inside the flows: what they use is the flow's, not the player's."""


class Ceiling:
    """The most that a play may cost: once it is reached, no further attempt begins.

    Attempts that have begun continue, so a play of concurrency N may exceed it by the cost of N attempts.
    """

    def __init__(self, dollars: float) -> None:
        self.dollars = dollars
        self.spent = 0.0

    def count(self, attempt: Attempt) -> None:
        """Add the cost of an attempt, as far as it is known."""
        self.spent += float(sum(part for turn in attempt.turns for part in _known(turn)))

    @property
    def reached(self) -> bool:
        """Whether no further attempt may begin."""
        return self.spent >= self.dollars


def cost(attempt: Attempt) -> float | None:
    """What the models that played cost, in US dollars; None if nothing was counted or a price is unknown."""
    parts = [part for turn in attempt.turns for part in _parts(turn)]
    known = [part for part in parts if part is not None]
    return float(sum(known)) if known and len(known) == len(parts) else None


def total(costs: Iterable[float | None]) -> float | None:
    """The sum of costs; None if one of them is unknown, or there are none."""
    found = list(costs)
    known = [one for one in found if one is not None]
    return sum(sorted(known)) if known and len(known) == len(found) else None


def priced(model: str) -> bool:
    """Whether the list has a price for a model `provider:name`, or for all candidates of a provider."""
    provider, _, name = model.partition(":")
    info = PROVIDERS.get(provider)
    names = (name,) if name else () if info is None else info.models
    return bool(names) and all(_listed(provider, one) for one in names)


def _listed(provider: str, name: str) -> bool:
    try:
        calc_price(Usage(input_tokens=1, output_tokens=1), model_ref=name, provider_id=provider)
    except LookupError:
        return False
    return True


def _known(turn: TurnResult) -> list[Decimal]:
    return [usage.cost for phase, usage in turn.usage.items() if phase != FLOW and usage.cost is not None]


def _parts(turn: TurnResult) -> list[Decimal | None]:
    """The cost of each phase that used tokens; unknown if any response of the turn has no price."""
    used = [usage for phase, usage in turn.usage.items() if phase != FLOW]
    phases = [usage for usage in used if usage.total_tokens or usage.cost is not None]
    answers = [message.usage for message in turn.messages if isinstance(message, ModelResponse)]
    unknown = bool(phases) and any(usage.total_tokens and usage.cost is None for usage in answers)
    return [None if unknown else usage.cost for usage in phases]
