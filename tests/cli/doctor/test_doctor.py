"""`wirewright doctor`: what it finds, what it writes for a bug report, and what never stands in there."""

import importlib.util
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Wirewright

KEY = "sk-doctor-0123456789abcdef"
EXTRAS = ("Page", "MCP", "Durable turns", "Postgres", "Evaluations", "Keyring")


def test_parts_are_listed_with_what_to_do_about_them(wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    done = wirewright("doctor", "--json")
    checks = {check["name"]: check for check in done.json["checks"]}
    assert {"Python", "Flow engine", "Component types", "Models", "Data folder", "Cache folder", "Disk"} <= set(checks)
    assert checks["Models"]["detail"].startswith("keys for openai")
    assert all(check["fix"] for check in checks.values() if check["status"] == "missing")
    assert done.json["ok"] == all(check["status"] != "missing" for check in checks.values())
    assert done.code == (0 if done.json["ok"] else 1)
    assert KEY not in done.out


def test_without_an_engine_it_says_so_and_how_to_get_it(
    wirewright: Wirewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_CACHE", str(tmp_path / "none"))
    done = wirewright("doctor")
    assert done.code == 1
    assert "NO  Flow engine: Not installed" in done.out
    assert "wirewright runner install" in done.out
    assert "from the package" in done.out
    assert all(len(line) <= 200 for line in done.out.splitlines())


def test_a_folder_that_cannot_be_written_is_named_with_its_variable(
    wirewright: Wirewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("WIREWRIGHT_DATA", str(tmp_path / "file" / "data"))
    found = {check["name"]: check for check in wirewright("doctor", "--json").json["checks"]}
    assert found["Data folder"]["status"] == "missing"
    assert "WIREWRIGHT_DATA" in found["Data folder"]["fix"]


def test_the_report_for_a_bug_has_no_key_and_no_path(
    wirewright: Wirewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("WIREWRIGHT_DATA", str(tmp_path / "private-name"))
    monkeypatch.setenv("WIREWRIGHT_MODEL", "demo")
    monkeypatch.setenv("WIREWRIGHT_RUN_VARIABLES", "MY_SECRET_SERVICE")
    target = tmp_path / "report.json"
    done = wirewright("doctor", "--bundle", target)
    assert "report.json" in done.err
    text = target.read_text(encoding="utf-8")
    report = json.loads(text)
    assert report["settings"]["model"] == "demo"
    assert "ANTHROPIC_API_KEY" in report["variables"]
    assert report["packages"]["wirewright"] != "unknown"
    for private in (KEY, "private-name", "MY_SECRET_SERVICE", str(Path.home()) + "/"):
        assert private not in text


def test_a_report_replaces_no_file(wirewright: Wirewright, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("mine")
    done = wirewright("doctor", "--bundle", tmp_path / "report.json", "--json")
    assert (done.code, done.json["error"]["code"]) == (2, "file_exists")
    assert (tmp_path / "report.json").read_text() == "mine"
    nowhere = wirewright("doctor", "--bundle", tmp_path / "no" / "report.json", "--json")
    assert (nowhere.code, nowhere.json["error"]["code"]) == (2, "not_written")


def test_the_page_and_every_extra_are_listed(wirewright: Wirewright) -> None:
    checks = {check["name"]: check for check in wirewright("doctor", "--json").json["checks"]}
    assert set(EXTRAS) <= set(checks)
    assert all(check["fix"] or check["status"] == "works" for check in checks.values() if check["name"] in EXTRAS)


def without(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide an installed package."""

    def find(name: str) -> object:
        return None if name == package else importlib.util.find_spec(name)

    monkeypatch.setattr("cli.doctor.extras.find_spec", find)


def test_an_extra_that_is_not_installed_is_named_with_how_to_get_it(
    wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    without("mcp", monkeypatch)
    found = {check["name"]: check for check in wirewright("doctor", "--json").json["checks"]}["MCP"]
    assert found["status"] == "optional"
    assert "wirewright[mcp]" in found["fix"]


def test_an_extra_that_the_settings_need_is_missing(wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch) -> None:
    without("psycopg", monkeypatch)
    monkeypatch.setenv("DATABASE_URL", "postgresql://ada:hunter2@db.example.org/flows")
    done = wirewright("doctor", "--json")
    found = {check["name"]: check for check in done.json["checks"]}["Postgres"]
    assert (done.code, found["status"]) == (1, "missing")
    assert "hunter2" not in done.out


def test_a_page_that_was_not_built_is_named(
    wirewright: Wirewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.doctor.extras.STATIC", tmp_path)
    found = {check["name"]: check for check in wirewright("doctor", "--json").json["checks"]}["Page"]
    assert found["status"] == "optional"
    assert "make page" in found["fix"]
