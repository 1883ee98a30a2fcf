"""`wirewright jobs list` for people: columns with a header on a terminal, and lines alone for other programs."""

import json
import sys
from pathlib import Path

import pytest

from flows.document import JsonObject
from tests.cli.remote.conftest import Serve


def test_the_columns_have_a_header_on_a_terminal_alone(
    serve: Serve, echo: JsonObject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = serve()
    (tmp_path / "echo.json").write_text(json.dumps({**echo, "name": "Echo"}))
    (tmp_path / "inputs.jsonl").write_text('"a"\n"b"\n')
    assert remote.run("flow", "import", tmp_path / "echo.json").code == 0
    batch = ("flow", "run", "Echo", "--batch", tmp_path / "inputs.jsonl", "--out", tmp_path / "out.jsonl", "--json")
    made = remote.run(*batch).json
    [line] = remote.run("jobs", "list").out.splitlines()
    assert line.startswith(made["id"])
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    header, row = remote.run("jobs", "list").out.splitlines()
    assert header.split() == ["ID", "SINCE", "STATE", "QUEUE", "FLOW"]
    assert row.split() == line.split()
    cells = {"ID": made["id"], "SINCE": "20", "STATE": "done", "QUEUE": "batch", "FLOW": "Echo"}
    for name, cell in cells.items():
        assert row[header.index(name) :].startswith(cell), (name, row)
    assert row.endswith("2 inputs: 2 done")
