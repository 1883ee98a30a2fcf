"""What was measured, as lines and as JSON."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from benchmarks.against.ratio import CONFIDENCE, Ratio, compare
from benchmarks.against.rounds import Measured

HEAD = f"{'metric':<22} {'ours':>10} {'theirs':>10} {'':6} {'ratio':>6}  {f'{CONFIDENCE:.0%} interval':<15} rounds"


def ratio_of(measured: Measured) -> Ratio | None:
    """The ratio of a metric; None when a side failed."""
    if measured.failure is not None:
        return None
    metric = measured.metric
    pairs = [(ours, theirs) for ours, theirs in measured.rounds]
    return compare(pairs, margin=metric.margin, higher_is_better=metric.higher_is_better)


def figures(found: Sequence[Measured]) -> list[str]:
    """A line a metric of one side alone: the median of its rounds, its target, and the original's figure."""
    lines: list[str] = []
    for each in found:
        metric = each.metric
        if each.failure is not None:
            lines.append(f"{metric.name:<22} FAILED: {each.failure}")
            continue
        bound = "at least" if metric.higher_is_better else "at most"
        notes = [] if metric.target is None else [f"target: {bound} {figure(metric.target)}"]
        notes += [] if metric.original is None else [f"the original: {figure(metric.original)}"]
        value = figure(median(alone for (alone,) in each.rounds))
        lines.append(f"{metric.name:<22} {value:>10} {metric.unit:<6} {'; '.join(notes)}".rstrip())
    return lines


def table(found: Sequence[Measured]) -> list[str]:
    """A line a metric: the medians of both sides, and the median of the ratios of their rounds."""
    lines = ["A ratio above 1 is worse, also where the figures are rates.", HEAD]
    worse: list[str] = []
    for each in found:
        name, ratio = f"{each.metric.name:<22}", ratio_of(each)
        if ratio is None:
            lines.append(f"{name} FAILED: {each.failure}")
            continue
        ours, theirs = medians(each)
        between = f"{ratio.low:.3f} to {ratio.high:.3f}"
        lines.append(
            f"{name} {figure(ours):>10} {figure(theirs):>10} {each.metric.unit:<6} {ratio.median:6.3f}  {between:<15} "
            f"{len(each.rounds):>6}  {ratio.verdict}"
        )
        if ratio.verdict == "worse":
            worse.append(each.metric.name)
    lines.append(f"Worse beyond noise: {', '.join(worse) or 'nothing'}.")
    return lines


def document(found: Sequence[Measured]) -> list[dict[str, Any]]:
    """The same as JSON, with the figures of every round, ours first."""
    rows: list[dict[str, Any]] = []
    for each in found:
        row: dict[str, Any] = {"name": each.metric.name, "unit": each.metric.unit, "failure": each.failure}
        ratio = ratio_of(each)
        if ratio is not None:
            ours, theirs = medians(each)
            row |= {"ours": ours, "theirs": theirs, "ratio": ratio.median, "low": ratio.low, "high": ratio.high}
            row |= {"verdict": ratio.verdict}
        rows.append(row | {"margin": each.metric.margin, "rounds": each.rounds})
    return rows


def medians(measured: Measured) -> tuple[float, float]:
    """The median figures of ours and of theirs."""
    return median(ours for ours, _ in measured.rounds), median(theirs for _, theirs in measured.rounds)


def figure(value: float) -> str:
    """A figure with as many digits as it deserves."""
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.1f}" if value >= 100 else f"{value:.3g}"
