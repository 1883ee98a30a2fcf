"""The report as a comment for a pull request: what changed first, and never longer than a comment may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evals.report.baseline import BaselineComparison
from evals.report.formats.markdown import code, decision, estimated, table
from evals.report.model import Report, ReportedAttempt
from evals.score import DECIDING, EVALUATORS

LIMIT = 60_000
"""The most characters; GitHub takes 65,536."""

_FEWEST = 3
_STEPS = (200, 50, 20, 10, _FEWEST)
"""How many entries of each list are shown, from most to least; the first with which the comment is short enough."""


def as_pull_request(report: Report, limit: int = LIMIT) -> str:
    """Render a report as a comment: the gate, the differences to the baseline, the figures, then what failed.

    Texts of models and flows are only in code spans, where they have no effect.

    Args:
        limit: the most characters.
    """
    text = ""
    for most in _STEPS:
        text = "\n\n".join(part for part in _parts(report, most) if part)
        text = text.encode("utf-8", "backslashreplace").decode() + "\n"
        if len(text) <= limit:
            return text
    notice = "\n\n… (cut: the whole is in the report)\n"
    return text[: limit - len(notice)].rpartition("\n")[0] + notice


def _parts(report: Report, most: int) -> Iterator[str]:
    yield f"## {code(report.title, 200)}"
    yield "\n".join(_headline(report))
    for one in report.decided:
        yield decision(one, report.gate, most)
    for one in report.against:
        yield from _differences(one, report.baseline, most)
    if report.alone:
        names = ", ".join(code(name, 80) for name in report.alone[:most])
        yield f"Not compared with {code(report.baseline, 80)}: {names}"
    yield _scores(report)
    yield _failures(report, most)


def _headline(report: Report) -> Iterator[str]:
    for one in report.standings:
        excluded = f", **{one.harness_errors} not judged**" if one.harness_errors else ""
        rate = f", {estimated(one.rate)}" if one.rate is not None else ""
        yield f"- {code(one.name, 80)}: passed **{one.passed} of {one.attempts}**{excluded}{rate}"


def _differences(one: BaselineComparison, baseline: str, most: int) -> Iterator[str]:
    yield f"### {code(one.name, 80)} compared with {code(one.baseline, 80)} of {code(baseline, 80)}"
    rows = [
        [code(change.scenario), f"{change.before:.0%}", f"{change.now:.0%}", "worse" if worse else "better"]
        for changes, worse in ((one.worse, True), (one.better, False))
        for change in changes[:most]
    ]
    yield table(["scenario", "baseline", "now", ""], rows) if rows else "No scenario passes more or less often."
    left = sum(max(0, len(changes) - most) for changes in (one.worse, one.better))
    if left:
        yield f"{left} more are not listed."
    tests = [
        [
            test.metric,
            f"{test.before:.1%}",
            f"{test.after:.1%}",
            f"{test.difference * 100:+.1f} ({test.low * 100:+.1f} to {test.high * 100:+.1f})",
            f"{test.adjusted:.4f}",
        ]
        for test in one.tested
    ]
    if tests:
        yield table(["measure", "baseline", "now", "difference in points (95%)", "p (Holm)"], tests)
    for names, what in ((one.changed, "changed since"), (one.new, "are new"), (one.missing, "are missing")):
        if names:
            listed = ", ".join(code(name) for name in names[:most])
            more = f" and {len(names) - most} more" if len(names) > most else ""
            yield f"Scenarios that {what}: {listed}{more}"


def _scores(report: Report) -> str:
    names = [name for name in EVALUATORS if name in DECIDING]
    rows = [[name, *(estimated(one.scores[name]) for one in report.standings)] for name in names]
    return table(["deciding score", *(code(one.name, 80) for one in report.standings)], rows) if rows else ""


def _failures(report: Report, most: int) -> str:
    failed = [one for one in report.attempts if one.state == "failed" or one.verdict.harness_error is not None]
    if not failed:
        return ""
    rows = [[code(f"{one.scenario} #{one.repeat + 1}"), code(one.column, 80), code(one.why)] for one in failed[:most]]
    more = f"\n\n{len(failed) - most} more are not listed." if len(failed) > most else ""
    body = table(["attempt", "player", "why"], rows) + more
    return f"<details>\n<summary>{_counted(failed)}</summary>\n\n{body}\n\n</details>"


def _counted(failed: Sequence[ReportedAttempt]) -> str:
    errors = sum(one.verdict.harness_error is not None for one in failed)
    judged = f"{len(failed) - errors} attempts failed"
    return f"{judged}, {errors} were not judged" if errors else judged
