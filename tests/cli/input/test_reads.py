"""A file or text that a command cannot use: what is wrong is said in a line, with the remedy, and nothing is left."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.input.conftest import LEVELS, Bench, Done
from tests.cli.input.table import (
    ANSWERED_BY_LINE,
    BINARY,
    DEEP,
    FOLDER,
    FORBIDDEN,
    HUGE,
    MISSING,
    NUL,
    READS,
    Reads,
)

CASES = [
    pytest.param(row, case, id=f"{row.arguments} {case}")
    for row in READS
    for case in row.codes
    if not (row.stdin and case in {MISSING, FOLDER, FORBIDDEN}) and row.codes[case]
]


def _check(done: Done, row: Reads, case: str, *, as_json: bool) -> None:
    assert done.code == row.code, done
    assert done.survivors == []
    assert "Traceback" not in done.out + done.err
    if as_json:
        error = done.document["error"]
        assert error["code"] == row.codes[case], error
        assert error["fix"]
        message = f"{error['message']} {error['where']}"
    else:
        assert done.out == ""
        lines = done.err.splitlines()
        assert lines[0].startswith("Error: "), lines
        assert len(lines) == 1, lines
        message = done.err
    place = "standard input" if row.stdin else "small-echo" if row.inside and case != MISSING else f"bad-{case}"
    assert place in message, message


@pytest.mark.table
@pytest.mark.parametrize(("row", "case"), CASES)
def test_bad_input_is_refused_with_its_place_and_the_remedy(row: Reads, case: str, bench: Bench) -> None:
    if case == FORBIDDEN and os.getuid() != 0:
        pytest.skip("the tests do not run as root, so what root may read cannot be forbidden to another user")
    given, conditions = _given(row, case, bench)
    before = bench.state()
    for more in ([], ["--json"]) if case in (MISSING, HUGE) else (["--json"],):
        done = bench.run(row.arguments.replace("{}", given), *more, **conditions)
        _check(done, row, case, as_json=bool(more))
        assert bench.state() == before


def _given(row: Reads, case: str, bench: Bench) -> tuple[str, dict[str, Any]]:
    """The bad argument, and the conditions of the case."""
    if row.inside:
        return _folder(row, case, bench)
    path = bench.bad(case, row.ending)
    conditions: dict[str, Any] = {"stdin": str(path)} if row.stdin else {}
    return path.name, {**conditions, "user": case == FORBIDDEN}


def _folder(row: Reads, case: str, bench: Bench) -> tuple[str, dict[str, Any]]:
    """A folder with a bad file in it."""
    folder = bench.work / f"bad-{case}-folder"
    if case != MISSING:
        folder.mkdir()
        bench.bad(case, row.ending).rename(folder / f"small-echo{row.ending}")
    return folder.name, {"user": case == FORBIDDEN}


@pytest.mark.parametrize("command", ANSWERED_BY_LINE)
def test_a_bad_line_is_answered_in_its_turn(command: str, bench: Bench) -> None:
    arguments, _ = ANSWERED_BY_LINE[command]
    path = bench.work / "lines"
    good = b'{"id": 1, "code": "x = 1"}\n'
    bad = {"unreadable": b"\xff\xfe\n", "too_large": b"[" * (33 << 20) + b"\n"}
    path.write_bytes(good + b"".join(bad.values()) + b"[" * LEVELS + b"\n" + good)
    done = bench.run(arguments, "--json", stdin=str(path))
    answers = [line for line in done.out.splitlines() if line]
    assert (done.code, len(answers)) == (0, 5)
    for code, answer in zip(bad, answers[1:3], strict=True):
        assert f'"code": "{code}"' in answer
    assert "error" not in answers[0] + answers[4]


def test_the_bad_files_are_bad(bench: Bench) -> None:
    assert not bench.bad(MISSING, "").exists()
    assert bench.bad(FOLDER, "").is_dir()
    assert b"\0" in bench.bad(NUL, "").read_bytes()
    assert bench.bad(DEEP, "").stat().st_size == LEVELS
    assert bench.bad(HUGE, "").stat().st_size > 32 << 20
    with pytest.raises(UnicodeDecodeError):
        bench.bad(BINARY, "").read_text(encoding="utf-8")
    assert Path(bench.bad(FORBIDDEN, "")).stat().st_mode & 0o777 == 0
