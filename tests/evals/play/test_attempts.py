"""Playing: bounded, resumable, every attempt told, and the harness's own failures kept apart from the player's."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from pydantic_ai.usage import RunUsage

from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnEvent, TurnResult
from evals.attempt import Attempt
from evals.expectation import Probe
from evals.play.attempts import AttemptLimits, play, play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.demo import DemoPlayer
from evals.players.function import FunctionPlayer
from evals.players.player import Agent, AgentFailed, Player, Unplayable, WithoutEngine
from evals.players.script import ScriptPlayer
from evals.scenario import Scenario, ScriptStep, Turn
from evals.scenarios.flows import read_flow
from evals.score import score_attempt
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.results import RunError
from tests.evals.conftest import scenario_named
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio

ECHO = scenario_named("echo")
SCRIPTED = scenario_named("echo-wired")


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
            if player.company is not None:
                await player.company.wait()
                await asyncio.sleep(0.05)  # one that may not run would come now
            if player.fault is not None:
                raise player.fault
            if player.ends:
                flow = request.flow or Flow.empty()
                result = TurnResult(
                    outcome="complete", intent="question", text="hi", before=flow, after=flow, seconds=0.0
                )
                usage = {"main": RunUsage(input_tokens=player.tokens)} if player.tokens else {}
                yield TurnEnded(result=result.model_copy(update={"usage": usage}))
        finally:
            player.busy -= 1


class Actor:
    """A player that talks and does nothing, unless told otherwise."""

    name = "actor"

    def __init__(
        self,
        *,
        fault: BaseException | None = None,
        hangs: bool = False,
        ends: bool = True,
        tokens: int = 0,
        company: asyncio.Barrier | None = None,
    ) -> None:
        self.fault, self.hangs, self.ends, self.tokens, self.company = fault, hangs, ends, tokens, company
        self.requests: list[TurnRequest] = []
        self.busy = self.busiest = 0

    def prepare(self, _: Scenario, environment: PlayEnvironment, /) -> Agent:
        """A seat."""
        return Seat(self)


class _Speechless(Exception):
    """An exception that cannot be put into words."""

    def __str__(self) -> str:
        raise RuntimeError


class _BreaksOff:
    """Plays the first turn of an attempt, and raises in the second."""

    name = "breaks-off"

    def __init__(self, player: Player) -> None:
        self._player = player

    def prepare(self, scenario: Scenario, environment: PlayEnvironment, /) -> Agent:
        """The player's agent, for one turn."""
        agent, taken = self._player.prepare(scenario, environment), list[TurnRequest]()

        class Once:
            def turn(self, request: TurnRequest) -> AbstractAsyncContextManager[AsyncIterator[TurnEvent]]:
                taken.append(request)
                if len(taken) > 1:
                    raise RuntimeError("too hard")
                return agent.turn(request)

        return Once()


async def test_the_demo_builds_and_the_probes_run_on_its_flow(
    environment: PlayEnvironment, runner: StandInRunner
) -> None:
    attempt = await play_attempt(ECHO, DemoPlayer(), environment)
    assert attempt.harness_error is None
    assert (attempt.scenario, attempt.digest, attempt.player) == ("echo", ECHO.digest, "demo")
    assert attempt.versions == environment.versions
    assert attempt.flow is not None
    inputs = [text for probe in ECHO.probes for text in probe.inputs]
    requested = [turn.run.input for turn in ECHO.turns if turn.run]
    wanted = [(attempt.flow, text) for text in (*inputs, *requested)]
    assert runner.asked[-len(wanted) :] == wanted


async def test_a_scenario_with_a_wrong_probe_fails(environment: PlayEnvironment, catalogue: Catalogue) -> None:
    turn = ECHO.turns[0].model_copy(update={"run": None})
    wrong = ECHO.model_copy(update={"turns": (turn,), "probes": (Probe(input="hello there", equals="other"),)})
    right = wrong.model_copy(update={"probes": (Probe(input="hello there", equals="hello there"),)})
    assert score_attempt(wrong, await play_attempt(wrong, DemoPlayer(), environment), catalogue).passed is False
    assert score_attempt(right, await play_attempt(right, DemoPlayer(), environment), catalogue).passed is True


async def test_the_flow_of_one_turn_is_the_canvas_of_the_next(environment: PlayEnvironment) -> None:
    attempt = await play_attempt(scenario_named("grow"), DemoPlayer(), environment)
    assert len(attempt.turns) >= 3
    for before, after in zip(attempt.turns, attempt.turns[1:], strict=False):
        assert after.before == before.flow
    assert attempt.asked == sorted(attempt.asked)


async def test_attempts_come_in_the_order_asked_for_and_each_is_reported(environment: PlayEnvironment) -> None:
    told: list[Attempt] = []

    async def tell(attempt: Attempt) -> None:
        told.append(attempt)

    scenarios = [ECHO.model_copy(update={"id": name}) for name in ("c", "a", "b")]
    attempts = await play(scenarios, Actor(), environment, repeats=2, concurrency=3, on_attempt=tell)
    assert [(attempt.scenario, attempt.repeat) for attempt in attempts] == [
        (name, repeat) for name in ("c", "a", "b") for repeat in (0, 1)
    ]
    assert sorted(told, key=lambda attempt: (attempt.scenario, attempt.repeat)) == sorted(
        attempts, key=lambda attempt: (attempt.scenario, attempt.repeat)
    )


async def test_what_is_there_already_is_not_played_again(environment: PlayEnvironment) -> None:
    scenarios = [ECHO.model_copy(update={"id": name}) for name in ("a", "b")]
    first = await play(scenarios[:1], Actor(), environment, repeats=2)
    again = Actor()
    rest = await play(scenarios, again, environment, repeats=2, skip={attempt.key for attempt in first})
    assert [(attempt.scenario, attempt.repeat) for attempt in rest] == [("b", 0), ("b", 1)]
    assert len(again.requests) == 2


async def test_another_version_of_the_prompts_is_played_again(environment: PlayEnvironment) -> None:
    from dataclasses import replace

    (first,) = await play([ECHO], Actor(), environment)
    other = replace(environment, versions=environment.versions.model_copy(update={"prompts": "other"}))
    assert len(await play([ECHO], Actor(), other, skip={first.key})) == 1
    assert await play([ECHO], Actor(), environment, skip={first.key}) == []


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_no_more_attempts_than_allowed_run_at_the_same_time(
    concurrency: int, environment: PlayEnvironment
) -> None:
    actor = Actor(company=asyncio.Barrier(concurrency))  # each waits for as many as may run
    scenarios = [ECHO.model_copy(update={"id": f"s{n}"}) for n in range(9)]
    attempts = await play(scenarios, actor, environment, concurrency=concurrency, limits=AttemptLimits(seconds=20))
    assert [attempt.stopped for attempt in attempts] == [None] * 9
    assert actor.busiest == concurrency


async def test_every_attempt_has_a_conversation_and_a_user_of_its_own(environment: PlayEnvironment) -> None:
    actor = Actor()
    await play([ECHO, ECHO.model_copy(update={"id": "other"})], actor, environment, repeats=2)
    assert len({(request.session, request.user) for request in actor.requests}) == 4


@pytest.mark.parametrize(
    ("player", "words"),
    [
        (Actor(fault=ZeroDivisionError("boom")), "it raised ZeroDivisionError: boom"),
        (Actor(fault=TimeoutError()), "it raised TimeoutError: "),
        (Actor(fault=SystemExit(3)), "it raised SystemExit: 3"),
        (Actor(fault=asyncio.CancelledError()), "it raised CancelledError"),
        (Actor(fault=_Speechless()), "it raised _Speechless: (it does not say what)"),
        (Actor(fault=ValueError("no sk-live1234567890abcdef1234")), "it raised ValueError: no "),
        (Actor(fault=AgentFailed("the request failed (ConnectError)")), "the request failed (ConnectError)"),
        (Actor(ends=False), "it ended without a result"),
    ],
    ids=["raises", "times out itself", "exits", "cancels", "speechless", "a key", "is not there", "no result"],
)
async def test_an_agent_that_breaks_off_has_failed_and_the_reason_is_recorded(
    player: Player, words: str, environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    attempt = await play_attempt(ECHO, player, environment)
    verdict = score_attempt(ECHO, attempt, catalogue)
    assert (attempt.harness_error, attempt.asked, verdict.passed) == (None, [0], False)
    assert verdict.why.startswith(f"finished: a turn failed: {words}")
    assert "sk-live1234567890" not in verdict.why


async def test_what_an_agent_did_before_it_broke_off_is_scored(
    environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    grow = scenario_named("grow")
    attempt = await play_attempt(grow, _BreaksOff(DemoPlayer()), environment)
    verdict = score_attempt(grow, attempt, catalogue)
    assert (attempt.asked, [turn.outcome for turn in attempt.turns]) == ([0, 1], ["complete", "error"])
    assert attempt.flow == attempt.turns[0].flow
    assert not attempt.flow.is_empty
    assert verdict.passed is False


async def test_a_player_that_cannot_play_the_scenario_is_not_judged(
    environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    attempt = await play_attempt(ECHO, Actor(fault=Unplayable("cannot go on")), environment)
    assert (attempt.harness_error, attempt.asked) == ("cannot go on", [])
    assert score_attempt(ECHO, attempt, catalogue).passed is None


async def test_runs_that_were_asked_for_are_made_by_the_harness_on_the_flow_that_was_left(
    environment: PlayEnvironment, runner: StandInRunner, catalogue: Catalogue
) -> None:
    async def forging(request: TurnRequest) -> dict[str, object]:
        flow = read_flow(ECHO.reference or "", catalogue)
        return {"flow": flow.to_json(), "text": "I built it.", "run": ran("good morning").to_json()}

    runner.results = [ran("something else")]
    attempt = await play_attempt(ECHO, FunctionPlayer(forging, "forger"), environment)
    verdict = score_attempt(ECHO, attempt, catalogue)
    assert ECHO.turns[0].run is not None
    assert [run.output for run in attempt.requested.values()] == ["something else"]
    assert (attempt.flow, ECHO.turns[0].run.input) in runner.asked
    assert (verdict.value("ran"), verdict.value("honest")) == (False, False)


async def test_an_agent_without_an_engine_need_not_run_what_it_builds(
    environment: PlayEnvironment, runner: StandInRunner, catalogue: Catalogue
) -> None:
    async def building(request: TurnRequest) -> dict[str, object]:
        return {"flow": read_flow(ECHO.reference or "", catalogue).to_json(), "text": "Here is the flow."}

    runner.results = [ran("good morning")]
    player, scenario = FunctionPlayer(building, "builder"), ECHO.model_copy(update={"probes": ()})
    with_it = score_attempt(scenario, await play_attempt(scenario, player, environment), catalogue)
    without = score_attempt(scenario, await play_attempt(scenario, WithoutEngine(player), environment), catalogue)
    assert (with_it.value("ran"), with_it.passed) == (False, False)
    assert (without.value("ran"), without.passed) == (True, True)


async def test_an_answer_that_is_late_has_failed_though_it_blocked_the_loop(
    environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    async def blocking(_: TurnRequest) -> dict[str, object]:
        time.sleep(0.3)  # noqa: ASYNC251  (that is the point)
        return {"text": "I am late."}

    attempt = await play_attempt(ECHO, FunctionPlayer(blocking, "late"), environment, limits=AttemptLimits(seconds=0.1))
    assert (attempt.stopped, len(attempt.turns)) == ("timeout", 1)
    assert score_attempt(ECHO, attempt, catalogue).value("finished") is False


async def test_a_forged_run_counts_for_nothing_where_no_flow_is_left(
    environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    async def forging(_: TurnRequest) -> dict[str, object]:
        return {"text": "I ran it.", "run": ran("good morning").to_json()}

    attempt = await play_attempt(ECHO, FunctionPlayer(forging, "forger"), environment)
    verdict = score_attempt(ECHO, attempt, catalogue)
    assert verdict.value("ran") is False
    assert "there is no flow to run" in verdict.why


async def test_the_names_in_a_request_say_nothing_of_the_scenario(environment: PlayEnvironment) -> None:
    actor = Actor()
    await play([ECHO], actor, environment, repeats=2)
    first, second = actor.requests
    assert first.session != second.session
    assert all(ECHO.id not in f"{request.session} {request.user}" for request in actor.requests)


async def test_a_player_that_takes_too_long_is_stopped_and_scored(
    environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    grow = scenario_named("grow")
    attempt = await play_attempt(grow, Actor(hangs=True), environment, limits=AttemptLimits(seconds=0.05))
    assert (attempt.stopped, attempt.harness_error, attempt.probes) == ("timeout", None, [])
    verdict = score_attempt(grow, attempt, catalogue)
    assert (verdict.passed, verdict.value("finished"), verdict.harness_error) == (False, False, None)
    assert score_attempt(grow, attempt.model_copy(update={"turns": []}), catalogue).passed is None


async def test_a_player_that_takes_too_many_tokens_is_stopped_and_fails(
    environment: PlayEnvironment, catalogue: Catalogue
) -> None:
    grow, actor = scenario_named("grow"), Actor(tokens=600)
    attempt = await play_attempt(grow, actor, environment, limits=AttemptLimits(tokens=1000))
    assert (attempt.stopped, len(attempt.turns), attempt.tokens) == ("tokens", 2, 1200)
    verdict = score_attempt(grow, attempt, catalogue)
    assert (verdict.passed, verdict.value("finished")) == (False, False)


async def test_one_broken_attempt_leaves_the_others_alone(environment: PlayEnvironment) -> None:
    broken = ECHO.model_copy(update={"id": "broken", "canvas": "nodes:\n  a: NoSuchType\n"})
    attempts = await play([broken, ECHO], DemoPlayer(), environment)
    assert "NoSuchType" in (attempts[0].harness_error or "")
    assert attempts[1].harness_error is None


async def test_a_script_is_played_to_its_end_without_a_refusal(environment: PlayEnvironment) -> None:
    from evals.oracles.tool_calls import calls

    attempt = await play_attempt(SCRIPTED, ScriptPlayer(), environment)
    assert attempt.harness_error is None
    made = calls(attempt) or []
    assert [call.tool for call in made] == ["search_components", "build_flow"]
    assert all(call.accepted for call in made)


async def test_a_scenario_without_a_script_is_not_for_the_script_player(environment: PlayEnvironment) -> None:
    with pytest.raises(Unplayable):
        ScriptPlayer().prepare(ECHO, environment)
    assert (await play_attempt(ECHO, ScriptPlayer(), environment)).harness_error == "echo has no script"


async def test_a_script_names_what_it_added_and_an_unknown_name_is_refused_by_the_tool(
    environment: PlayEnvironment,
) -> None:
    steps = (
        ScriptStep(tool="add_component", arguments={"type": "ChatInput"}, name="new"),
        ScriptStep(tool="configure_component", arguments={"component_id": "$new", "values": {"sender_name": "Kim"}}),
        ScriptStep(tool="configure_component", arguments={"component_id": "$nobody", "values": {"sender_name": "Kim"}}),
    )
    scenario = ECHO.model_copy(update={"turns": (Turn(say="add a chat input", script=steps),)})
    attempt = await play_attempt(scenario, ScriptPlayer(), environment)
    replies = [str(getattr(p, "content", "")) for t in attempt.turns for m in t.messages for p in m.parts]
    assert attempt.flow is not None
    assert [node.value("sender_name") for node in attempt.flow.nodes] == ["Kim"]
    assert any("There is no component '$nobody'" in reply for reply in replies)


async def test_an_engine_that_does_not_start_is_a_harness_error(catalogue: Catalogue) -> None:
    runner = StandInRunner(failure=RunError(code="crash", message="It does not start."))
    environment = PlayEnvironment(settings=AssistantSettings(), catalogue=catalogue, runner=runner)
    attempt = await play_attempt(ECHO, DemoPlayer(), environment)
    assert attempt.harness_error == "no probe was run: It does not start."


async def test_a_run_that_never_ends_is_given_up_when_the_play_is_stopped(catalogue: Catalogue) -> None:
    runner = StandInRunner(hangs=True)
    environment = PlayEnvironment(settings=AssistantSettings(), catalogue=catalogue, runner=runner)
    playing = asyncio.create_task(play_attempt(ECHO, DemoPlayer(), environment))
    await runner.running.wait()
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert runner.cancelled.is_set()
