"""The metrics of a play by scenario, and two plays compared by them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from pydantic import BaseModel, ConfigDict

from evals.analysis.clusters import clusters
from evals.analysis.statistics import compare_paired, holm
from evals.score import PASSED, Verdict

DECLARED = (PASSED, "resolved", "honest", "preserved")
"""The metrics that are tested by default; their p-values are adjusted for multiple testing."""


class MetricComparison(BaseModel):
    """One metric in two plays of the same scenarios.

    Attributes:
        before: the first play's mean of scenario means.
        after: the second's.
        difference: the mean of scenario differences, second minus first.
        low: the lower end of its 95% interval.
        p: of the sign-flip permutation test over clusters, two-sided.
        adjusted: the same after Holm's procedure over all metrics that are compared.
        smallest_effect: the difference that this comparison detects with 80% power.
        clusters: in how many clusters the scenarios are.
    """

    model_config = ConfigDict(frozen=True)

    metric: str
    before: float
    after: float
    difference: float
    low: float
    high: float
    p: float
    adjusted: float
    smallest_effect: float
    scenarios: int
    clusters: int

    def fell(self, alpha: float) -> bool:
        """Whether the metric fell significantly."""
        return self.difference < 0 and self.adjusted < alpha

    def __str__(self) -> str:
        return (
            f"{self.metric} {self.before:.1%} -> {self.after:.1%}, difference {self.difference:+.1%} "
            f"[{self.low:+.1%}, {self.high:+.1%}], p {self.p:.4f}, adjusted {self.adjusted:.4f}, "
            f"smallest effect {self.smallest_effect:.1%}, {self.scenarios} scenarios "
            f"in {self.clusters} clusters"
        )


def samples(verdicts: Iterable[Verdict], metric: str) -> dict[str, list[float]]:
    """The values of each scenario's repeats; attempts for which the metric was not scored are left out."""
    found: dict[str, list[float]] = {}
    for verdict in verdicts:
        value = verdict.value(metric)
        if value is not None:
            found.setdefault(verdict.scenario, []).append(float(value))
    return found


def compare_metrics(
    before: Sequence[Verdict], after: Sequence[Verdict], metrics: Iterable[str] = DECLARED
) -> tuple[MetricComparison, ...]:
    """Compare two plays by each metric that both have for at least one scenario, over the scenarios that they share.

    Holm's procedure adjusts the p-values over all of these metrics.
    """
    known = clusters((*before, *after))
    compared = {
        metric: paired
        for metric in dict.fromkeys(metrics)
        if (paired := compare_paired(samples(before, metric), samples(after, metric), known)) is not None
    }
    adjusted = holm({metric: paired.p for metric, paired in compared.items()})
    return tuple(
        MetricComparison(metric=metric, adjusted=adjusted[metric], **asdict(paired))
        for metric, paired in compared.items()
    )
