"""What a turn or a run used, and the sums of it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias

from flows.document import JsonObject

FLOW_MODELS: Final = "flows"
"""Stands for the models inside flows, whose names are not known here."""

NANO: Final = 1_000_000_000
"""Parts of a dollar in which costs are summed up."""


UsageKey: TypeAlias = tuple[str, str, str]
"""A user, a day and a model."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What was used, by one model or altogether.

    Attributes:
        input_tokens: what models read, what was cached included.
        output_tokens: what they wrote.
        cached_tokens: what they read from a cache.
        requests: requests that models answered.
        turns: turns of the assistant.
        runs: the user's runs of flows.
        nano_dollars: the known cost.
        unpriced: how often tokens were used at a price that is not known.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    requests: int = 0
    turns: int = 0
    runs: int = 0
    nano_dollars: int = 0
    unpriced: int = 0

    @classmethod
    def of(
        cls,
        *,
        input_tokens: int = 0,
        output_tokens: int = 0,
        cached_tokens: int = 0,
        requests: int = 0,
        turns: int = 0,
        runs: int = 0,
        cost: Decimal | None = None,
    ) -> Usage:
        """The usage of one turn or run; tokens without a cost have an unknown price.

        Args:
            input_tokens: what models read.
            output_tokens: what they wrote.
            cached_tokens: what they read from a cache.
            requests: requests that they answered.
            turns: 1 for a turn.
            runs: how many runs of the user's there were.
            cost: in US dollars; None when the price is not known.
        """
        return cls(
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cached_tokens=cached_tokens,
            requests=requests,
            turns=turns,
            runs=runs,
            nano_dollars=0 if cost is None else round(cost * NANO),
            unpriced=int(cost is None and input_tokens + output_tokens > 0),
        )

    def __add__(self, other: Usage) -> Usage:
        """The sum of both."""
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in COUNTS})

    @property
    def tokens(self) -> int:
        """Tokens in and out together."""
        return self.input_tokens + self.output_tokens

    @property
    def dollars(self) -> Decimal:
        """The cost as far as it is known."""
        return Decimal(self.nano_dollars) / NANO

    @property
    def cost(self) -> float | None:
        """The cost in US dollars; None when a part of it is not known."""
        return None if self.unpriced else float(self.dollars)

    def to_json(self) -> JsonObject:
        """The usage as a JSON object."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cached_tokens": self.cached_tokens,
            "requests": self.requests,
            "turns": self.turns,
            "runs": self.runs,
            "cost": self.cost,
        }


COUNTS: Final = (
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "requests",
    "turns",
    "runs",
    "nano_dollars",
    "unpriced",
)
"""The names of what is added up."""


@dataclass(frozen=True, kw_only=True)
class UsageSum:
    """What was used by one group of a report; what it is not grouped by is None.

    Attributes:
        day: the day in UTC, `YYYY-MM-DD`.
        model: the model, `provider:name`, or `flows` for the models inside flows.
        user: the user's id.
        usage: what was used.
    """

    day: str | None
    model: str | None
    user: str | None
    usage: Usage
