"""What the rounds of two sides say about each other: the median of their ratios, how sure it is, and a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import median
from typing import Literal

from evals.analysis.statistics import median_interval

CONFIDENCE = 0.99
"""Of the interval around a median ratio. High, because some twenty metrics are compared in one run."""
WIDE = 1.25
"""An interval that reaches a ratio above this says too little to be called no worse."""

Verdict = Literal["worse", "better", "no worse", "unclear"]


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """Ours to theirs, oriented so that a ratio above 1 is worse whatever the unit.

    Attributes:
        median: of the ratios of all rounds.
        low: the lower end of its interval.
        high: the upper end.
        verdict: what this says, given how far two processes of the same code may differ.
    """

    median: float
    low: float
    high: float
    verdict: Verdict


def compare(rounds: Sequence[tuple[float, float]], *, margin: float = 0.0, higher_is_better: bool = False) -> Ratio:
    """Compare two sides by the ratio of each round, whose noise hit both alike.

    Fewer than eight rounds have no interval of that confidence; the range of their ratios stands in its place, widened
    by its own factor to both sides, and a single round says nothing unless the figures are exact.

    Args:
        rounds: what each round measured, ours first; all above zero.
        margin: how far the median ratio of two processes of the same code may be from 1, as a share;
            0 when the figures are exact.
        higher_is_better: whether the figures are rates.

    Raises:
        ValueError: there is no round, or a figure is not above zero.
    """
    if not rounds or any(figure <= 0 for pair in rounds for figure in pair):
        raise ValueError(f"rounds of figures above zero are needed: {list(rounds)}")
    ratios = [theirs / ours if higher_is_better else ours / theirs for ours, theirs in rounds]
    low, high = interval(ratios) if len(ratios) > 1 or not margin else (0.0, inf)
    return Ratio(median=median(ratios), low=low, high=high, verdict=verdict(low, high, margin))


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """The confidence interval of the median ratio; the widened range of ratios that are too few for one."""
    found = median_interval(ratios, CONFIDENCE)
    if found is not None:
        return found
    least, most = min(ratios), max(ratios)
    return least * least / most, most * most / least


def verdict(low: float, high: float, margin: float) -> Verdict:
    """What an interval of ratios says: worse or better only when all of it is beyond the margin."""
    if low > 1 + margin:
        return "worse"
    if high < 1 / (1 + margin):
        return "better"
    return "no worse" if high <= WIDE else "unclear"
