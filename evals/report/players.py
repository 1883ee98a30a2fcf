"""Players beside each other: paired tests, what tells them apart, and how latency and cost are distributed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, quantiles

from evals.analysis.metrics import MetricComparison, compare_metrics, samples
from evals.analysis.statistics import holm
from evals.behaviours.outcomes import agree
from evals.report.clipping import line
from evals.report.play import Entry, Play
from evals.score import PASSED

MOST = 40
"""The most scenarios that are listed as telling players apart."""


@dataclass(frozen=True, kw_only=True)
class Duel:
    """Two players on the scenarios that both played.

    Attributes:
        first: the one by name; `tested.before` is its pass rate.
        second: the other.
        tested: the paired test of their pass rates, adjusted over all pairs.
    """

    first: str
    second: str
    tested: MetricComparison


@dataclass(frozen=True, kw_only=True)
class Apart:
    """A scenario at which players do not do equally well.

    Attributes:
        shares: the share of the tries that passed, by player; None for one that did not play it.
        spread: the largest share less the smallest.
        inputs: the first input on which a player's flow differs from the reference, by player.
    """

    scenario: str
    shares: tuple[float | None, ...]
    spread: float
    inputs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How a figure is distributed over the attempts of a player.

    Attributes:
        name: of the figure, with its unit.
        low: the least.
        quarter: a quarter of the attempts is below.
        median: half of them are below.
        upper: three quarters of them are below.
        tail: nineteen of twenty are below.
        high: the most.
        count: how many attempts have the figure.
    """

    name: str
    player: str
    low: float
    quarter: float
    median: float
    upper: float
    tail: float
    high: float
    count: int


DOLLARS = "US dollars"
"""The figure that may be a small fraction of one."""

FIGURES = ("agent seconds", "tokens", DOLLARS)
"""What is distributed: how long the agent took for all its turns, and what its models took."""


def duels(play: Play) -> tuple[Duel, ...]:
    """Every pair of players, tested on the scenarios that both played; Holm's procedure adjusts over all pairs."""
    verdicts = {column: [entry.verdict for entry in play.of(column)] for column in play.columns}
    found: dict[str, Duel] = {}
    for first, second in combinations(play.columns, 2):
        for tested in compare_metrics(verdicts[first], verdicts[second], (PASSED,)):
            found[f"{first}\n{second}"] = Duel(first=first, second=second, tested=tested)
    adjusted = holm({name: duel.tested.p for name, duel in found.items()})
    return tuple(
        Duel(
            first=duel.first,
            second=duel.second,
            tested=duel.tested.model_copy(update={"adjusted": adjusted[name]}),
        )
        for name, duel in found.items()
    )


def apart(play: Play) -> tuple[Apart, ...]:
    """The scenarios that tell players apart, those that do so most first."""
    if len(play.columns) < 2:
        return ()
    rates = {
        column: {name: fmean(values) for name, values in samples([e.verdict for e in play.of(column)], PASSED).items()}
        for column in play.columns
    }
    found: list[Apart] = []
    for scenario in play.scenarios:
        shares = tuple(rates[column].get(scenario) for column in play.columns)
        known = [share for share in shares if share is not None]
        if len(known) > 1 and max(known) > min(known):
            spread = max(known) - min(known)
            found.append(Apart(scenario=scenario, shares=shares, spread=spread, inputs=_inputs(play, scenario)))
    return tuple(sorted(found, key=lambda one: (-one.spread, one.scenario))[:MOST])


def spreads(play: Play) -> tuple[Spread, ...]:
    """The distribution of every figure that some attempts of a player have, by figure and player."""
    found: list[Spread] = []
    for name in FIGURES:
        for column in play.columns:
            values = sorted(value for entry in play.of(column) if (value := _figure(entry, name)) is not None)
            if values:
                found.append(_spread(name, column, values))
    return tuple(found)


def _figure(entry: Entry, name: str) -> float | None:
    if entry.verdict.passed is None:
        return None
    match name:
        case "agent seconds":
            return sum(turn.seconds for turn in entry.attempt.turns)
        case "tokens":
            return entry.verdict.measured.tokens
        case _:
            return entry.verdict.measured.cost


def _spread(name: str, player: str, values: Sequence[float]) -> Spread:
    cuts = quantiles(values, n=20, method="inclusive") if len(values) > 1 else [values[0]] * 19
    cuts = sorted(min(max(cut, values[0]), values[-1]) for cut in cuts)  # interpolation rounds
    return Spread(
        name=name,
        player=player,
        low=values[0],
        quarter=cuts[4],
        median=cuts[9],
        upper=cuts[14],
        tail=cuts[18],
        high=values[-1],
        count=len(values),
    )


def _inputs(play: Play, scenario: str) -> tuple[tuple[str, str], ...]:
    """The first input on which a flow of each player differs from the reference."""
    declared = play.scenarios[scenario].inputs
    if declared is None:
        return ()
    found: dict[str, str] = {}
    for entry in play.entries:
        if entry.attempt.scenario != scenario or entry.column in found:
            continue
        first = next((one for one in entry.attempt.behaviours if not agree(declared, one.given, one.wanted)), None)
        if first is not None:
            found[entry.column] = line(str(first.input), 120)
    return tuple(found.items())
