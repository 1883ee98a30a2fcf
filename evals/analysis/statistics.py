"""The statistics of repeated plays: intervals, pass@k and pass^k, a paired comparison and its power.

Repeats of one scenario are not independent, and neither are variants of one task. So every mean is a mean of scenario
means, and its interval comes from the spread between clusters of scenarios (`evals.analysis.clusters`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, comb, floor, isclose, sqrt
from statistics import NormalDist, fmean, median
from typing import Any

CONFIDENCE = 0.95
"""The level of every interval."""

_NORMAL = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)

RESAMPLES = 9_999
"""Sign flips that the permutation test draws when there are too many to try all."""

Sample = Mapping[str, Sequence[float]]
"""The values of each scenario's repeats, from 0 to 1, by scenario."""

Clusters = Mapping[str, str]
"""The cluster of each scenario; one that is not there is a cluster of its own."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean with its interval.

    Attributes:
        clusters: in how many clusters the scenarios are.
        method: `t` over scenario means, `wilson` for single plays that pass or fail and for means that are all equal,
            `none` for a single cluster of repeats.
    """

    mean: float
    low: float
    high: float
    scenarios: int
    clusters: int
    method: str

    @property
    def span(self) -> str:
        """The interval in percent, rounded outwards: it never says 100% of what is only nearly that."""
        return f"{floor(self.low * 100 + 1e-9)}%–{ceil(self.high * 100 - 1e-9)}%"


@dataclass(frozen=True, kw_only=True)
class PairedComparison:
    """Two players on the same scenarios.

    Attributes:
        before: the first player's mean of scenario means.
        after: the second's.
        difference: the mean of scenario differences, second minus first.
        low: the lower end of its interval; -1 with a single cluster.
        high: the upper end; 1 with a single cluster.
        p: the two-sided p-value of the sign-flip permutation test over clusters.
        clusters: in how many clusters the scenarios are.
        smallest_effect: the difference that such a comparison detects with 80% power; 1 with a single cluster.
    """

    before: float
    after: float
    difference: float
    low: float
    high: float
    p: float
    scenarios: int
    clusters: int
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


def estimate(sample: Sample, clusters: Clusters | None = None) -> Estimate | None:
    """The mean of scenario means, with an interval that is robust to clusters.

    The mean x is taken over all S scenarios. Its variance comes from the G clusters (linearisation with the correction
    for few clusters: Liang and Zeger 1986; Cameron and Miller 2015, "A Practitioner's Guide to Cluster-Robust
    Inference"):

        V = G / (G - 1) * sum over clusters of (sum over its scenarios of (x_s - x))^2 / S^2

    With repeats or graded values: a t interval with G - 1 degrees of freedom, cut to 0 and 1. For single plays that
    pass or fail: Wilson's score interval, which keeps its coverage near 0 and 1, with the effective number of plays in
    place of their number (Korn and Graubard 1998; Dean and Pagano 2015):

        n = x (1 - x) / V * G / (G - 1), at most G

    and, where scenarios share clusters, t's quantile in place of the normal one. If each scenario is a cluster of its
    own, both are the ordinary intervals. If all clusters have the same mean, there is no spread to learn from: Wilson's
    interval with n = S^2 / (sum of the squared sizes of clusters), Kish's effective size for clusters whose scenarios
    always agree.

    Args:
        clusters: the cluster of each scenario; None for one each.

    Returns:
        The estimate, or None without values.
    """
    means = {name: fmean(tries) for name, tries in sample.items() if tries}
    if not means:
        return None
    mean, spread = fmean(means.values()), _spread(means, clusters)
    single = all(len(tries) <= 1 for tries in sample.values()) and set(means.values()) <= {0.0, 1.0}
    if spread.clusters == 1 and not single:
        low, high, method = 0.0, 1.0, "none"
    elif single or not spread.error:
        low, high = score_interval(mean, spread.effective(mean), spread.quantile)
        method = "wilson"
    else:
        half = _t_quantile(spread.clusters) * spread.error
        low, high, method = max(0.0, mean - half), min(1.0, mean + half), "t"
    return Estimate(mean=mean, low=low, high=high, scenarios=spread.scenarios, clusters=spread.clusters, method=method)


def wilson(passed: int, count: int) -> tuple[float, float]:
    """Wilson's score interval of a proportion (Wilson 1927).

    Args:
        passed: how many passed.
        count: of how many; at least 1.

    Raises:
        ValueError: count is below 1 or passed is not from 0 to count.
    """
    _check_counts(count, passed, 1)
    return score_interval(passed / count, count)


def score_interval(share: float, count: float, quantile: float | None = None) -> tuple[float, float]:
    """Wilson's score interval of a share: (p + z^2/2n ± z sqrt(p(1 - p)/n + z^2/4n^2)) / (1 + z^2/n).

    Args:
        share: p, from 0 to 1.
        count: n, which may be an effective number; above 0.
        quantile: z; None for that of the normal distribution.
    """
    z = _NORMAL if quantile is None else quantile
    middle, half = share + z * z / (2 * count), z * sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    scale = 1 + z * z / count
    low, high = (middle - half) / scale, (middle + half) / scale
    return (0.0 if share == 0 else max(0.0, low)), (1.0 if share == 1 else min(1.0, high))


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


def compare_paired(first: Sample, second: Sample, clusters: Clusters | None = None) -> PairedComparison | None:
    """Compare two players over the scenarios that both played, by a sign-flip permutation test over clusters.

    Under the null hypothesis the differences of a whole cluster are as likely to have the other sign. All sign patterns
    of the clusters' sums are tried when there are few, else 9,999 are drawn with a fixed seed, so that the same data
    give the same p-value.

    The interval is t's with G - 1 degrees of freedom and the variance of `estimate`, over the differences, cut to -1
    and 1. If every cluster differs by the same d, there is no spread to learn from: a share of at least
    L = n / (n + z^2) of such scenarios differs by d (Wilson's lower bound when all n do, n being Kish's effective
    size), and of the others nothing is known, so it is from L d - (1 - L) to L d + (1 - L).

    Args:
        clusters: the cluster of each scenario; None for one each.

    Returns:
        The comparison, or None if they share no scenario.
    """
    shared = [name for name in first if name in second and first[name] and second[name]]
    if not shared:
        return None
    before, after = ([fmean(sample[name]) for name in shared] for sample in (first, second))
    differences = {name: now - was for name, was, now in zip(shared, before, after, strict=True)}
    mean, spread = fmean(differences.values()), _spread(differences, clusters)
    low, high, detected = -1.0, 1.0, 1.0
    if spread.clusters > 1 and spread.error:
        half = _t_quantile(spread.clusters) * spread.error
        low, high = mean - half, mean + half
        detected = min(1.0, smallest_effect(spread.error * sqrt(spread.clusters), spread.clusters))
    elif spread.clusters > 1:
        alike, _ = score_interval(1.0, spread.kish, spread.quantile)
        low, high, detected = alike * mean - (1 - alike), alike * mean + (1 - alike), 1 - alike
    return PairedComparison(
        before=fmean(before),
        after=fmean(after),
        difference=mean,
        low=max(-1.0, low),
        high=min(1.0, high),
        p=_sign_flip(spread.sums),
        scenarios=spread.scenarios,
        clusters=spread.clusters,
        smallest_effect=detected,
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
        scenarios: how many, or how many clusters; at least 1.

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


@dataclass(frozen=True)
class _Spread:
    """How values spread between clusters.

    Attributes:
        error: the standard error of their mean; 0 with a single cluster, or if all are equal.
        sums: the sum of the values of each cluster.
        kish: the effective number of scenarios if those of a cluster always agree.
    """

    scenarios: int
    clusters: int
    error: float
    sums: tuple[float, ...]
    kish: float

    @property
    def quantile(self) -> float:
        """The normal quantile, or t's if scenarios share clusters: then the variance is estimated from few."""
        return _NORMAL if self.clusters in (1, self.scenarios) else _t_quantile(self.clusters)

    def effective(self, share: float) -> float:
        """The effective number of plays that pass or fail."""
        if not self.error:
            return self.kish
        wanted = share * (1 - share) / self.error**2 * self.clusters / (self.clusters - 1)
        return min(wanted, float(self.clusters))


def _spread(values: Mapping[str, float], clusters: Clusters | None) -> _Spread:
    """See `estimate` for the formulas."""
    known = clusters or {}
    grouped: dict[str, list[float]] = {}
    for name, value in values.items():
        grouped.setdefault(known.get(name, name), []).append(value)
    groups, count, mean = list(grouped.values()), len(values), fmean(values.values())
    error = 0.0
    if len(groups) > 1 and len(set(values.values())) > 1:
        residuals = [sum(value - mean for value in group) for group in groups]
        error = sqrt(len(groups) / (len(groups) - 1) * sum(residual**2 for residual in residuals)) / count
        error = 0.0 if isclose(error, 0.0, abs_tol=1e-12) else error
    return _Spread(
        scenarios=count,
        clusters=len(groups),
        error=error,
        sums=tuple(sum(group) for group in groups),
        kish=count**2 / sum(len(group) ** 2 for group in groups),
    )


def _t_quantile(clusters: int) -> float:
    return float(_stats().t.ppf((1 + CONFIDENCE) / 2, clusters - 1))


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
