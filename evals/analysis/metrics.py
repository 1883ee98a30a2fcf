"""The metrics of a play, their values by scenario, and two plays compared by them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from evals.analysis.statistics import Comparison, compare_paired, holm
from evals.score import EVALUATORS, Verdict

PASSED = "passed"
"""The metric that says whether an attempt passed."""

METRICS = (PASSED, *EVALUATORS)
"""Every metric: whether an attempt passed, then each evaluator's score."""

DECLARED = (PASSED, "resolved", "honest", "preserved")
"""The metrics that are tested where none are named; their p-values are adjusted for being several."""


@dataclass(frozen=True, kw_only=True)
class MetricComparison:
    """One metric in two plays of the same scenarios.

    Attributes:
        before: the first play's mean of scenario means.
        now: the second's.
        found: difference, p-value and the smallest difference that could have been detected.
        adjusted: the p-value after Holm's procedure over all metrics that are compared.
    """

    measure: str
    before: float
    now: float
    found: Comparison
    adjusted: float


def value_of(verdict: Verdict, metric: str) -> float | None:
    """A metric of one verdict from 0 to 1; None when it was not scored."""
    value = verdict.passed if metric == PASSED else verdict.value(metric)
    return None if value is None else float(value)


def samples(verdicts: Iterable[Verdict], metric: str) -> dict[str, list[float]]:
    """The values of each scenario's repeats; attempts at which the metric was not scored are left out."""
    found: dict[str, list[float]] = {}
    for verdict in verdicts:
        value = value_of(verdict, metric)
        if value is not None:
            found.setdefault(verdict.scenario, []).append(value)
    return found


def compare_metrics(
    before: Sequence[Verdict], after: Sequence[Verdict], metrics: Iterable[str] = DECLARED
) -> tuple[MetricComparison, ...]:
    """Compare the metrics that both plays have for at least one scenario, over the scenarios that both have.

    Holm's procedure is over all of them, so whoever adds a metric pays for it.
    """
    found: dict[str, tuple[float, float, Comparison]] = {}
    for metric in dict.fromkeys(metrics):
        first, second = samples(before, metric), samples(after, metric)
        paired = compare_paired(first, second)
        if paired is not None:
            both = sorted(first.keys() & second.keys())
            means = [fmean(fmean(one[name]) for name in both) for one in (first, second)]
            found[metric] = (means[0], means[1], paired)
    adjusted = holm({metric: paired.p for metric, (_, _, paired) in found.items()})
    return tuple(
        MetricComparison(measure=metric, before=first, now=second, found=paired, adjusted=adjusted[metric])
        for metric, (first, second, paired) in found.items()
    )
