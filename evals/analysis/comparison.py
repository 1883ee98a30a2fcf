"""Comparing two plays: attempts that newly fail or pass, and scores that changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from evals.analysis.tally import tally
from evals.attempt import attempt_label
from evals.score import EVALUATORS, Verdict


class Turned(BaseModel):
    """An attempt whose verdict changed.

    Attributes:
        why: the scores that are false now, or were.
    """

    model_config = ConfigDict(frozen=True)

    scenario: str
    repeat: int
    why: tuple[str, ...] = ()


class Moved(BaseModel):
    """A score of one attempt that changed."""

    model_config = ConfigDict(frozen=True)

    scenario: str
    repeat: int
    name: str
    before: bool | float | None
    after: bool | float | None


class Difference(BaseModel):
    """What changed from one play to another.

    Attributes:
        lost: attempts that passed before and not now, including missing and unscored ones.
        gained: attempts that pass now and did not before.
        added: attempts that only the second play has.
        missing: attempts that only the first play has.
        changed: attempts at scenarios that have changed; they are not compared.
        rates: for each evaluator, its mean before and now.
    """

    model_config = ConfigDict(frozen=True)

    lost: tuple[Turned, ...] = ()
    gained: tuple[Turned, ...] = ()
    moved: tuple[Moved, ...] = ()
    added: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    rates: dict[str, tuple[float | None, float | None]]

    @property
    def same(self) -> bool:
        """Whether nothing changed."""
        return not (self.lost or self.gained or self.moved or self.added or self.missing or self.changed)


class _Place(NamedTuple):
    scenario: str
    repeat: int

    def __str__(self) -> str:
        return attempt_label(*self)


def compare(before: Sequence[Verdict], after: Sequence[Verdict]) -> Difference:
    """Compare two plays, attempt by attempt; measurements such as costs are ignored."""
    old = {_Place(verdict.scenario, verdict.repeat): verdict for verdict in before}
    new = {_Place(verdict.scenario, verdict.repeat): verdict for verdict in after}
    both = sorted(place for place in old.keys() & new.keys() if old[place].digest == new[place].digest)
    lost = [place for place in both if old[place].passed is True and new[place].passed is not True]
    gained = [place for place in both if new[place].passed is True and old[place].passed is not True]
    missing = sorted(old.keys() - new.keys())
    first, second = tally(before).rates, tally(after).rates
    return Difference(
        lost=(
            *(Turned(**place._asdict(), why=_why(new[place])) for place in lost),
            *(Turned(**place._asdict(), why=("not played",)) for place in missing if old[place].passed is True),
        ),
        gained=tuple(Turned(**place._asdict(), why=_why(old[place])) for place in gained),
        moved=tuple(
            Moved(**place._asdict(), name=name, before=was, after=now)
            for place in both
            for name in EVALUATORS
            if (was := old[place].value(name)) != (now := new[place].value(name))
        ),
        added=tuple(str(place) for place in sorted(new.keys() - old.keys())),
        missing=tuple(str(place) for place in missing),
        changed=tuple(str(place) for place in sorted((old.keys() & new.keys()) - set(both))),
        rates={name: (first[name], second[name]) for name in EVALUATORS},
    )


def _why(verdict: Verdict) -> tuple[str, ...]:
    if verdict.harness_error is not None:
        return (f"harness: {verdict.harness_error}",)
    return tuple(f"{entry.name}: {entry.reason}" for entry in verdict.scores if entry.value is False)
