"""The charts of a report as SVG: intervals on a line from 0 to 1, and cost against quality."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from evals.analysis.metrics import samples
from evals.analysis.statistics import Estimate
from evals.report.clipping import line
from evals.report.model import Report, ReportedAttempt
from evals.report.standings import Costs, Standing, mean
from evals.score import DECIDING, EVALUATORS

_BAR = 180
_WIDE, _HIGH, _LEFT, _LOW = 460, 250, 46, 40
GRADED = tuple(name for name in EVALUATORS if name not in DECIDING)
"""The evaluators that grade rather than decide; their mean is the quality of one scenario's dot."""


def interval(estimate: Estimate | None, label: str = "") -> Markup:
    """A mean as a bar with its interval as a whisker.

    Args:
        estimate: the mean; None draws nothing.
    """
    if estimate is None:
        return Markup("")
    middle, low, high = (round(_BAR * value, 1) for value in (estimate.mean, estimate.low, estimate.high))
    return Markup(
        '<svg class="bar" viewBox="-1 0 {box} 14" preserveAspectRatio="xMinYMid" role="img" '
        'aria-label="{label}{words}"><path d="M0 7H{w}"/>'
        '<rect y="3.5" width="{m}" height="7" rx="2"/>'
        '<path class="whisker" d="M{l} 2.5V11.5M{l} 7H{h}M{h} 2.5V11.5"/></svg>'
    ).format(
        w=_BAR, box=_BAR + 2, label=f"{label}: " if label else "", words=in_words(estimate), m=middle, l=low, h=high
    )


def in_words(estimate: Estimate) -> str:
    """A mean with its interval, in percent."""
    return f"{estimate.mean:.1%} ({estimate.low:.0%} to {estimate.high:.0%}, {estimate.scenarios} scenarios)"


@dataclass(frozen=True)
class _Dot:
    x: float
    y: float
    label: str
    series: int
    low: float | None = None
    high: float | None = None


def cost_against_quality(report: Report) -> tuple[Markup, ...]:
    """Charts of quality over tokens and over seconds; only those for which anything was measured.

    A large dot is a player: the mean cost of an attempt and the pass rate with its interval. A small one is a scenario:
    its mean cost, and the mean of the scores that grade it.
    """
    found: list[Markup] = []
    axes: tuple[tuple[str, Callable[[Costs], float | None], Callable[[ReportedAttempt], float | None]], ...] = (
        ("tokens", lambda costs: costs.tokens, lambda one: one.verdict.measured.tokens),
        ("seconds", lambda costs: costs.seconds, lambda one: one.verdict.measured.seconds),
    )
    for name, of_player, of_attempt in axes:
        large = [dot for number, one in enumerate(report.standings) if (dot := _player(number, one, of_player))]
        if any(dot.x > 0 for dot in large):
            small = [
                dot for number, one in enumerate(report.standings) for dot in _dots(number, one, report, of_attempt)
            ]
            found.append(_chart(name, large, small))
    return tuple(found)


def _player(number: int, one: Standing, cost: Callable[[Costs], float | None]) -> _Dot | None:
    x = cost(one.costs)
    if x is None or one.rate is None:
        return None
    return _Dot(x, one.rate.mean, line(one.name, 40), number, one.rate.low, one.rate.high)


def _dots(
    number: int, one: Standing, report: Report, cost: Callable[[ReportedAttempt], float | None]
) -> Sequence[_Dot]:
    groups: dict[str, list[ReportedAttempt]] = {}
    for attempted in report.attempts:
        if attempted.column == one.name and attempted.state != "unscored":
            groups.setdefault(attempted.scenario, []).append(attempted)
    found: list[_Dot] = []
    for scenario, tries in groups.items():
        x = mean(cost(attempted) for attempted in tries)
        grades = [samples([attempted.verdict for attempted in tries], name).get(scenario, []) for name in GRADED]
        y = mean(grade for values in grades for grade in values)
        if x is not None and y is not None:
            found.append(_Dot(x, y, scenario, number))
    return found


def _chart(name: str, large: Sequence[_Dot], small: Sequence[_Dot]) -> Markup:
    top = _round_up(max((dot.x for dot in (*large, *small)), default=1.0))
    parts: list[Markup] = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _y(share)
        parts.append(
            Markup('<path class="grid" d="M{} {}H{}"/><text class="tick e" x="{}" y="{}">{}</text>').format(
                _LEFT, y, _WIDE - 8, _LEFT - 7, y + 4, f"{share:.0%}"
            )
        )
        parts.append(
            Markup('<text class="tick m" x="{}" y="{}">{}</text>').format(
                _x(top * share, top), _HIGH - _LOW + 18, f"{top * share:,.3g}" if top < 10 else f"{top * share:,.0f}"
            )
        )
    parts.append(
        Markup('<text class="axis m" x="{}" y="{}">{} an attempt</text>').format((_LEFT + _WIDE) / 2, _HIGH - 6, name)
    )
    parts += [
        Markup('<circle class="dot s{}" cx="{}" cy="{}" r="3"><title>{}</title></circle>').format(
            dot.series % 6, _x(dot.x, top), _y(dot.y), f"{dot.label}: {dot.x:,.4g} {name}, {dot.y:.0%}"
        )
        for dot in small
    ]
    for dot in large:
        x, y = _x(dot.x, top), _y(dot.y)
        beyond = x > _WIDE - 110
        parts.append(
            Markup(
                '<g class="player s{}"><path d="M{} {}V{}"/><circle cx="{}" cy="{}" r="7"/>'
                '<text class="{}" x="{}" y="{}">{}</text></g>'
            ).format(
                dot.series % 6,
                x,
                _y(dot.low or 0.0),
                _y(1.0 if dot.high is None else dot.high),
                x,
                y,
                "e" if beyond else "b",
                x - 12 if beyond else x + 12,
                y + 4,
                dot.label,
            )
        )
    words = "; ".join(f"{dot.label}: {dot.x:,.4g} {name}, {dot.y:.0%} passed" for dot in large)
    return Markup(
        '<figure class="chart"><svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
        "<figcaption>Quality over {}</figcaption></figure>"
    ).format(_WIDE, _HIGH, words, Markup("").join(parts), name)


def _x(value: float, top: float) -> float:
    return round(_LEFT + (_WIDE - _LEFT - 20) * (value / top), 1)


def _y(share: float) -> float:
    return round(14 + (_HIGH - _LOW - 14) * (1.0 - share), 1)


def _round_up(value: float) -> float:
    """The next number that is one, two or five times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if value <= step * power * (1 + 1e-9))
