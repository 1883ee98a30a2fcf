"""The report for programs: a JSON document and a CSV table."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from typing import TypeAlias

from evals.analysis.metrics import MetricComparison
from evals.report.fixes import SmallestFix
from evals.report.gate import GateDecision
from evals.report.model import Report, ReportedAttempt
from evals.report.players import Spread
from evals.score import EVALUATORS

Document: TypeAlias = dict[str, object]
Value: TypeAlias = bool | float | None
"""A score's value; None if it was not scored."""

FORMAT = 1
"""The version of the JSON document's format."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def summary(report: Report, *, reasons: bool = True) -> Document:
    """The figures and verdicts of a report, without conversations and drawings.

    Keys: `format`; `title`; `baseline` (its name or null); `players`, each with its counts, `scores`, `tags` and
    `splits` (means from 0 to 1 with intervals), `pass_at_k` and `pass_hat_k` by k, `flaky`, `agents`, `played` and
    `costs`; `against`, one for each player that is compared with one of the baseline, and `alone`, the others; `duels`,
    each pair of players tested; `apart`, the scenarios that tell them apart; `spreads`, how latency and cost are
    distributed; `gate`, its `name` and `decided` (for each player whether it passes, the reasons why not, and
    improvements), null without one; `attempts` with their verdicts and smallest fixes (null without one), each score's
    reason only with `reasons`.
    """
    return {
        "format": FORMAT,
        "title": report.title,
        "baseline": report.baseline or None,
        "players": [asdict(one) for one in report.standings],
        "against": [{**asdict(one), "tested": [_tested(test) for test in one.tested]} for one in report.against],
        "alone": list(report.alone),
        "duels": [{"first": one.first, "second": one.second, **_tested(one.tested)} for one in report.duels],
        "apart": [asdict(one) for one in report.apart],
        "spreads": [_spread(one) for one in report.spreads],
        "gate": {"name": report.gate, "decided": [_decided(one) for one in report.decided]} if report.decided else None,
        "attempts": [_attempt(one, reasons=reasons) for one in report.attempts],
    }


def as_json(report: Report) -> str:
    """The document as text; the same report gives the same text."""
    return json.dumps(summary(report), indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def as_csv(report: Report) -> str:
    """A table with a row for each attempt; a text that a spreadsheet would read as a formula gets a leading `'`."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    own = (score.name for one in report.attempts for score in one.verdict.scores)
    names = list(dict.fromkeys([*EVALUATORS, *own]))
    writer.writerow(
        ["scenario", "player", "repeat", "split", "tags", "passed", *names, "seconds", "tokens", "calls", "why"]
    )
    for one in report.attempts:
        values = [_cell(one.verdict.value(name)) for name in names]
        measured = one.verdict.measured
        writer.writerow(
            [
                _plain(one.scenario),
                _plain(one.column),
                one.repeat,
                one.split,
                " ".join(one.tags),
                _cell(one.verdict.passed),
                *values,
                f"{measured.seconds:.3f}",
                _cell(measured.tokens),
                _cell(measured.calls),
                _plain(one.why),
            ]
        )
    return file.getvalue().encode("utf-8", "backslashreplace").decode()


def _attempt(one: ReportedAttempt, *, reasons: bool) -> Document:
    verdict = one.verdict
    return {
        "scenario": one.scenario,
        "player": one.column,
        "repeat": one.repeat,
        "digest": verdict.digest,
        "split": one.split,
        "tags": list(one.tags),
        "passed": verdict.passed,
        "scores": {
            reason.name: {"value": reason.value, "reason": reason.text} if reasons else reason.value
            for reason in one.reasons
        },
        "measured": verdict.measured.model_dump(),
        **({"untrusted_code": True} if verdict.untrusted_code else {}),
        "stopped": one.stopped or None,
        "why": one.why,
        "fix": None if one.smallest_fix is None else _fix(one.smallest_fix),
    }


def _fix(one: SmallestFix) -> Document:
    changes = [change.text for change in one.changes]
    return {"changes": changes, "whole": one.whole, "tries": one.tries, "proven": one.proven, "fits": one.fits}


def _spread(one: Spread) -> Document:
    marks = {"least": one.low, "p25": one.quarter, "median": one.median, "p75": one.upper, "p95": one.tail}
    return {"name": one.name, "player": one.player, "count": one.count, **marks, "most": one.high}


def _decided(one: GateDecision) -> Document:
    return {"name": one.name, "ok": one.ok, "reasons": one.reasons, "news": one.improvements}


def _tested(test: MetricComparison) -> Document:
    names = ("difference", "low", "high", "p", "scenarios", "clusters", "smallest_effect")
    found = {name: getattr(test, name) for name in names}
    summary = {"measure": test.metric, "before": test.before, "now": test.after}
    return {**summary, "found": found, "adjusted": test.adjusted}


def _cell(value: Value) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case _:
            return f"{value:.4f}"


def _plain(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
