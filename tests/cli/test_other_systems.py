"""The command on systems that cannot fork or confine a run: flows are refused with the reason, and all else works."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.install import environment
from tests.cli.conftest import Wirewright
from tests.processes.kernels.lacking import lacking
from tests.shared import kernel

VARIABLE = "WIREWRIGHT_RUN_CONFINEMENT"
ABLE = pytest.mark.skipif(not kernel.confines(), reason="this kernel itself lacks Landlock 4 or seccomp")
REASONS = {
    "fork": "it cannot fork",
    "Landlock": "its kernel lacks what confines them: Landlock 4.",
    "old Landlock": "its kernel lacks what confines them: Landlock 4. Its Landlock is version 3.",
    "seccomp": "its kernel lacks what confines them: seccomp.",
}
MISSING = {
    "Landlock": ["file system", "network of other runs"],
    "old Landlock": ["network of other runs"],
    "seccomp": ["system calls"],
}
pytestmark = ABLE


async def _never(*_: object, **__: object) -> None:
    raise AssertionError("packages that nothing can use are downloaded")


@pytest.fixture
def on_a_machine_without(excerpt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Takes something from the machine: it has the component types and no engine, and the operator has said nothing."""

    def take(missing: str) -> None:
        monkeypatch.delenv(VARIABLE, raising=False)
        monkeypatch.setattr(environment.RunnerEnvironment, "install", _never)
        if missing == "fork":
            monkeypatch.delattr(os, "fork")
            return
        landlock = {"Landlock": 0, "old Landlock": 3}.get(missing, 7)
        source = lacking(
            tmp_path / "source", environment.runner_source(), landlock=landlock, seccomp=missing != "seccomp"
        )
        monkeypatch.setattr(environment, "runner_source", lambda: source)

    return take


@pytest.fixture(params=REASONS)
def lacks(request: pytest.FixtureRequest, on_a_machine_without: Callable[[str], None]) -> str:
    """What the machine lacks, one after the other."""
    on_a_machine_without(request.param)
    return str(request.param)


@pytest.fixture
def without_landlock(on_a_machine_without: Callable[[str], None]) -> None:
    """The machine lacks Landlock."""
    on_a_machine_without("Landlock")


def test_a_flow_is_refused_with_what_is_lacking_and_the_remedy(
    wirewright: Wirewright, louder: Path, lacks: str
) -> None:
    done = wirewright("flow", "run", louder, "--input", "hi", "--json")
    assert (done.code, done.json["ok"], done.json["output"]) == (1, False, None)
    assert done.json["error"]["code"] == "refused"
    assert REASONS[lacks] in done.json["error"]["message"]
    assert ("WSL" if lacks == "fork" else f"{VARIABLE}=available") in done.json["error"]["fix"]
    shown = wirewright("flow", "run", louder, "--input", "hi")
    assert shown.out == ""
    assert REASONS[lacks] in shown.err


def test_the_status_says_that_flows_do_not_run(wirewright: Wirewright, lacks: str) -> None:
    status = wirewright("runner", "status", "--json")
    assert status.code == 0
    assert REASONS[lacks] in status.json["refusal"]["message"]
    assert (status.json["run_confinement"], status.json["missing_protections"]) == ("required", MISSING.get(lacks, []))


def test_the_doctor_says_that_flows_do_not_run(wirewright: Wirewright, lacks: str) -> None:
    doctor = wirewright("doctor", "--json")
    [runs] = [check for check in doctor.json["checks"] if check["name"] == "Runs"]
    assert (doctor.code, runs["status"]) == (1, "missing")
    assert REASONS[lacks] in runs["detail"]
    assert runs["fix"]


def test_the_status_says_what_runs_have_to_do_without_where_the_operator_allows_it(
    wirewright: Wirewright, lacks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "available")
    status = wirewright("runner", "status", "--json").json
    assert (status["run_confinement"], status["missing_protections"]) == ("available", MISSING.get(lacks, []))
    assert (status["refusal"] is None) == (lacks != "fork"), "no setting makes up for a process of its own"


@pytest.mark.usefixtures("without_landlock")
def test_status_and_doctor_say_it_in_plain_words(wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch) -> None:
    assert REASONS["Landlock"] in " ".join(wirewright("runner", "status").out.split())
    monkeypatch.setenv(VARIABLE, "available")
    named = ", ".join(MISSING["Landlock"])
    assert named in " ".join(wirewright("runner", "status").out.split())
    [runs] = [check for check in wirewright("doctor", "--json").json["checks"] if check["name"] == "Runs"]
    assert runs["status"] == "optional"
    assert named in runs["detail"]


@pytest.mark.usefixtures("without_landlock")
def test_a_flow_is_built_checked_and_searched_for_all_the_same(
    wirewright: Wirewright, louder: Path, tmp_path: Path
) -> None:
    assert wirewright("flow", "build", louder, "--out", tmp_path / "built.json").code == 0
    assert wirewright("flow", "check", tmp_path / "built.json").code == 0
    assert wirewright("components", "search", "chat").code == 0


@pytest.mark.usefixtures("without_landlock")
def test_the_demo_builds_a_flow_and_says_in_plain_words_why_it_was_not_run(wirewright: Wirewright) -> None:
    done = wirewright("ask", "Build a flow that echoes its input", "--model", "demo")
    assert done.code == 0, done.err
    said = " ".join(done.out.split())
    assert REASONS["Landlock"] in said
    assert f"{VARIABLE}=available" in said


def test_an_unknown_rule_is_named(wirewright: Wirewright, louder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "off")
    done = wirewright("flow", "run", louder, "--json")
    assert done.code != 0
    assert VARIABLE in done.out
    assert "required" in done.out
