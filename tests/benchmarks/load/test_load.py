"""The benchmarks of load, with tiny numbers: what they measure completes, and says what it is."""

import re
from typing import Any

import pytest

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from benchmarks.against.command import checkout
from benchmarks.load import streams, turns
from benchmarks.load.bare import BareLoop, ScriptedModel
from benchmarks.load.bare_server import model
from benchmarks.load.held_provider import answer, message, reply
from benchmarks.script import BUILD, DIRECT, QUESTION, any_turn
from flows.catalogue import Catalogue
from scripts.scripted_provider import Reply, ScriptedProvider
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio


def event(number: int, kind: str = "token", **more: Any) -> dict[str, Any]:
    return {"turn_id": "a", "sequence": number, "event": kind, **more}


WHOLE = [event(1, chunk="a "), event(2, chunk="b"), event(3, "complete")]


async def test_a_question_is_compared_with_a_loop_that_makes_the_same_requests(catalogue: Catalogue) -> None:
    pairs = await turns.question(catalogue, StandInRunner(), turns=1, rounds=2)
    assert len(pairs) == 2
    assert re.fullmatch(r"a question: .* ratio [\d.]+ \(of 2 blocks: .*", turns.line("a question", pairs))


async def test_a_build_is_compared_with_a_loop_whose_tool_builds_and_runs(catalogue: Catalogue) -> None:
    runner = StandInRunner()
    await turns.building(catalogue, runner, turns=1, rounds=1)
    played = 1 + 2 * turns.WARM_UP + 2
    assert len(runner.asked) == played, "the turn that is recorded, and both to warm up and once measured"


async def test_the_bare_loop_sends_a_provider_what_the_turn_sent(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[dict[str, Any]]()

    def said(body: dict[str, Any]) -> Reply:
        asked.append(body)
        return any_turn(body)

    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    async with ScriptedProvider(said).serve() as base:
        assistant = Assistant(AssistantSettings(), StandInRunner(), catalogue=catalogue, model=model(base))
        async with assistant.turn(TurnRequest(text=QUESTION)) as events:
            assert [event async for event in events]
        await assistant.aclose()
        ours = asked.copy()
        asked.clear()
        loop = await turns.recorded_question(catalogue, StandInRunner(), model(base))
        assert await loop.turn() > 10
    assert len(ours) == 2
    assert ours[0]["max_completion_tokens"]
    assert ours[1]["prompt_cache_options"]
    assert asked == ours


async def test_a_tool_of_the_bare_loop_answers_as_ours_did(catalogue: Catalogue) -> None:
    script = ScriptedModel(DIRECT[1:], DIRECT[0])
    assistant = Assistant(AssistantSettings(), StandInRunner(), catalogue=catalogue, model=script.model)
    async with assistant.turn(TurnRequest(text=BUILD)) as events:
        assert [event async for event in events]
    await assistant.aclose()
    ours = script.answered.copy()
    loop = BareLoop(script, catalogue, StandInRunner())
    script.answered.clear()
    await loop.turn()
    assert script.answered == ours
    assert "build_flow" in ours


async def test_streams_that_are_open_at_once_are_whole_and_their_memory_is_measured() -> None:
    said = await streams.measure(checkout(), streams=3, rounds=1, settle=0)
    assert said.startswith("3 streams open at once, 1 times: ")
    assert "KB" in said


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([WHOLE[0], WHOLE[2]], id="lost"),
        pytest.param([*WHOLE[:2], event(2, chunk="b"), event(4, "complete")], id="doubled"),
        pytest.param([WHOLE[1], WHOLE[0], WHOLE[2]], id="reordered"),
        pytest.param(WHOLE[:2], id="no end"),
        pytest.param([WHOLE[0], event(2, chunk="c"), WHOLE[2]], id="another stream's text"),
        pytest.param([WHOLE[0], {**WHOLE[1], "turn_id": "b"}, WHOLE[2]], id="another stream's event"),
    ],
)
def test_a_stream_that_is_not_whole_is_refused(events: list[dict[str, Any]]) -> None:
    assert streams.checked(WHOLE, "a b") == 3
    with pytest.raises((AssertionError, ValueError)):
        streams.checked(events, "a b")


def test_the_held_model_answers_the_last_question_by_its_number() -> None:
    asked = [{"role": "user", "content": message(number)} for number in (4, 7)]
    assert '"question"' in reply({"messages": asked}).text
    assert reply({"messages": asked, "tools": [{}]}).text == answer(7)
