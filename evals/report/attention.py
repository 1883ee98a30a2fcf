"""Where a play fails, and which attempts to look at first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Protocol

from evals.report.fixes import SmallestFix
from evals.score import Verdict

LEAST = 3
"""The fewest attempts of a group that is listed; fewer mean little."""
MOST = 6
"""The most entries of a list."""
_GRADES = ("nodes", "edges", "parameters", "values", "edit_precision", "edit_recall")


class ScoredAttempt(Protocol):
    """The properties of an attempt that decide where to look."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The scenario's tags."""
        ...

    @property
    def verdict(self) -> Verdict:
        """Its verdict."""
        ...

    @property
    def smallest_fix(self) -> SmallestFix | None:
        """Its smallest fix."""
        ...


@dataclass(frozen=True)
class Group:
    """The attempts with a tag, some of which fail."""

    name: str
    failed: int
    scored: int


@dataclass(frozen=True)
class Attention:
    """Where a play fails.

    Attributes:
        by: the deciding scores that are false, with their number of attempts, most first.
        groups: the tags with the largest share of failures, worst first.
        nearest: the numbers of the failed attempts that are nearest to passing, nearest first.
    """

    failed: int
    scored: int
    by: tuple[tuple[str, int], ...]
    groups: tuple[Group, ...]
    nearest: tuple[int, ...]


def attention(attempts: Sequence[ScoredAttempt]) -> Attention:
    """Find where a play fails.

    Attempts are nearest to passing by the number of changes of their smallest fix, then by the number of false deciding
    scores, then by their grades.

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
