"""`wirewright variables`: set from standard input, listed by name, removed, never shown."""

import io
import json

import pytest

from cli.main import run

KEY = "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8t"


@pytest.fixture(autouse=True)
def _own_data(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("WIREWRIGHT_DATA", str(tmp_path))


def test_a_variable_is_set_listed_and_removed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"{KEY}\n".encode())))
    assert run(["variables", "set", "SERPER_API_KEY"]) == 0
    assert run(["variables", "list", "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {"variables": [{"name": "SERPER_API_KEY"}]}
    assert KEY not in shown.out + shown.err
    assert run(["variables", "remove", "SERPER_API_KEY"]) == 0
    assert run(["variables", "remove", "SERPER_API_KEY", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "variable_not_found"


def test_an_empty_value_is_bad_usage(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    assert run(["variables", "set", "SERPER_API_KEY"]) == 2
    assert "empty" in capsys.readouterr().err
