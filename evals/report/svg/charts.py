"""The charts of a report: cost against quality."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from evals.report.clipping import line
from evals.report.model import Report, ReportedAttempt
from evals.report.standings import Costs, Standing, mean
from evals.score import DECIDING, EVALUATORS

GRADED = tuple(name for name in EVALUATORS if name not in DECIDING)
"""The evaluators that grade rather than decide; their mean is the quality of a scenario."""


LABEL = 24
"""The most characters of a player's name in a chart: as many as fit on either side of a dot."""


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A player or a scenario in a chart.

    Attributes:
        cost: the mean of an attempt.
        quality: from 0 to 1.
        series: the number of the player.
        low: the lower end of the quality's interval.
    """

    cost: float
    quality: float
    label: str
    series: int
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True)
class Chart:
    """Quality over one kind of cost, in the units of its drawing.

    Attributes:
        large: players, with the mean cost of an attempt and the pass rate.
        small: scenarios, with the mean cost and the mean of the scores that grade them.
        top: the cost at the right end of the axis.
    """

    name: str
    large: tuple[Dot, ...]
    small: tuple[Dot, ...]
    top: float
    width: int = 460
    height: int = 250
    left: int = 46
    bottom: int = 40

    def x(self, cost: float) -> float:
        """The place of a cost."""
        return round(self.left + (self.width - self.left - 20) * (cost / self.top), 1)

    def y(self, quality: float) -> float:
        """The place of a quality."""
        return round(14 + (self.height - self.bottom - 14) * (1.0 - quality), 1)

    def tick(self, share: float) -> str:
        """The label of a place on the axis of costs."""
        return f"{self.top * share:,.3g}" if self.top < 10 else f"{self.top * share:,.0f}"


def cost_against_quality(report: Report) -> tuple[Chart, ...]:
    """Charts of quality over tokens and over seconds; only those of which anything was measured."""
    found: list[Chart] = []
    axes: tuple[tuple[str, Callable[[Costs], float | None], Callable[[ReportedAttempt], float | None]], ...] = (
        ("tokens", lambda costs: costs.tokens, lambda one: one.verdict.measured.tokens),
        ("seconds", lambda costs: costs.seconds, lambda one: one.verdict.measured.seconds),
    )
    for name, of_player, of_attempt in axes:
        players = list(enumerate(report.standings))
        large = [dot for number, one in players if (dot := _player(number, one, of_player))]
        if any(dot.cost > 0 for dot in large):
            small = [dot for number, one in players for dot in _scenarios(number, one, report, of_attempt)]
            top = _round_up(max(dot.cost for dot in (*large, *small)))
            found.append(Chart(name, tuple(large), tuple(small), top))
    return tuple(found)


def _player(number: int, one: Standing, cost: Callable[[Costs], float | None]) -> Dot | None:
    mean_cost, rate = cost(one.costs), one.rate
    if mean_cost is None or rate is None:
        return None
    label = line(one.name, LABEL)
    return Dot(cost=mean_cost, quality=rate.mean, label=label, series=number, low=rate.low, high=rate.high)


def _scenarios(
    number: int, one: Standing, report: Report, cost: Callable[[ReportedAttempt], float | None]
) -> list[Dot]:
    groups: dict[str, list[ReportedAttempt]] = {}
    for attempted in report.attempts:
        if attempted.column == one.name and attempted.state != "unscored":
            groups.setdefault(attempted.scenario, []).append(attempted)
    found: list[Dot] = []
    for scenario, tries in groups.items():
        mean_cost = mean(cost(attempted) for attempted in tries)
        quality = mean(attempted.verdict.value(name) for attempted in tries for name in GRADED)
        if mean_cost is not None and quality is not None:
            found.append(Dot(cost=mean_cost, quality=quality, label=scenario, series=number))
    return found


def _round_up(value: float) -> float:
    """The next number that is 1, 2, 2.5 or 5 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if value <= step * power * (1 + 1e-9))
