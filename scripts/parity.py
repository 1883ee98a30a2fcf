"""The parity inventory: rows of the specifications, the tests that are marked with them, and the page of both.

`python -m scripts.parity` removes `missing` from rows that now have a test and renders `docs/parity.md`.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from scripts.checkout import ROOT

ROWS = ROOT / "tests" / "parity" / "rows.yaml"
PAGE = ROOT / "docs" / "parity.md"

KINDS: Mapping[str, str] = {
    "adr": "Decisions",
    "scenario": "Scenarios",
    "term": "Terms",
    "error": "Errors and failures",
    "metric": "Metrics",
    "log": "Log events",
    "smoke": "Smoke tests",
    "behaviour": "Behaviour",
    "rule": "Rules",
}
"""The kinds of rows and their headings."""

SPECIFICATIONS: Mapping[str, str] = {
    "assistant": "The assistant",
    "mcp": "Its flow-builder tools",
    "agui": "The AG-UI adapter",
    "streams": "Streams of events",
    "aisdk": "The AI SDK's stream protocol",
}
"""The specifications and their headings."""

DISPOSITIONS: Mapping[str, str] = {
    "backend": "tested",
    "service": "comes with the HTTP service",
    "page": "comes with the page",
    "different": "done differently",
    "not_applicable": "does not apply",
}
"""The status of a row; all but the first need a reason."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # faster in C, where PyYAML was built with it

MARK_LIMIT = 5
"""The most rows that one test may demonstrate: one thing may be a term, a scenario, a smoke test and a metric."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One requirement of a specification.

    Attributes:
        id: what a test names in its mark.
        specification: `assistant` or `mcp`.
        kind: a key of `KINDS`.
        disposition: a key of `DISPOSITIONS`.
        reason: why the back end does not do it this way.
        missing: what no test demonstrates yet.
    """

    id: str
    specification: str
    line: int
    kind: str
    disposition: str
    title: str
    reason: str = ""
    missing: str = ""


@dataclass(frozen=True, kw_only=True)
class MarkedTest:
    """A test and the rows that it demonstrates.

    Attributes:
        rows: the ids in its marks, in order.
    """

    path: str
    name: str
    rows: tuple[str, ...]


def rows(text: str | None = None) -> list[Row]:
    """The inventory, in its order.

    Args:
        text: YAML; the committed file when None.

    Raises:
        ValueError: when a row has unknown keys or lacks one.
    """
    written = ROWS.read_text(encoding="utf-8") if text is None else text
    entries: list[dict[str, Any]] = yaml.load(written, Loader=_LOADER)  # noqa: S506  (a safe loader)
    try:
        return [Row(**entry) for entry in entries]
    except TypeError as error:
        raise ValueError(f"A row of the inventory is not well formed: {error}.") from error


def marked_tests(folder: Path = ROOT / "tests") -> list[MarkedTest]:
    """The tests of a folder that carry a parity mark, without importing any."""
    found: list[MarkedTest] = []
    for path in sorted(folder.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                shown = tuple(row for decorator in node.decorator_list for row in _marks(decorator))
                if shown:
                    place = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
                    found.append(MarkedTest(path=place.as_posix(), name=node.name, rows=shown))
    return found


def _marks(decorator: ast.expr) -> Iterator[str]:
    """The rows that a decorator names; an argument that is not a string literal is shown as source."""
    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.parity":
        for argument in decorator.args:
            value = argument.value if isinstance(argument, ast.Constant) else None
            yield value if isinstance(value, str) else ast.unparse(argument)


def showing(tests: Sequence[MarkedTest]) -> dict[str, list[MarkedTest]]:
    """The tests by the row that they demonstrate."""
    by_row: dict[str, list[MarkedTest]] = defaultdict(list)
    for test in tests:
        for row in test.rows:
            by_row[row].append(test)
    return by_row


def rendered(inventory: Sequence[Row], tests: Sequence[MarkedTest]) -> str:
    """The page: a summary, and every row with its tests, its reason or what is missing."""
    by_row = showing(tests)
    lines = [
        "# Parity",
        "",
        "What the specifications of Langflow's assistant and its flow-builder tools require, and the tests that show",
        "it. Rendered by `python -m scripts.parity` from `tests/parity/rows.yaml` and the marks of the tests; the",
        "first column gives the line in the specification.",
        "",
        *_summary(inventory),
    ]
    for specification, heading in SPECIFICATIONS.items():
        lines += ["", f"## {heading}"]
        for kind, title in KINDS.items():
            chosen = [row for row in inventory if (row.specification, row.kind) == (specification, kind)]
            if chosen:
                lines += ["", f"### {title}", "", "| line | row | what | |", "|---|---|---|---|"]
                lines += [_line(row, by_row.get(row.id, [])) for row in chosen]
    return "\n".join(lines) + "\n"


def _summary(inventory: Sequence[Row]) -> list[str]:
    counts = Counter((row.kind, row.disposition) for row in inventory)
    missing = Counter(row.kind for row in inventory if row.missing)
    heads = [*DISPOSITIONS.values(), "test missing"]
    lines = [f"| | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for kind, title in KINDS.items():
        cells = [*(counts[kind, disposition] for disposition in DISPOSITIONS), missing[kind]]
        lines.append(f"| {title} | {' | '.join(map(str, cells))} |")
    totals = [*(sum(counts[kind, name] for kind in KINDS) for name in DISPOSITIONS), missing.total()]
    return [*lines, f"| **All** | {' | '.join(f'**{total}**' for total in totals)} |"]


def _line(row: Row, tests: Sequence[MarkedTest]) -> str:
    shown = "; ".join(f"[{_spoken(test.name)}](../{test.path})" for test in tests)
    why = f"*{DISPOSITIONS[row.disposition].capitalize()}.* {row.reason}" if row.reason else ""
    lacks = f"**Not shown yet:** {row.missing}." if row.missing else ""
    said = " ".join(part for part in (why, shown, lacks) if part)
    return f"| {row.line} | `{row.id}` | {_cell(row.title)} | {_cell(said)} |"


def _spoken(name: str) -> str:
    return name.removeprefix("test_").replace("_", " ")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def settled(text: str, tests: Sequence[MarkedTest]) -> str:
    """The inventory's text without `missing` on rows that have a test."""
    shown = {row for test in tests for row in test.rows}
    lines: list[str] = []
    for line in text.splitlines():
        named = re.match(r"- \{id: ([^,]+),", line)
        done = named is not None and named[1] in shown
        lines.append(re.sub(r", missing: .*\}$", "}", line) if done else line)
    return "\n".join(lines) + "\n"


def main() -> None:
    """Bring the inventory and the page up to date."""
    tests = marked_tests()
    ROWS.write_text(settled(ROWS.read_text(encoding="utf-8"), tests), encoding="utf-8")
    inventory = rows()
    PAGE.write_text(rendered(inventory, tests), encoding="utf-8")
    left = sum(1 for row in inventory if row.missing)
    print(f"{len(inventory)} rows, {len(tests)} marked tests, {left} rows without a test.")


if __name__ == "__main__":
    main()
