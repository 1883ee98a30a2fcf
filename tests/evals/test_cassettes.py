"""Scenario cassettes: each says where it comes from, holds no secret, is not stale, and replays."""

import re

import pytest

from evals.journal import read_journal
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.replay import ReplayPlayer
from evals.scenarios.loader import load_scenarios
from evals.score import score_attempt
from scripts.scenario_cassettes import FOLDER, RECORDED, metadata, stale

AGAIN = "python -m scripts.scenario_cassettes"
SECRET = re.compile(
    r"sk-[A-Za-z0-9]{8}|bearer\s\w|AKIA[0-9A-Z]{8}|-----BEGIN|api[-_]key\"?\s*:\s*\"\w{8}", re.IGNORECASE
)


def test_every_cassette_is_there_and_none_is_stale() -> None:
    assert {path.stem for path in FOLDER.glob("*.jsonl")} == set(RECORDED)
    assert {name: stale(name) for name in RECORDED if stale(name)} == {}, AGAIN


@pytest.mark.parametrize("name", RECORDED)
def test_a_cassette_says_where_it_comes_from(name: str) -> None:
    described = metadata(name)
    assert described["source"]
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", str(described["recorded"]))
    attempts = list(read_journal(FOLDER / f"{name}.jsonl"))
    assert described["scenarios"] == {attempt.scenario: attempt.digest for attempt in attempts}
    assert set(described["versions"]) == {"prompts", "tools", "lfx"}


@pytest.mark.parametrize("name", RECORDED)
def test_no_cassette_holds_a_secret_or_a_place_of_the_machine(name: str) -> None:
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    assert SECRET.search(text) is None
    assert re.search(r"\"/(?:home|root|Users|work)/", text) is None


@pytest.mark.engine
@pytest.mark.anyio
async def test_every_cassette_replays_on_the_tools_as_they_are(engine_environment: PlayEnvironment) -> None:
    scenarios = {scenario.id: scenario for scenario in load_scenarios()}
    for name, held in RECORDED.items():
        player = ReplayPlayer.of(FOLDER / f"{name}.jsonl")
        for scenario in held:
            attempt = await play_attempt(scenarios[scenario], player, engine_environment)
            assert attempt.harness_error is None, f"{name}/{scenario}: {attempt.harness_error}; {AGAIN}"
            assert score_attempt(scenarios[scenario], attempt, engine_environment.catalogue).passed is True
