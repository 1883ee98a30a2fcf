"""A play compared with a baseline: what newly fails or passes, and whether the difference is significant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from evals.analysis.metrics import MetricComparison, compare_metrics, samples
from evals.report.clipping import line
from evals.report.play import Play
from evals.score import PASSED, Verdict


@dataclass(frozen=True, kw_only=True)
class Change:
    """A scenario that passes more or less often than it did.

    Attributes:
        before: the share of the baseline's tries that passed.
        now: the share of this play's tries that passed.
    """

    scenario: str
    before: float
    now: float


@dataclass(frozen=True, kw_only=True)
class BaselineComparison:
    """One player of this play compared with one of the baseline.

    Attributes:
        tested: the declared metrics that both have.
        worse: scenarios that pass less often, the largest fall first.
        better: scenarios that pass more often, the largest rise first.
        changed: scenarios that have changed since the baseline; they are not compared.
        missing: scenarios that only the baseline has.
        new: scenarios that only this play has.
    """

    name: str
    baseline: str
    tested: tuple[MetricComparison, ...]
    worse: tuple[Change, ...]
    better: tuple[Change, ...]
    changed: tuple[str, ...]
    missing: tuple[str, ...]
    new: tuple[str, ...]


def compare_with_baseline(play: Play, baseline: Sequence[Verdict], player: str = "") -> tuple[BaselineComparison, ...]:
    """Compare every player of a play with one of the baseline's, chosen by `partners`.

    Args:
        player: the baseline's player to compare all with; empty for the one of the same name.
    """
    found: list[BaselineComparison] = []
    for column, partner in partners(play, baseline, player).items():
        if partner is not None:
            there = [verdict for verdict in baseline if verdict.player == partner]
            found.append(_against(column, [entry.verdict for entry in play.of(column)], partner, there))
    return tuple(found)


def partners(play: Play, baseline: Sequence[Verdict], player: str = "") -> dict[str, str | None]:
    """The baseline's player for each column: the given one, else the one of the same name, else the only one.

    Args:
        player: the name of one of its players; empty for none in particular.

    Returns:
        The baseline's player by column; None if there are several and none has the name.
    """
    players = list(dict.fromkeys(verdict.player for verdict in baseline))
    found: dict[str, str | None] = {}
    for column in play.columns:
        name = player or play.of(column)[0].attempt.player
        found[column] = name if name in players else players[0] if len(players) == 1 and not player else None
    return found


def _against(column: str, here: Sequence[Verdict], partner: str, there: Sequence[Verdict]) -> BaselineComparison:
    mine = {verdict.scenario: verdict.digest for verdict in here}
    theirs = {verdict.scenario: verdict.digest for verdict in there}
    shared = {name for name in mine if theirs.get(name) == mine[name]}
    here = [verdict for verdict in here if verdict.scenario in shared]
    there = [verdict for verdict in there if verdict.scenario in shared]
    before, now = _shares(there), _shares(here)
    moved = [
        Change(scenario=name, before=before[name], now=now[name])
        for name in sorted(before.keys() & now.keys())
        if before[name] != now[name]
    ]
    return BaselineComparison(
        name=column,
        baseline=line(partner, 80),
        tested=compare_metrics(there, here),
        worse=tuple(sorted((one for one in moved if one.now < one.before), key=lambda one: one.now - one.before)),
        better=tuple(sorted((one for one in moved if one.now > one.before), key=lambda one: one.before - one.now)),
        changed=tuple(sorted(mine.keys() & theirs.keys() - shared)),
        missing=tuple(line(name, 80) for name in sorted(theirs.keys() - mine.keys())),
        new=tuple(sorted(mine.keys() - theirs.keys())),
    )


def _shares(verdicts: Sequence[Verdict]) -> dict[str, float]:
    return {name: fmean(values) for name, values in samples(verdicts, PASSED).items()}
