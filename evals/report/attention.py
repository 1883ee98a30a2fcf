"""Where a play fails and what to open next: the first screen of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from evals.report.fixes import SmallestFix
from evals.score import Verdict

LEAST = 3
"""How many attempts a group has at least to be named: fewer say little."""
MOST = 6
"""How many entries a list has at most."""
_GRADES = ("nodes", "edges", "parameters", "values", "edit_precision", "edit_recall")


class ScoredAttempt(Protocol):
    """What attention needs to know of one attempt."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The scenario's."""
        ...

    @property
    def verdict(self) -> Verdict:
        """The whole verdict."""
        ...

    @property
    def smallest_fix(self) -> SmallestFix | None:
        """Its smallest fix."""
        ...


@dataclass(frozen=True)
class Group:
    """Attempts with a tag of which some fail."""

    name: str
    failed: int
    scored: int


@dataclass(frozen=True)
class Attention:
    """Where a play fails.

    Attributes:
        by: the deciding scores that are false, with in how many attempts, most first.
        groups: the tags of which the largest share fails, worst first.
        nearest: the numbers of the failed attempts that are nearest to passing, nearest first.
    """

    failed: int
    scored: int
    by: tuple[tuple[str, int], ...]
    groups: tuple[Group, ...]
    nearest: tuple[int, ...]


def attention(attempts: Sequence[ScoredAttempt]) -> Attention:
    """Find where a play fails.

    Nearest to passing is what a smallest fix of few changes mends, then what few deciding scores fail, then what is
    graded highest.

    Args:
        attempts: every attempt, in the order of the report.
    """
    scored = [one for one in attempts if one.verdict.passed is not None]
    failed = [number for number, one in enumerate(attempts) if one.verdict.passed is False]
    by = Counter(score.name for number in failed for score in attempts[number].verdict.failures)
    tags = sorted({tag for one in scored for tag in one.tags})
    groups = [
        Group(tag, sum(one.verdict.passed is False for one in mine), len(mine))
        for tag in tags
        if len(mine := [one for one in scored if tag in one.tags]) >= LEAST
    ]
    worst = sorted((one for one in groups if one.failed), key=lambda one: (-one.failed / one.scored, -one.failed))
    return Attention(
        failed=len(failed),
        scored=len(scored),
        by=tuple(sorted(by.items(), key=lambda item: (-item[1], item[0]))[:MOST]),
        groups=tuple(worst[:MOST]),
        nearest=tuple(sorted(failed, key=lambda number: _distance(attempts[number]))[:MOST]),
    )


def _distance(one: ScoredAttempt) -> tuple[float, int, float]:
    grades = [float(value) for name in _GRADES if (value := one.verdict.value(name)) is not None]
    changes = len(one.smallest_fix.changes) if one.smallest_fix is not None and one.smallest_fix.fits else float("inf")
    return changes, len(one.verdict.failures), -fmean(grades) if grades else 0.0
