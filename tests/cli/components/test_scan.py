"""`wirewright components scan`: a file, or sources on standard input, one per line."""

import json
from pathlib import Path

from inline_snapshot import snapshot

from tests.cli.conftest import Wirewright

HARMFUL = "import os\nos.system('id')\n"
FOUND = {
    "rule": "process",
    "line": 2,
    "message": "`os.system` starts or controls processes.",
    "fix": "Do the work in Python, or call a service over HTTP.",
}


def test_a_file_with_violations_is_reported_by_line_and_exits_with_one(wirewright: Wirewright, tmp_path: Path) -> None:
    path = tmp_path / "component.py"
    path.write_text(HARMFUL)
    done = wirewright("components", "scan", path)
    assert done.code == 1
    assert done.out == f"{path}:2: process: {FOUND['message']} {FOUND['fix']}\n"
    done = wirewright("components", "scan", path, "--json")
    assert (done.code, done.json) == (1, {"ok": False, "id": str(path), "violations": [FOUND]})


def test_a_clean_file_ends_with_zero(wirewright: Wirewright, tmp_path: Path) -> None:
    path = tmp_path / "component.py"
    path.write_text("print('hello')\n")
    done = wirewright("components", "scan", path)
    assert (done.code, done.out) == (0, "")
    assert wirewright("components", "scan", path, "--json").json == {"ok": True, "id": str(path), "violations": []}


def test_a_file_that_is_not_there_is_bad_usage(wirewright: Wirewright, tmp_path: Path) -> None:
    done = wirewright("components", "scan", tmp_path / "none.py", "--json")
    assert done.code == 2
    assert done.json["error"]["code"] == "unreadable"


def test_every_line_is_answered_in_order(wirewright: Wirewright) -> None:
    rows = [
        {"id": "a", "code": HARMFUL},
        {"id": 2, "code": "x = 1"},
        {"id": None, "code": "def ("},
        {"id": {}, "code": ""},
    ]
    sent = "".join(json.dumps(row) + "\n" for row in rows).encode()
    done = wirewright("components", "scan", "-", "--json", stdin=sent)
    assert done.code == 0
    assert [line["id"] for line in done.lines] == ["a", 2, None, {}]
    assert done.lines[0] == {"id": "a", "violations": [FOUND]}
    assert [found["rule"] for found in done.lines[2]["violations"]] == ["syntax"]
    assert done.lines[1]["violations"] == done.lines[3]["violations"] == []
    assert wirewright("components", "scan", "-", stdin=sent).lines == done.lines


def test_a_line_that_cannot_be_read_gets_an_error_and_the_rest_goes_on(wirewright: Wirewright) -> None:
    lines = [b"{", b"\xff\xfe", b"[1]", b'{"id": 4}', b'{"id": 5, "code": 1}', b"", b'{"id": 7, "code": "x"}']
    done = wirewright("components", "scan", "-", "--json", stdin=b"\n".join(lines))
    assert done.code == 0
    assert [line["id"] for line in done.lines] == [None, None, None, 4, 5, None, 7]
    assert ["error" in line for line in done.lines] == [True] * 6 + [False]
    assert all(line["violations"] == [] for line in done.lines)
    assert done.lines[0]["error"] == snapshot(
        {
            "code": "unreadable",
            "message": "The line is not JSON.",
            "fix": 'Send {"id": …, "code": "…"}, one per line.',
            "where": "line 1",
        }
    )


def test_a_missing_line_is_a_missing_answer(wirewright: Wirewright) -> None:
    assert wirewright("components", "scan", "-", "--json").lines == []
