"""JUnit XML of scored attempts and of a gate: a suite for each player, a case for each attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as Tree

from evals.gate import GateResult
from evals.report.clipping import line
from evals.report.formats.xml_text import xml_text
from evals.report.model import Report
from evals.score import Verdict

REASON_CHARACTERS = 2_000
"""How much of why an attempt failed is written."""

GATE = "gate"
"""The suite of a gate's decision."""


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """Whether something passed: `failed` names the score that did not, `why` says why not."""

    passed: bool
    failed: str = ""
    why: str = ""


def as_junit(report: Report) -> str:
    """The JUnit XML of a report; a harness error is an error, never a failure."""
    suites = {
        standing.name: [one.verdict for one in report.attempts if one.column == standing.name]
        for standing in report.standings
    }
    decided = {one.name: _gate_outcome(ok=one.ok, reasons=one.reasons) for one in report.decided}
    return _document(report.title, suites, decided)


def verdicts_as_junit(title: str, verdicts: Sequence[Verdict], gate: GateResult | None) -> str:
    """The JUnit XML of verdicts.

    Args:
        title: of the whole.
        verdicts: in the order of the cases.
        gate: what a gate decided about them; None without one.
    """
    suites = {
        player: [one for one in verdicts if one.player == player]
        for player in dict.fromkeys(one.player for one in verdicts)
    }
    decided = {} if gate is None else {"gate": _gate_outcome(ok=gate.ok, reasons=gate.reasons)}
    return _document(title, suites, decided)


def _document(title: str, suites: Mapping[str, Sequence[Verdict]], decided: Mapping[str, _Outcome]) -> str:
    root = Tree.Element("testsuites", name=xml_text(title))
    for name, verdicts in suites.items():
        errors = sum(one.harness_error is not None for one in verdicts)
        suite = Tree.SubElement(
            root,
            "testsuite",
            name=xml_text(name),
            tests=str(len(verdicts)),
            failures=str(sum(one.passed is False for one in verdicts)),
            errors=str(errors),
            skipped=str(sum(one.passed is None for one in verdicts) - errors),
            time=f"{sum(one.measured.seconds for one in verdicts):.3f}",
        )
        for one in verdicts:
            _attempt(suite, one)
    if decided:
        failures = str(sum(not one.passed for one in decided.values()))
        counts = {"tests": str(len(decided)), "failures": failures, "errors": "0", "skipped": "0", "time": "0.000"}
        suite = Tree.SubElement(root, "testsuite", {"name": GATE, **counts})
        for name, outcome in decided.items():
            case = Tree.SubElement(suite, "testcase", classname=GATE, name=xml_text(name), time="0.000")
            if not outcome.passed:
                _failure(case, outcome)
    Tree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Tree.tostring(root, encoding="unicode") + "\n"


def _attempt(suite: Tree.Element, verdict: Verdict) -> None:
    case = Tree.SubElement(
        suite,
        "testcase",
        classname=xml_text(verdict.scenario),
        name=xml_text(f"{verdict.scenario} #{verdict.repeat + 1}"),
        time=f"{verdict.measured.seconds:.3f}",
    )
    why = line(verdict.why, REASON_CHARACTERS)
    if verdict.passed is False:
        _failure(case, _Outcome(passed=False, failed=next((one.name for one in verdict.failures), "failed"), why=why))
    elif verdict.harness_error is not None:
        Tree.SubElement(case, "error", type="harness", message=xml_text(why[:500])).text = xml_text(why)
    elif verdict.passed is None:
        Tree.SubElement(case, "skipped")


def _failure(case: Tree.Element, outcome: _Outcome) -> None:
    message = xml_text(outcome.why.partition("\n")[0][:500])
    Tree.SubElement(case, "failure", type=outcome.failed, message=message).text = xml_text(outcome.why)


def _gate_outcome(*, ok: bool, reasons: Sequence[str]) -> _Outcome:
    text = "\n".join(line(reason, REASON_CHARACTERS) for reason in reasons)
    return _Outcome(passed=ok, failed="" if ok else GATE, why=text)
