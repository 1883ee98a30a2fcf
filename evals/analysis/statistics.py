"""The statistics of repeated plays: intervals, pass@k and pass^k, a paired comparison and its power.

Scenarios are the unit of sampling; repeats of one scenario are not independent. So every mean is a mean of scenario
means, and its interval comes from the spread between scenarios.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from statistics import NormalDist, fmean, median, stdev
from typing import Any

CONFIDENCE = 0.95
"""The level of every interval."""

RESAMPLES = 9_999
"""Sign flips that the permutation test draws when there are too many to try all."""

Sample = Mapping[str, Sequence[float]]
"""The values of each scenario's repeats, from 0 to 1, by scenario."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean with its interval.

    Attributes:
        method: `t` over scenario means, `wilson` for single plays that pass or fail, `none` with a single scenario.
    """

    mean: float
    low: float
    high: float
    scenarios: int
    method: str


@dataclass(frozen=True, kw_only=True)
class PairedComparison:
    """Two players on the same scenarios.

    Attributes:
        before: the first player's mean of scenario means.
        after: the second's.
        difference: the mean of scenario differences, second minus first.
        low: the lower end of its interval; -1 with a single scenario.
        high: the upper end; 1 with a single scenario.
        p: the two-sided p-value of the sign-flip permutation test.
        smallest_effect: the difference that such a comparison detects with 80% power.
    """

    before: float
    after: float
    difference: float
    low: float
    high: float
    p: float
    scenarios: int
    smallest_effect: float


def pass_at_k(tries: int, passed: int, k: int) -> float:
    """The chance that at least one of k tries passes: 1 - C(n-c, k) / C(n, k), the unbiased estimate.

    Source: Chen et al. 2021, "Evaluating Large Language Models Trained on Code".

    Args:
        tries: n, how often the scenario was played.
        passed: c, how often it passed.
        k: how many tries there are; at most n.

    Raises:
        ValueError: k is not from 1 to n, or c not from 0 to n.
    """
    _check_counts(tries, passed, k)
    return 1.0 - comb(tries - passed, k) / comb(tries, k)


def pass_hat_k(tries: int, passed: int, k: int) -> float:
    """The chance that all of k tries pass: C(c, k) / C(n, k), the unbiased estimate.

    Source: Yao et al. 2024, "tau-bench".

    Args:
        tries: n, how often the scenario was played.
        passed: c, how often it passed.
        k: how many tries must pass; at most n.

    Raises:
        ValueError: k is not from 1 to n, or c not from 0 to n.
    """
    _check_counts(tries, passed, k)
    return comb(passed, k) / comb(tries, k)


def macro(sample: Sample, k: int, *, every: bool = False) -> float | None:
    """pass@k, or pass^k with `every`, averaged over the scenarios that were played at least k times.

    Args:
        sample: values of 0 and 1.

    Returns:
        The average, or None when no scenario was played k times.
    """
    measure = pass_hat_k if every else pass_at_k
    values = [
        measure(len(tries), sum(value >= 1 for value in tries), k) for tries in sample.values() if len(tries) >= k
    ]
    return fmean(values) if values else None


def estimate(sample: Sample) -> Estimate | None:
    """The mean of scenario means, with its interval.

    With repeats or graded values: SE = sqrt(sum (x_s - x)^2 / (S (S - 1))) over the S scenario means, and a t interval
    with S - 1 degrees of freedom, cut to 0 and 1. For single plays that pass or fail: Wilson's score interval, which
    keeps its coverage near 0 and 1, where the t interval has none.

    Returns:
        The estimate, or None without values.
    """
    means = [fmean(tries) for tries in sample.values() if tries]
    if not means:
        return None
    mean, count = fmean(means), len(means)
    if all(len(tries) <= 1 for tries in sample.values()) and set(means) <= {0.0, 1.0}:
        low, high = wilson(sum(value == 1.0 for value in means), count)
        return Estimate(mean=mean, low=low, high=high, scenarios=count, method="wilson")
    if count == 1:
        return Estimate(mean=mean, low=0.0, high=1.0, scenarios=1, method="none")
    low, high = _t_interval(mean, stdev(means), count)
    return Estimate(mean=mean, low=max(0.0, low), high=min(1.0, high), scenarios=count, method="t")


def wilson(passed: int, count: int) -> tuple[float, float]:
    """Wilson's score interval of a proportion (Wilson 1927), as scipy computes it.

    Args:
        passed: how many passed.
        count: of how many; at least 1.

    Raises:
        ValueError: count is below 1 or passed is not from 0 to count.
    """
    _check_counts(count, passed, 1)
    interval = _stats().binomtest(passed, count).proportion_ci(CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)


def median_interval(values: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """The interval of the median from order statistics; None when there are too few values for the confidence.

    It holds the true median with at least that probability whatever the distribution. Source: Conover, Practical
    Nonparametric Statistics, section 3.2, as scipy computes it.

    Args:
        values: the sample; not empty.
        confidence: the least probability, between 0 and 1.
    """
    found = _stats().quantile_test(values, q=median(values), p=0.5).confidence_interval(confidence)
    low, high = float(found.low), float(found.high)
    return (low, high) if low <= high else None  # either is NaN when there are too few


def compare_paired(first: Sample, second: Sample) -> PairedComparison | None:
    """Compare two players over the scenarios that both played, by a sign-flip permutation test of their differences.

    The interval is t's over the differences, with S - 1 degrees of freedom, cut to -1 and 1.

    Under the null hypothesis each scenario's difference is as likely to have the other sign. All sign patterns are
    tried when there are few, else 9,999 are drawn with a fixed seed, so that the same data give the same p-value.

    Returns:
        The comparison, or None if they share no scenario.
    """
    shared = [name for name in first if name in second and first[name] and second[name]]
    if not shared:
        return None
    before, after = ([fmean(sample[name]) for name in shared] for sample in (first, second))
    differences = [now - was for was, now in zip(before, after, strict=True)]
    count, mean = len(differences), fmean(differences)
    deviation = stdev(differences) if count > 1 else 0.0
    low, high = _t_interval(mean, deviation, count) if count > 1 else (-1.0, 1.0)
    return PairedComparison(
        before=fmean(before),
        after=fmean(after),
        difference=mean,
        low=max(-1.0, low),
        high=min(1.0, high),
        p=_sign_flip(differences),
        scenarios=count,
        smallest_effect=smallest_effect(deviation, count),
    )


def holm(values: Mapping[str, float]) -> dict[str, float]:
    """p-values adjusted for multiple testing, by Holm's step-down procedure.

    Source: Holm 1979. The i-th smallest of m is multiplied by m - i + 1, and none is smaller than the one before it.

    Returns:
        The adjusted p-values in the order given.
    """
    adjusted: dict[str, float] = {}
    highest = 0.0
    for place, (name, value) in enumerate(sorted(values.items(), key=lambda item: item[1])):
        highest = max(highest, min(1.0, value * (len(values) - place)))
        adjusted[name] = highest
    return {name: adjusted[name] for name in values}


def smallest_effect(deviation: float, scenarios: int) -> float:
    """The difference that a paired comparison detects with 80% power at the 5% level: (1.96 + 0.84) sd / sqrt(n).

    Args:
        scenarios: how many; at least 1.

    Raises:
        ValueError: there is no scenario.
    """
    if scenarios < 1:
        raise ValueError("the smallest effect needs at least one scenario")
    return (NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)) * deviation / sqrt(scenarios)


def flaky(sample: Sample) -> list[str]:
    """The scenarios whose repeats do not all give the same value, by name."""
    return sorted(name for name, tries in sample.items() if len(set(tries)) > 1)


def _check_counts(tries: int, passed: int, k: int) -> None:
    if not 1 <= k <= tries:
        raise ValueError(f"k is {k}; it must be from 1 to the number of tries, {tries}")
    if not 0 <= passed <= tries:
        raise ValueError(f"{passed} of {tries} passed, which is impossible")


def _t_interval(mean: float, deviation: float, count: int) -> tuple[float, float]:
    if not deviation:
        return mean, mean
    low, high = _stats().t.interval(CONFIDENCE, count - 1, loc=mean, scale=deviation / sqrt(count))
    return float(low), float(high)


def _mean(sample: Any, axis: int) -> Any:
    return sample.mean(axis=axis)


def _sign_flip(differences: Sequence[float]) -> float:
    if len(differences) == 1 or not any(differences):
        return 1.0  # either sign of a single difference is as extreme
    result = _stats().permutation_test(
        (list(differences),),
        _mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        rng=0,
    )
    return float(result.pvalue)


def _stats() -> Any:
    """scipy's statistics, imported on first use: importing them takes half a second."""
    from scipy import stats

    return stats
