"""`wirewright eval run`: plays, tells, and exits 1 when too little passes."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.settings import AssistantSettings
from evals.journal import read_journal
from evals.players import Stage
from evals.scenario import load_scenarios
from evals.score import score
from flows.catalogue import Catalogue
from tests.cli.conftest import Wirewright
from tests.stand_ins import StandInRunner, ran


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch, catalogue: Catalogue) -> StandInRunner:
    """A stand-in for the engine, which answers every run with `hello`."""
    stand_in = StandInRunner(results=[ran("hello")])

    @asynccontextmanager
    async def opened(concurrency: int) -> AsyncGenerator[Stage]:
        yield Stage(settings=AssistantSettings(), catalogue=catalogue, runner=stand_in, build="stand-in")

    monkeypatch.setattr("cli.stage.opened", opened)
    return stand_in


@pytest.mark.engine
@pytest.mark.parametrize("player", ["demo", "script"])
def test_every_scenario_passes_on_the_real_engine(
    player: str, wirewright: Wirewright, runner_environment: object, tmp_path: Path
) -> None:
    target = tmp_path / "attempts.jsonl"
    done = wirewright("eval", "run", "--player", player, "--min-pass", "1", "--out", target, "--json")
    assert [entry for entry in done.json["attempts"] if not entry["passed"]] == []
    assert done.code == 0
    scenarios = load_scenarios()
    assert (done.json["passed"], done.json["scored"], done.json["harness_errors"]) == (len(scenarios),) * 2 + (0,)
    attempts = list(read_journal(target))
    assert sorted(attempt.scenario for attempt in attempts) == sorted(scenario.id for scenario in scenarios)
    assert score(scenarios, attempts).rates == done.json["rates"]


def test_the_report_says_what_passed_and_why_not(wirewright: Wirewright, runner: StandInRunner) -> None:
    done = wirewright("eval", "run", "--scenario", "echo", "--scenario", "echo-wired", "--min-pass", "0.5", "--json")
    assert done.code == 1
    report = done.json
    assert (report["ok"], report["player"], report["min_pass"], report["pass_rate"]) == (False, "demo", 0.5, 0.0)
    assert [entry["scenario"] for entry in report["attempts"]] == ["echo", "echo-wired"]
    first = report["attempts"][0]
    assert set(first) == {"scenario", "repeat", "passed", "scores", "seconds", "harness_error", "tags"}
    assert [entry["name"] for entry in first["scores"]] == ["built", "valid", "ran", "resolved"]
    assert [entry["value"] for entry in first["scores"]] == [True, True, False, False]
    assert report["rates"] == {"built": 1.0, "valid": 1.0, "ran": 0.5, "resolved": 0.0}


def test_a_low_enough_bar_is_met(wirewright: Wirewright, runner: StandInRunner) -> None:
    assert wirewright("eval", "run", "--scenario", "echo", "--min-pass", "0").code == 0


def test_a_harness_error_fails_the_run_whatever_the_bar(wirewright: Wirewright, runner: StandInRunner) -> None:
    from runtime.results import RunError

    runner.failure = RunError(code="crash", message="It does not start.")
    done = wirewright("eval", "run", "--scenario", "edit-remove", "--min-pass", "0", "--json")
    assert done.code == 1
    assert (done.json["scored"], done.json["harness_errors"], done.json["pass_rate"]) == (0, 1, None)
    assert "It does not start." in done.json["attempts"][0]["harness_error"]


def test_a_person_sees_a_table_and_the_reasons(wirewright: Wirewright, runner: StandInRunner) -> None:
    done = wirewright("eval", "run", "--tag", "echo", "--repeats", "2")
    assert done.code == 1
    assert "echo #2" in done.out
    assert "echo-wired: resolved: probe 1 ('one') gave 'hello', expected equals 'one'" in done.out
    assert "0 of 4 passed (0%; at least 90% wanted)" in done.out


def test_the_journal_is_written_anew(wirewright: Wirewright, runner: StandInRunner, tmp_path: Path) -> None:
    target = tmp_path / "attempts.jsonl"
    target.write_text("something old\n", encoding="utf-8")
    wirewright("eval", "run", "--scenario", "echo", "--out", target)
    (line,) = target.read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["scenario"] == "echo"


@pytest.mark.parametrize(
    ("arguments", "code", "where"),
    [
        (["--scenario", "ecco"], "unknown_scenario", "--scenario"),
        (["--tag", "nothing"], "no_scenario", "--tag"),
        (["--scenario", "echo", "--tag", "edit"], "no_scenario", "--tag"),
        (["--out", "missing/a.jsonl"], "unwritable", "--out"),
    ],
)
def test_a_choice_that_cannot_be_played_is_bad_usage(
    arguments: list[str], code: str, where: str, wirewright: Wirewright, runner: StandInRunner
) -> None:
    done = wirewright("eval", "run", *arguments, "--json")
    assert done.code == 2
    assert (done.json["error"]["code"], done.json["error"]["where"]) == (code, where)
    assert done.json["error"]["fix"]


@pytest.mark.engine
def test_an_engine_that_cannot_be_had_is_a_failure(
    wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch, excerpt: Path
) -> None:
    from runtime.provision import InstallError, RunnerEnvironment

    async def refused(*_: object, **__: object) -> None:
        raise InstallError("The disk is full.", "Free some space.")

    monkeypatch.setattr(RunnerEnvironment, "install", refused)
    done = wirewright("eval", "run", "--json")
    assert done.code == 1
    assert done.json["error"]["code"] == "engine_unavailable"
