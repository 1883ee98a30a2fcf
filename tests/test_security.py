"""The figures of SECURITY.md are those of the tables in `tests`, and every path that it names exists."""

import re
from functools import cache
from pathlib import Path

import pytest

from lfx_runner.confine.policy import FACTS, FOLDER_SIZE
from lfx_runner.confine.root import MAX_FILES
from runtime.engine.protocol import MAX_THREADS
from runtime.guard import scan
from tests.attacks.hostile import tried
from tests.attacks.report import REPORT
from tests.runtime.guard.sampling import samples, ways_around

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "SECURITY.md"
_MARKED = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- /figures -->)", re.DOTALL)


def reported(row: str) -> int:
    """A figure of the report on injections."""
    (figure,) = re.findall(rf"^\| {row} \| (\d+) \|$", REPORT.read_text(), re.MULTILINE)
    return int(figure)


@cache
def figures() -> str:
    """The tables of the page, from what is tried now."""
    hostile = [sample.source() for sample in samples("hostile")]
    ways = list(ways_around().values())
    benign = [sample.source() for sample in samples("benign")]
    twins, proposed = reported("twins tried"), reported("proposed first, because they replace a text of the user's own")
    rows = [
        ("tried", "number", "with effect"),
        ("---", "---", "---"),
        ("hostile sources, each of which does harm where nothing stops it", len(hostile), passed(hostile)),
        ("ways around the guard's rules", len(ways), passed(ways)),
        ("hostile requests to the server", tried(), 0),  # `tests/attacks/test_requests.py` fails at the first effect
        (
            "injected orders, obeyed by the model",
            reported("injections tried"),
            reported("with side effects without an approval"),
        ),
        (),
        ("served", "number", "refused or asked about"),
        ("---", "---", "---"),
        ("ordinary components", len(benign), len(benign) - passed(benign)),
        ("the same acts, asked for by the user", twins, twins - reported("served without a question") - proposed),
    ]
    return "".join(f"| {' | '.join(map(str, row))} |\n" if row else "\n" for row in rows)


def passed(sources: list[str]) -> int:
    """How many sources the guard lets through."""
    return sum(not scan(source) for source in sources)


def test_the_figures_are_those_of_the_tables(request: pytest.FixtureRequest) -> None:
    page = PAGE.read_text(encoding="utf-8")
    if request.config.getoption("--update-surfaces"):
        PAGE.write_text(page := _MARKED.sub(lambda _: figures(), page), encoding="utf-8")
    assert _MARKED.findall(page) == [figures()]


def test_the_limits_are_those_that_runs_have() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"threads ({MAX_THREADS:,}), files ({FOLDER_SIZE.removesuffix('m')} MB, and {MAX_FILES:,} of them)" in page
    readable = {path for path in FACTS if path.startswith("/proc/")}
    assert f"Of `/proc` it reads {' and '.join(f'`{path}`' for path in sorted(readable))}" in page


def test_what_was_tried_had_no_effect() -> None:
    for row in figures().partition("\n\n")[0].splitlines()[2:]:
        assert row.endswith("| 0 |"), row


def test_every_path_that_the_page_names_exists() -> None:
    page = PAGE.read_text(encoding="utf-8")
    named = [*re.findall(r"\]\(([^)]+)\)", page), *re.findall(r"`((?:tests|docs)/[\w./-]+)`", page)]
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []
