"""The report as Markdown, for example for a CI summary: figures first, then failures and their reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from evals.analysis.statistics import Estimate
from evals.report.baseline import BaselineComparison
from evals.report.clipping import line
from evals.report.formats.figures import figure
from evals.report.gate import GateDecision
from evals.report.model import Report, ReportedAttempt
from evals.report.players import DOLLARS, Apart
from evals.report.standings import Standing
from evals.score import METRICS

MOST_FAILURES = 50
"""The most failed attempts that are listed."""

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&-])")


def as_markdown(report: Report) -> str:
    """Render a report; texts of models and flows are only in code spans, where they have no effect."""
    parts = [f"# {_plain(report.title)}", _overview(report)]
    parts += [decision(one, report.gate) for one in report.decided]
    parts += [_beside(one, report.baseline) for one in report.against]
    if report.alone:
        names = ", ".join(code(name, 80) for name in report.alone)
        parts.append(f"Not compared, because the baseline has several players and none with this name: {names}")
    parts += [_duels(report), _apart(report), _spreads(report), _scores(report), _tags(report), _failures(report)]
    return "\n\n".join(part for part in parts if part).encode("utf-8", "backslashreplace").decode() + "\n"


def code(text: str, limit: int = 300) -> str:
    """Any text as a code span on one line, also inside a table."""
    flat = line(text, limit).replace("`", "´").replace("|", "¦").strip()
    return f"`{flat}`" if flat else "–"


def _overview(report: Report) -> str:
    rows = [
        [
            code(one.name, 80),
            f"{one.passed} of {one.attempts}{f', {one.harness_errors} not judged' if one.harness_errors else ''}",
            estimated(one.rate),
            _clusters(one.rate),
            _rates(one),
            str(len(one.flaky)),
            str(one.harness_errors),
            _number(one.costs.tokens),
            _number(one.costs.seconds),
        ]
        for one in report.standings
    ]
    heads = [
        "player",
        "passed",
        "pass rate (95%)",
        "clusters",
        "pass^k",
        "flaky",
        "harness errors",
        "tokens",
        "seconds",
    ]
    return table(heads, rows)


def decision(one: GateDecision, gate: str, most: int = MOST_FAILURES) -> str:
    """What a gate decided about a player, with at most so many reasons."""
    head = f"**{code(one.name, 80)} {'passes' if one.ok else 'does not pass'} the gate {code(gate, 80)}.**"
    listed = [f"- {code(text)}" for text in (*one.reasons, *one.improvements)[:most]]
    more = len(one.reasons) + len(one.improvements) - len(listed)
    return "\n".join([head, "", *listed, *([f"- and {more} more"] if more else [])]).rstrip()


def _beside(one: BaselineComparison, baseline: str) -> str:
    rows = [
        [
            test.metric,
            f"{test.before:.1%}",
            f"{test.after:.1%}",
            f"{test.difference * 100:+.1f}",
            f"{test.p:.4f}",
            f"{test.adjusted:.4f}",
            f"{test.smallest_effect * 100:.1f}",
        ]
        for test in one.tested
    ]
    heads = ["measure", "baseline", "now", "difference (points)", "p", "p (Holm)", "smallest effect (points)"]
    lines = [f"## {code(one.name, 80)} beside {code(one.baseline, 80)} of {code(baseline, 80)}", table(heads, rows)]
    for title, changes in (("Newly failing", one.worse), ("Newly passing", one.better)):
        if changes:
            listed = "\n".join(f"- {code(each.scenario)}: {each.before:.0%} → {each.now:.0%}" for each in changes)
            lines.append(f"**{title}**\n\n{listed}")
    return "\n\n".join(lines)


def _duels(report: Report) -> str:
    rows = [
        [
            f"{code(one.first, 80)} → {code(one.second, 80)}",
            f"{one.tested.before:.1%}",
            f"{one.tested.after:.1%}",
            f"{one.tested.difference * 100:+.1f} ({one.tested.low * 100:+.1f} to {one.tested.high * 100:+.1f})",
            f"{one.tested.adjusted:.4f}",
            f"{one.tested.scenarios} in {_counted(one.tested.clusters, 'cluster')}",
        ]
        for one in report.duels
    ]
    heads = ["players", "first", "second", "difference in points (95%)", "p (Holm)", "scenarios"]
    return f"## Player against player\n\n{table(heads, rows)}" if rows else ""


def _apart(report: Report) -> str:
    rows = [
        [code(one.scenario), *("–" if share is None else f"{share:.0%}" for share in one.shares), _first_inputs(one)]
        for one in report.apart
    ]
    heads = ["scenario", *(code(one.name, 80) for one in report.standings), "first input that fails"]
    return f"## What tells the players apart\n\n{table(heads, rows)}" if rows else ""


def _first_inputs(one: Apart) -> str:
    return "; ".join(f"{code(player, 40)}: {code(text, 120)}" for player, text in one.inputs) or "–"


def _spreads(report: Report) -> str:
    rows = [
        [
            one.name,
            code(one.player, 80),
            *(
                figure(value) if one.name == DOLLARS else _number(value)
                for value in (one.low, one.quarter, one.median, one.upper, one.tail, one.high)
            ),
            str(one.count),
        ]
        for one in report.spreads
    ]
    heads = ["figure", "player", "least", "25%", "median", "75%", "95%", "most", "attempts"]
    return f"## Latency and cost\n\n{table(heads, rows)}" if rows else ""


def _scores(report: Report) -> str:
    rows = [[name, *(estimated(one.scores[name]) for one in report.standings)] for name in METRICS]
    return "## Scores\n\n" + table(["score", *(code(one.name, 80) for one in report.standings)], rows)


def _tags(report: Report) -> str:
    rows: list[list[str]] = []
    for kind in ("splits", "tags"):
        groups: list[dict[str, Estimate | None]] = [getattr(one, kind) for one in report.standings]
        for name in sorted({name for group in groups for name in group}):
            label = f"split {name}" if kind == "splits" else name
            rows.append([label, *(estimated(group.get(name)) for group in groups)])
    return "## Pass rate by tag\n\n" + table(["tag", *(code(one.name, 80) for one in report.standings)], rows)


def _failures(report: Report) -> str:
    failed = [one for one in report.attempts if one.state == "failed" or one.verdict.harness_error is not None]
    if not failed:
        return ""
    fixes = any(one.smallest_fix is not None for one in failed)
    heads = ["attempt", "player", "why", *(["smallest fix"] if fixes else [])]
    rows = [
        [code(_named(one)), code(one.column, 80), code(one.why), *([_fix(one)] if fixes else [])]
        for one in failed[:MOST_FAILURES]
    ]
    more = f"\n\n{len(failed) - MOST_FAILURES} more are not listed." if len(failed) > MOST_FAILURES else ""
    return "## What failed\n\n" + table(heads, rows) + more


def _fix(one: ReportedAttempt) -> str:
    return code("" if one.smallest_fix is None else "; ".join(change.text for change in one.smallest_fix.changes))


def _named(one: ReportedAttempt) -> str:
    return f"{one.scenario} #{one.repeat + 1}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def estimated(estimate: Estimate | None) -> str:
    """A mean with its interval in percent."""
    return "–" if estimate is None else f"{estimate.mean:.1%} ({estimate.span})"


def _clusters(estimate: Estimate | None) -> str:
    return "–" if estimate is None else f"{estimate.clusters} of {estimate.scenarios} scenarios"


def _rates(one: Standing) -> str:
    return ", ".join(f"k={k}: {rate:.1%}" for k, rate in one.pass_hat_k.items()) or "–"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", line(text, 200))
