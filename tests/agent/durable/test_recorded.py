"""Recorded steps: the same events as without them, and nothing is done twice when they are done over."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agent.assistant import Assistant
from agent.durable.recorded import RecordedSteps
from agent.durable.steps import PLAIN, Steps
from agent.errors import explain
from agent.models.scripted import call
from agent.turn.loop import agent
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnEvent, TurnResult
from evals.play.environment import PlayEnvironment
from evals.players.oracle.player import OraclePlayer
from evals.scenario import Scenario
from evals.scenarios.loader import load_scenarios
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.json_values import Json
from flows.spec import build
from runtime.install.environment import RunnerEnvironment
from server.settings import ServerSettings
from server.streams.sse import SseEncoder
from tests.server.durable.playing import normal
from tests.shared.flow_texts import LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import SUM, ComponentRunner, StandInRunner

pytestmark = pytest.mark.anyio


class MemoryJournal:
    """Records as JSON text, and gives what it has recorded."""

    def __init__(self, records: list[tuple[str, str]] | None = None) -> None:
        self.records = records or []
        self.at = self.fresh = 0

    async def step(self, name: str, work: Any, done: Any = None, kind: str = "act") -> Json:
        """What a step came to."""
        self.at += 1
        if self.at <= len(self.records):
            recorded, text = self.records[self.at - 1]
            assert recorded == name
            return json.loads(text)
        self.fresh += 1
        value = await work()
        self.records.append((name, json.dumps(value)))
        return value


def steps_of(journal: MemoryJournal) -> RecordedSteps:
    return RecordedSteps(journal, partial(explain, provider="scripted", tried=[]))


async def told(who: Assistant, request: TurnRequest, steps: Steps = PLAIN) -> tuple[list[Any], TurnResult]:
    """What clients are told of an assistant's only turn, without times, and its result."""
    found = await events_of(who, request, steps)
    await who.aclose()
    return found


async def events_of(who: Any, request: TurnRequest, steps: Steps = PLAIN) -> tuple[list[Any], TurnResult]:
    """What clients are told of a turn, without times, and its result."""
    encoder, sent, results = SseEncoder("s", details=True), list[Any](), list[TurnResult]()

    async def send(event: TurnEvent) -> None:
        sent.extend(one.model_dump(mode="json") for one in encoder.encode(event))
        if isinstance(event, TurnEnded):
            results.append(event.result)

    with agent.parallel_tool_call_execution_mode("sequential" if steps is not PLAIN else "parallel"):
        stream = who.turn(request, steps=steps) if isinstance(who, Assistant) else who.turn(request)
        await stream.take(send)
    return normal(sent), results[0]


def canvas_of(scenario: Scenario, catalogue: Catalogue) -> Flow | None:
    return None if scenario.canvas is None else build(scenario.canvas, catalogue).flow


async def test_a_recorded_turn_tells_the_same_as_a_plain_one_in_every_scenario(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    plain, recorded = (assistant(catalogue, data=tmp_path / name) for name in ("plain", "recorded"))
    for scenario in load_scenarios():
        flow = canvas_of(scenario, catalogue)
        request = TurnRequest(text=scenario.prompts[0], flow=flow, turn_id="t", session=scenario.id)
        expected, _ = await events_of(plain, request)
        assert (await events_of(recorded, request, steps_of(MemoryJournal())))[0] == expected, scenario.id
    await plain.aclose()
    await recorded.aclose()


@pytest.mark.table
@pytest.mark.parametrize("name", [one.id for one in load_scenarios() if not (one.open or one.components)])
async def test_a_recorded_turn_of_a_model_that_calls_tools_tells_the_same_as_a_plain_one(
    name: str, tmp_path: Path, runner_environment: RunnerEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model makes the calls that lead to what the scenario asks for; components of one's own need an engine."""
    (scenario,) = [one for one in load_scenarios() if one.id == name]
    types, turn = Catalogue.load(runner_environment.catalogue), Assistant.turn
    chosen = [PLAIN, steps_of(MemoryJournal())]
    monkeypatch.setattr(Assistant, "turn", lambda who, request: turn(who, request, steps=chosen[0]))
    request = TurnRequest(text=scenario.prompts[0], flow=canvas_of(scenario, types), turn_id="t", session="s")
    found: list[Any] = []
    while chosen:
        settings = ServerSettings(data=tmp_path / str(len(chosen)))
        environment = PlayEnvironment(settings=settings, catalogue=types, runner=ComponentRunner())
        player = OraclePlayer().prepare(scenario, environment)
        found.append((await events_of(player, request, chosen[0]))[0])
        await player.aclose()
        chosen.pop(0)
    assert found[0] == found[1]


def conversation(prompt: str) -> tuple[Any, ...]:
    return (
        "component_then_flow",
        call("add_component", 1, type="ChatInput"),
        call("generate_component", 2, source=SUM),
        call("run_flow", 3, input="hello"),
        [call("describe_component", 4, type="ChatInput"), call("describe_component", 5, type="ChatOutput")],
        call("configure_component", 6, component_id=prompt, values={"template": "Whisper: {text}"}),
        "I added a chat input.",
    )


@pytest.mark.parametrize("kept", [0, 1, 3, 5, 8, 11, 100])
async def test_a_turn_that_goes_on_after_some_steps_ends_as_it_would_have(
    catalogue: Catalogue, tmp_path: Path, kept: int
) -> None:
    flow = flow_of(LOUDER, catalogue)
    request = TurnRequest(
        text="Add a chat input and the component Sum, run it, and make the prompt whisper", flow=flow, turn_id="t"
    )
    replies = conversation(node_id(flow, "Prompt Template"))

    def who(runner: StandInRunner, *script: Any) -> Assistant:
        return assistant(catalogue, ScriptedModel(*script), runner, data=tmp_path / "data")

    first = MemoryJournal()
    events, ended = await told(who(ComponentRunner(), *replies), request, steps_of(first))
    assert ended.outcome == "pending", ended.text
    journal = MemoryJournal(first.records[:kept])
    asked = sum(name == "model" for name, _ in journal.records)
    runner = ComponentRunner()
    _, again = await told(who(runner, *replies[asked:]), request, steps_of(journal))
    assert normal(again.model_dump(mode="json", exclude={"messages"})) == normal(
        ended.model_dump(mode="json", exclude={"messages"})
    )
    assert [name for name, _ in journal.records] == [name for name, _ in first.records]
    if kept == 100:
        assert (journal.fresh, runner.asked) == (0, []), "nothing was done again"
    del events


async def test_a_failure_is_recorded_and_fails_alike(catalogue: Catalogue, tmp_path: Path) -> None:
    request, journal = TurnRequest(text="What is a flow?", turn_id="t"), MemoryJournal()
    failing = assistant(catalogue, ScriptedModel("question", ValueError("no")), data=tmp_path / "data")
    _, failed = await told(failing, request, steps_of(journal))
    never = assistant(catalogue, ScriptedModel(), data=tmp_path / "data")
    _, again = await told(never, request, steps_of(MemoryJournal(journal.records)))
    assert failed.outcome == again.outcome == "error"
    assert failed.error == again.error
