"""Playing: bounded, every attempt told, and the harness's own failures kept apart from the player's."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from agent.settings import AssistantSettings
from agent.turn import TurnEnded, TurnEvent, TurnRequest, TurnResult
from evals.attempt import Attempt
from evals.journal import Journal, JournalError, read_journal
from evals.play import attempted, play
from evals.players import Player, Stage, Turns, Unplayable
from evals.players.demo import DemoPlayer
from evals.players.script import ScriptPlayer
from evals.scenario import Probe, Scenario, ScriptStep, load_scenario, load_scenarios
from evals.score import judge
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.results import RunError
from tests.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio

ECHO = next(scenario for scenario in load_scenarios() if scenario.id == "echo")


@pytest.fixture
def runner() -> StandInRunner:
    """An engine that answers every run with `hello there`."""
    return StandInRunner(results=[ran("hello there")])


@pytest.fixture
def stage(runner: StandInRunner, catalogue: Catalogue) -> Stage:
    """A stage without an engine."""
    return Stage(settings=AssistantSettings(), catalogue=catalogue, runner=runner, build="test")


class Seat:
    """Takes turns that a test thinks up."""

    def __init__(self, player: "Actor") -> None:
        self.player = player

    def turn(self, request: TurnRequest) -> AbstractAsyncContextManager[AsyncIterator[TurnEvent]]:
        """One turn."""
        return self._turn(request)

    @asynccontextmanager
    async def _turn(self, request: TurnRequest) -> AsyncGenerator[AsyncIterator[TurnEvent]]:
        yield self._events(request)

    async def _events(self, request: TurnRequest) -> AsyncIterator[TurnEvent]:
        player = self.player
        player.requests.append(request)
        player.busy += 1
        player.busiest = max(player.busiest, player.busy)
        try:
            if player.hangs:
                await asyncio.Event().wait()
            await asyncio.sleep(0)
            if player.fault is not None:
                raise player.fault
            if player.ends:
                flow = request.flow or Flow.empty()
                yield TurnEnded(
                    result=TurnResult(
                        outcome="complete", intent="question", text="hi", before=flow, after=flow, seconds=0.0
                    )
                )
        finally:
            player.busy -= 1


class Actor:
    """A player that talks and does nothing, unless told otherwise."""

    name = "actor"

    def __init__(self, *, fault: Exception | None = None, hangs: bool = False, ends: bool = True) -> None:
        self.fault, self.hangs, self.ends = fault, hangs, ends
        self.requests: list[TurnRequest] = []
        self.busy = self.busiest = 0

    def seat(self, _: Scenario, stage: Stage, /) -> Turns:
        """A seat."""
        return Seat(self)


async def test_the_demo_builds_and_the_probes_run_on_its_flow(stage: Stage, runner: StandInRunner) -> None:
    attempt = await attempted(ECHO, DemoPlayer(), stage)
    assert attempt.harness_error is None
    assert (attempt.scenario, attempt.digest, attempt.player, attempt.build) == ("echo", ECHO.digest, "demo", "test")
    assert attempt.flow is not None
    assert [(flow, text) for flow, text in runner.asked[-2:]] == [(attempt.flow, probe.input) for probe in ECHO.probes]


async def test_a_scenario_with_a_wrong_probe_fails(stage: Stage) -> None:
    wrong = ECHO.model_copy(update={"run": None, "probes": (Probe(input="hello there", equals="something else"),)})
    right = wrong.model_copy(update={"probes": (Probe(input="hello there", equals="hello there"),)})
    assert judge(wrong, await attempted(wrong, DemoPlayer(), stage)).passed is False
    assert judge(right, await attempted(right, DemoPlayer(), stage)).passed is True


@pytest.mark.parametrize("scenario", load_scenarios(), ids=lambda scenario: scenario.id)
async def test_every_script_is_played_to_its_end_without_a_refusal(scenario: Scenario, stage: Stage) -> None:
    attempt = await attempted(scenario, ScriptPlayer(), stage)
    assert attempt.harness_error is None
    returns = [
        part
        for turn in attempt.turns
        for message in turn.messages
        for part in message.parts
        if part.part_kind in ("tool-return", "retry-prompt")
    ]
    calls = [step for turn in scenario.script or () for step in turn if step.tool]
    assert len(returns) == len(calls)
    refused = [part for part in returns if part.part_kind == "retry-prompt" or part.outcome != "success"]
    assert refused == []


async def test_the_flow_of_one_turn_is_the_canvas_of_the_next(stage: Stage) -> None:
    grow = next(scenario for scenario in load_scenarios() if scenario.id == "grow")
    attempt = await attempted(grow, ScriptPlayer(), stage)
    for before, after in zip(attempt.turns, attempt.turns[1:], strict=False):
        assert after.before == before.flow


async def test_attempts_come_in_the_order_asked_for_and_each_is_told(stage: Stage) -> None:
    told: list[Attempt] = []

    async def tell(attempt: Attempt) -> None:
        told.append(attempt)

    scenarios = [ECHO.model_copy(update={"id": name}) for name in ("c", "a", "b")]
    attempts = await play(scenarios, Actor(), stage, repeats=2, concurrency=3, on_attempt=tell)
    assert [(attempt.scenario, attempt.repeat) for attempt in attempts] == [
        (name, repeat) for name in ("c", "a", "b") for repeat in (0, 1)
    ]
    assert sorted(told, key=lambda attempt: (attempt.scenario, attempt.repeat)) == sorted(
        attempts, key=lambda attempt: (attempt.scenario, attempt.repeat)
    )


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_no_more_attempts_than_allowed_run_at_the_same_time(concurrency: int, stage: Stage) -> None:
    actor = Actor()
    await play([ECHO.model_copy(update={"id": f"s{n}"}) for n in range(9)], actor, stage, concurrency=concurrency)
    assert actor.busiest == concurrency


async def test_every_attempt_has_a_conversation_of_its_own(stage: Stage) -> None:
    actor = Actor()
    await play([ECHO, ECHO.model_copy(update={"id": "other"})], actor, stage, repeats=2)
    assert len({request.session for request in actor.requests}) == 4


@pytest.mark.parametrize(
    ("player", "seconds", "words"),
    [
        (Actor(fault=ZeroDivisionError("boom")), 60, "ZeroDivisionError: boom"),
        (Actor(ends=False), 60, "turn 1 ended without a result"),
        (Actor(hangs=True), 0.05, "not done within 0.05 seconds"),
    ],
    ids=["raises", "no result", "hangs"],
)
async def test_what_breaks_around_the_player_is_a_harness_error(
    player: Player, seconds: float, words: str, stage: Stage
) -> None:
    attempt = await attempted(ECHO, player, stage, seconds=seconds)
    assert attempt.harness_error == words
    assert judge(ECHO, attempt).passed is None


async def test_one_broken_attempt_leaves_the_others_alone(stage: Stage) -> None:
    broken = ECHO.model_copy(update={"id": "broken", "canvas": "nodes:\n  a: NoSuchType\n"})
    attempts = await play([broken, ECHO], DemoPlayer(), stage)
    assert "the starting canvas does not build" in (attempts[0].harness_error or "")
    assert attempts[1].harness_error is None


async def test_a_scenario_without_a_script_is_not_for_the_script_player(stage: Stage) -> None:
    mute = ECHO.model_copy(update={"script": None})
    with pytest.raises(Unplayable):
        ScriptPlayer().seat(mute, stage)
    assert (await attempted(mute, ScriptPlayer(), stage)).harness_error == "echo has no script"


async def test_an_engine_that_does_not_start_is_a_harness_error(catalogue: Catalogue) -> None:
    runner = StandInRunner(failure=RunError(code="crash", message="It does not start."))
    stage = Stage(settings=AssistantSettings(), catalogue=catalogue, runner=runner)
    attempt = await attempted(ECHO, DemoPlayer(), stage)
    assert attempt.harness_error == "no probe was run: It does not start."


async def test_a_run_that_never_ends_is_given_up_when_the_play_is_stopped(catalogue: Catalogue) -> None:
    runner = StandInRunner(hangs=True)
    stage = Stage(settings=AssistantSettings(), catalogue=catalogue, runner=runner)
    playing = asyncio.create_task(attempted(ECHO, DemoPlayer(), stage))
    await runner.running.wait()
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert runner.cancelled.is_set()


async def test_a_script_names_what_it_added_and_an_unknown_name_is_refused_by_the_tool(stage: Stage) -> None:
    steps = (
        ScriptStep(tool="add_component", arguments={"type": "ChatInput"}, name="new"),
        ScriptStep(tool="get_field_value", arguments={"component_id": "$new", "field": "sender_name"}),
        ScriptStep(tool="get_field_value", arguments={"component_id": "$nobody", "field": "sender_name"}),
    )
    scenario = ECHO.model_copy(update={"script": (steps,), "run": None})
    attempt = await attempted(scenario, ScriptPlayer(), stage)
    (turn,) = attempt.turns
    replies = [str(getattr(part, "content", "")) for message in turn.messages for part in message.parts]
    assert "User" in replies
    assert any("There is no component '$nobody'" in reply for reply in replies)


async def test_a_journal_gives_back_what_was_written(stage: Stage, tmp_path: Path) -> None:
    attempts = await play([ECHO], DemoPlayer(), stage, repeats=2)
    journal = Journal(tmp_path / "attempts.jsonl")
    for attempt in attempts:
        journal.append(attempt)
    again = list(read_journal(tmp_path / "attempts.jsonl"))
    assert [attempt.model_dump_json() for attempt in again] == [attempt.model_dump_json() for attempt in attempts]
    assert again[0].flow == attempts[0].flow


async def test_a_journal_names_the_line_that_is_no_attempt(tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    path.write_text('{"scenario": "a", "digest": "d", "player": "p"}\n{"no": 1}\n', encoding="utf-8")
    with pytest.raises(JournalError, match=r"attempts\.jsonl line 2: no attempt"):
        list(read_journal(path))


async def test_scenarios_may_be_loaded_one_by_one() -> None:
    from evals.scenario import FOLDER

    assert load_scenario(FOLDER / "echo.yaml") == ECHO
