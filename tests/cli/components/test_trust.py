"""`wirewright components trust`: what the guard refuses may run when its operator says so."""

from pathlib import Path

import pytest

from tests.cli.conftest import Wirewright


@pytest.fixture
def harmful(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WIREWRIGHT_DATA", str(tmp_path / "data"))
    path = tmp_path / "component.py"
    path.write_text("import subprocess\n")
    return path


def test_a_source_is_trusted_listed_and_revoked(wirewright: Wirewright, harmful: Path) -> None:
    done = wirewright("components", "trust", harmful, "--json")
    assert (done.code, done.json["ok"]) == (0, True)
    assert [found["rule"] for found in done.json["violations"]] == ["process"]
    (one,) = done.json["trusted"]
    assert wirewright("components", "trust", "--list", "--json").json["trusted"] == [one]
    assert wirewright("components", "scan", harmful).code == 1
    done = wirewright("components", "trust", "--revoke", one["digest"][:10], "--json")
    assert done.json == {"ok": True, "revoked": [one]}
    assert wirewright("components", "trust", "--list").out == ""


def test_what_the_guard_says_is_told_before_it_is_trusted(wirewright: Wirewright, harmful: Path) -> None:
    done = wirewright("components", "trust", harmful)
    assert done.code == 0
    assert "process" in done.err
    assert "trusted" in done.out


def test_nothing_or_several_things_to_do_is_bad_usage(wirewright: Wirewright, harmful: Path) -> None:
    assert wirewright("components", "trust").code == 2
    assert wirewright("components", "trust", harmful, "--list").code == 2


def test_a_digest_that_is_not_trusted_is_an_error_with_the_remedy(wirewright: Wirewright, harmful: Path) -> None:
    done = wirewright("components", "trust", "--revoke", "abc")
    assert done.code == 1
    assert "--list" in done.err
    assert harmful.exists()
