"""A function as a player: what it may return, what it says it is, and how its mistakes are named."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agent.turn.request import TurnRequest
from evals.attempt import AgentIdentity, Attempt
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.function import FunctionPlayer
from evals.players.player import Player, WithoutEngine
from evals.players.registry import UnknownPlayer, player_named
from evals.score import score_attempt
from flows.catalogue import Catalogue
from tests.evals.conftest import scenario_named

pytestmark = pytest.mark.anyio

ECHO = scenario_named("echo-wired")


async def played(answer: object, environment: PlayEnvironment) -> Attempt:
    """An attempt in which every turn is answered alike."""

    async def agent(_: TurnRequest) -> Any:
        return answer

    return await play_attempt(ECHO, FunctionPlayer(agent, "mine"), environment)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file in the working folder that a player is imported from."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path / "my_agent_here.py"
    sys.modules.pop("my_agent_here", None)


async def test_tokens_cost_and_latency_are_measured_as_the_agent_says(
    environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    answer = {"text": "hi", "tokens": {"input": 1000, "output": 20}, "cost": 0.25, "seconds": 3.5, "model": "m-1"}
    attempt = await played(answer, environment)
    verdict = score_attempt(ECHO, attempt, catalogue)
    assert (verdict.measured.tokens, verdict.measured.cost) == (1020, 0.25)
    assert [(turn.seconds, turn.models) for turn in attempt.turns] == [(3.5, ["m-1"])]


async def test_a_cost_counts_without_tokens_and_latency_is_measured_if_it_is_not_said(
    environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    attempt = await played({"text": "hi", "cost": 0.5}, environment)
    assert score_attempt(ECHO, attempt, catalogue).measured.cost == 0.5
    assert attempt.turns[0].seconds > 0


async def test_a_run_may_be_its_output_alone(environment: PlayEnvironment) -> None:
    attempt = await played({"run": {"output": "HELLO"}}, environment)
    assert [run.output for turn in attempt.turns for run in turn.runs] == ["HELLO"]
    failed = await played({"run": {"error": {"code": "timeout", "message": "too slow"}}}, environment)
    assert [run.ok for turn in failed.turns for run in turn.runs] == [False]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"run": {}}, "a `run` without `run.output`"),
        ({"run": {"output": "x", "metrics": {}}}, "a `run.metrics` without `run.metrics.seconds`"),
        ({"run": "HELLO"}, "an unreadable `run`"),
        ({"flow": {"nodes": 3}}, "an unreadable `flow`"),
        ({"flow": []}, "an unreadable `flow`"),
        ({"text": 5}, "an unreadable `text`"),
        ({"tokens": {"input": -1}}, "an unreadable `tokens.input`"),
        ({"cost": "free"}, "an unreadable `cost`"),
        ({"seconds": float("nan")}, "an unreadable `seconds`"),
        ({"flwo": {}}, "`flwo`, which is not known; the keys are flow, text, run"),
        ("text", "neither a TurnResult nor a mapping, but str"),
    ],
)
async def test_an_answer_that_cannot_be_read_names_its_key(
    answer: object, said: str, environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    why = score_attempt(ECHO, await played(answer, environment), catalogue).why
    assert "finished: a turn failed: the player returned" in why
    assert said in why


async def test_a_function_that_is_not_async_says_so(environment: PlayEnvironment, catalogue: Catalogue) -> None:
    def agent(_: TurnRequest) -> Mapping[str, Any]:
        return {"text": "hi"}

    attempt = await play_attempt(ECHO, FunctionPlayer(agent, "mine"), environment)  # type: ignore[arg-type]  # an object
    assert "write `async def`" in score_attempt(ECHO, attempt, catalogue).why


@pytest.fixture
def versioned(module: Path) -> Player:
    """A player whose module says what it is."""
    source = 'AGENT = {"name": "mine", "version": "1.2"}\n\n\nasync def play(request):\n    return {"text": "hi"}\n'
    module.write_text(source, encoding="utf-8")
    return player_named("python:my_agent_here:play")


async def test_an_agent_says_what_it_is_in_its_module(versioned: Player, environment: PlayEnvironment) -> None:
    player = versioned
    for one in (player, WithoutEngine(player)):
        attempt = await play_attempt(ECHO, one, environment)
        assert attempt.agent == AgentIdentity(name="mine", version="1.2")
        assert Attempt.model_validate_json(attempt.model_dump_json()).agent == attempt.agent


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import nothing_of_that_name\n", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("def broken(:\n", "SyntaxError"),
        ("raise RuntimeError('no key')\n", "RuntimeError: no key"),
        ("other = 1\n", "'my_agent_here' has no function 'play'"),
        ("play = 1\n", "'my_agent_here:play' cannot be called"),
        ("AGENT = 'mine'\nasync def play(request): ...\n", "my_agent_here.AGENT cannot be read"),
    ],
)
def test_a_module_that_cannot_be_used_says_why(source: str, said: str, module: Path) -> None:
    module.write_text(source, encoding="utf-8")
    with pytest.raises(UnknownPlayer) as caught:
        player_named("python:my_agent_here:play")
    assert said in caught.value.message
    assert "python:module:function" in caught.value.fix


def test_a_file_whose_name_is_taken_by_an_installed_module_is_named_with_the_remedy(module: Path) -> None:
    (module.parent / "statistics.py").write_text("async def play(request):\n    return {}\n", encoding="utf-8")
    with pytest.raises(UnknownPlayer) as caught:
        player_named("python:statistics:play")
    assert "'statistics' has no function 'play'" in caught.value.message
    assert "it is an installed module, and not the file statistics.py here: rename the file" in caught.value.message
