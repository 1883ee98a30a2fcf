"""The view model of a report: everything that any of its formats shows, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evals.case import Case
from evals.evaluators.resolved import probe_failure
from evals.fix.records import Fix
from evals.gate import Gate
from evals.report.attention import Attention, attention
from evals.report.baseline import BaselineComparison, compare_with_baseline, partners
from evals.report.clipping import SIZES, Limits, clip, line
from evals.report.conversation import ReportedExchange, ShownRun, conversation, shown_run
from evals.report.fixes import SmallestFix, smallest_fix
from evals.report.gate import GateDecision, decisions
from evals.report.play import Entry, Play
from evals.report.players import Apart, Duel, Spread, apart, duels, spreads
from evals.report.standings import Standing, standings
from evals.report.svg.canvas import Gallery
from evals.report.svg.comparison import FlowComparison, compare_with_expected
from evals.scenario import Scenario
from evals.score import DECIDING, Verdict
from flows.catalogue import Catalogue

State = Literal["passed", "failed", "unscored"]


@dataclass(frozen=True, kw_only=True)
class Material:
    """The input of a report.

    Attributes:
        baseline: the verdicts of an earlier play; empty without one.
        baseline_player: the player of the baseline to compare all with; empty for the one of the same name.
        fixes: the smallest fixes; those of other attempts are ignored.
        gate: the gate for every player, and the verdicts of its baseline; None for none.
    """

    play: Play
    catalogue: Catalogue
    baseline: Sequence[Verdict] = ()
    baseline_name: str = ""
    baseline_player: str = ""
    fixes: Sequence[Fix] = ()
    gate: tuple[Gate, tuple[Verdict, ...]] | None = None
    gate_name: str = ""
    title: str = "Evaluation report"


@dataclass(frozen=True)
class Reason:
    """The score of one evaluator.

    Attributes:
        value: None if it was not scored.
        deciding: whether a false one fails the attempt.
    """

    name: str
    value: bool | float | None
    deciding: bool
    text: str


@dataclass(frozen=True)
class Probed:
    """One probe: the expected result, and its runs."""

    expected: str
    runs: tuple[ShownRun, ...]
    met: bool


@dataclass(frozen=True)
class Details:
    """The details of one attempt."""

    exchanges: tuple[ReportedExchange, ...]
    comparison: FlowComparison | None
    probes: tuple[Probed, ...]


@dataclass(frozen=True, kw_only=True)
class ReportedAttempt:
    """One attempt.

    Attributes:
        anchor: its place in the page.
        repeat: the number of the try, from 0.
        why: why it failed, in one line; empty if it passed.
        stopped: the limit that ended it early; empty if none did.
        smallest_fix: its smallest fix; None without one.
        details: None if they are left out to limit the size of the page.
    """

    anchor: str
    scenario: str
    about: str
    tags: tuple[str, ...]
    split: str
    column: str
    repeat: int
    state: State
    why: str
    reasons: tuple[Reason, ...]
    verdict: Verdict
    stopped: str
    smallest_fix: SmallestFix | None
    details: Details | None


@dataclass(frozen=True, kw_only=True)
class Report:
    """A whole report.

    Attributes:
        against: each player compared with the baseline; empty without one.
        alone: the players for which the baseline has no counterpart.
        baseline: the baseline's name; empty without one.
        duels: every pair of players, tested.
        apart: the scenarios that tell players apart.
        spreads: how latency, tokens and cost are distributed.
        decided: the decision of the gate about each player; empty without one.
        gate: the gate's name; empty without one.
        gallery: the drawings that the details refer to.
    """

    title: str
    scenarios: tuple[Scenario, ...]
    standings: tuple[Standing, ...]
    attempts: tuple[ReportedAttempt, ...]
    attention: Attention
    against: tuple[BaselineComparison, ...]
    alone: tuple[str, ...]
    baseline: str
    duels: tuple[Duel, ...]
    apart: tuple[Apart, ...]
    spreads: tuple[Spread, ...]
    decided: tuple[GateDecision, ...]
    gate: str
    limits: Limits
    gallery: Gallery


def gather(material: Material, limits: Limits | None) -> Report:
    """The view model of a report.

    Args:
        limits: how much of each attempt is shown; None leaves out the details, for formats without them.
    """
    play, catalogue, baseline = material.play, material.catalogue, material.baseline
    fixes = {fix.key: fix for fix in material.fixes}
    gallery = Gallery()
    columns = {name: number for number, name in enumerate(play.columns)}
    ordered = sorted(
        play.entries, key=lambda entry: (entry.attempt.scenario, columns[entry.column], entry.attempt.repeat)
    )
    shown: Counter[tuple[str, str, bool]] = Counter()
    attempts: list[ReportedAttempt] = []
    for entry in ordered:
        known = entry.attempt.catalogue(catalogue)
        place = entry.attempt.scenario, entry.column, entry.verdict.passed is True
        details = None
        if limits is not None and shown[place] < (limits.passes if place[2] else limits.failures):
            details = _details(entry, play.scenarios[entry.attempt.scenario], gallery, known, limits)
            shown[place] += 1
        fix = fixes.get(entry.attempt.key)
        mended = None if fix is None else smallest_fix(fix, entry.attempt, known, gallery if details else None)
        attempts.append(_reported(entry, play, columns[entry.column], details, mended))
    counterparts = partners(play, baseline, material.baseline_player)
    return Report(
        title=line(material.title, 200),
        scenarios=tuple(play.scenarios.values()),
        standings=standings(play),
        attempts=tuple(attempts),
        attention=attention(attempts),
        against=compare_with_baseline(play, baseline, material.baseline_player),
        alone=tuple(name for name, partner in counterparts.items() if partner is None) if baseline else (),
        baseline=line(material.baseline_name, 200) if baseline else "",
        duels=duels(play),
        apart=apart(play),
        spreads=spreads(play),
        decided=decisions(play, material.gate),
        gate=line(material.gate_name, 200) if material.gate else "",
        limits=limits or SIZES[0],
        gallery=gallery,
    )


def _reported(
    entry: Entry, play: Play, column: int, details: Details | None, mended: SmallestFix | None
) -> ReportedAttempt:
    verdict, attempt = entry.verdict, entry.attempt
    scenario = play.scenarios[attempt.scenario]
    decides = DECIDING | verdict.required.keys()
    reasons = tuple(
        Reason(score.name, score.value, score.name in decides, line(score.reason, 600)) for score in verdict.scores
    )
    return ReportedAttempt(
        anchor=f"{attempt.scenario}--{column}-{attempt.repeat}",
        scenario=attempt.scenario,
        about=line(scenario.about, 300),
        tags=scenario.tags,
        split=scenario.split,
        column=entry.column,
        repeat=attempt.repeat,
        state="unscored" if verdict.passed is None else "passed" if verdict.passed else "failed",
        why=_why(verdict, reasons),
        reasons=reasons,
        verdict=verdict,
        stopped=attempt.stopped or "",
        smallest_fix=mended,
        details=details,
    )


def _why(verdict: Verdict, reasons: Sequence[Reason]) -> str:
    if verdict.harness_error is not None:
        return f"harness: {line(verdict.harness_error, 400)}"
    failed = {score.name for score in verdict.failures}
    return "; ".join(f"{one.name}: {one.text}" for one in reasons if one.name in failed)


def _details(entry: Entry, scenario: Scenario, gallery: Gallery, catalogue: Catalogue, limits: Limits) -> Details:
    case = entry.case
    return Details(
        exchanges=conversation(
            entry.attempt, case.scenario if case is not None else scenario, gallery, catalogue, limits
        ),
        comparison=None if case is None or case.scenario.open else compare_with_expected(case, gallery),
        probes=() if case is None else _probes(case, limits),
    )


def _probes(case: Case, limits: Limits) -> tuple[Probed, ...]:
    found: list[Probed] = []
    for (probe, runs), files in zip(case.probed, case.probe_files, strict=True):
        made = [shown_run(text, run, limits) for text, run in zip(probe.inputs, runs, strict=False)]
        if not made:
            text = None if probe.input is None else clip(probe.input, limits.text)
            made = [ShownRun(input=text, output=None, error="not run: there was no flow to run", seconds=0.0, tokens=0)]
        met = not probe_failure(probe, runs, files)
        found.append(Probed(line(str(probe), limits.text), tuple(made), met))
    return tuple(found)
