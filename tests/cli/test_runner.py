"""`wirewright runner`: what is installed, and installing it."""

from pathlib import Path

import pytest

from runtime.install.environment import RunnerEnvironment
from runtime.install.errors import InstallError
from tests.cli.conftest import Wirewright


def test_status_says_what_is_missing(wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WIREWRIGHT_CACHE", str(tmp_path / "empty"))
    found = wirewright("runner", "status", "--json")
    assert found.code == 0
    assert (found.json["installed"], found.json["catalogue"], found.json["packages"]) == (False, False, 0)
    assert all(set(entry) == {"name", "active", "note"} for entry in found.json["protections"])
    assert (
        "Not installed. Run: wirewright runner install (it downloads the engine's packages)"
        in wirewright("runner", "status").out
    )


@pytest.mark.parametrize(
    ("variables", "name", "place"),
    [
        ({}, "file", "the file secret.key in the data folder"),
        ({"WIREWRIGHT_SECRET_STORE": "keyring"}, "keyring", "the system's keyring"),
        (
            {"WIREWRIGHT_SECRET_KEY": "k" * 32, "WIREWRIGHT_SECRET_STORE": "keyring"},
            "environment",
            "WIREWRIGHT_SECRET_KEY",
        ),
    ],
)
def test_status_says_where_the_key_of_what_is_stored_comes_from(
    wirewright: Wirewright,
    excerpt: Path,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    name: str,
    place: str,
) -> None:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    assert wirewright("runner", "status", "--json").json["secret_key"] == name
    shown = wirewright("runner", "status").out
    assert f"Keys at rest are encrypted with a key from {place}." in " ".join(shown.split())
    assert "k" * 32 not in shown


def test_status_refuses_a_store_of_keys_that_does_not_exist(
    wirewright: Wirewright, excerpt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_SECRET_STORE", "vault")
    done = wirewright("runner", "status", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "secret_key_unavailable")


@pytest.mark.engine
def test_status_says_what_is_there(wirewright: Wirewright, runner_environment: RunnerEnvironment) -> None:
    found = wirewright("runner", "status", "--json").json
    assert (found["installed"], found["catalogue"], found["digest"]) == (True, True, runner_environment.digest)
    assert found["component_types"] > 100
    assert f"lfx {found['lfx']}" in wirewright("runner", "status").out


@pytest.mark.engine
def test_installing_what_is_there_is_done_at_once(
    wirewright: Wirewright, runner_environment: RunnerEnvironment
) -> None:
    done = wirewright("runner", "install", "--json")
    assert done.code == 0
    assert (done.json["ok"], done.json["error"], done.json["status"]["installed"]) == (True, None, True)


def test_an_installation_that_fails_says_why(
    wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def refused(*_: object, repair: bool = False) -> None:
        assert repair
        raise InstallError("The disk is full.", "Free some space.")

    monkeypatch.setattr(RunnerEnvironment, "install", refused)
    monkeypatch.setenv("WIREWRIGHT_CACHE", str(tmp_path / "empty"))
    done = wirewright("runner", "install", "--repair", "--json")
    assert done.code == 1
    assert done.json["ok"] is False
    assert (done.json["error"]["message"], done.json["error"]["fix"]) == ("The disk is full.", "Free some space.")
    shown = wirewright("runner", "install", "--repair")
    assert (shown.code, shown.out) == (1, "")
    assert "The disk is full." in shown.err


def test_progress_goes_to_standard_error(wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch) -> None:
    async def install(_: RunnerEnvironment, progress: object = None, *, repair: bool = False) -> None:
        assert callable(progress)
        progress("Installing the flow engine")

    monkeypatch.setattr(RunnerEnvironment, "install", install)
    done = wirewright("runner", "install")
    assert (done.code, done.out, done.err) == (0, "", "Installing the flow engine\n")
