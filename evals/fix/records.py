"""The record of a fix: a line of the file that `eval fix --out` writes and reports read."""

from __future__ import annotations

from typing import Self

from evals.attempt import Attempt, Identified
from evals.fix.search import MinimalFix
from tools.json_types import ActionJson


class Fix(Identified):
    """The smallest fix of one attempt.

    Attributes:
        actions: the changes of the resulting flow, in order.
        whole: how many changes lead all the way to the reference flow.
        proven: whether every smaller set of changes was tried.
    """

    actions: tuple[ActionJson, ...]
    whole: int
    tries: int
    proven: bool

    @classmethod
    def of(cls, attempt: Attempt, found: MinimalFix) -> Self:
        """The fix that was found for an attempt."""
        return cls(
            **attempt.key._asdict(),
            actions=found.actions,
            whole=found.whole,
            tries=found.tries,
            proven=found.proven,
        )
