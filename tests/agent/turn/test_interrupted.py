"""Going on after a turn was stopped: it finishes what was asked, and accepts nothing that the user never answered."""

import asyncio

import anyio
import pytest

from agent.assistant import Assistant
from agent.models.scripted import call
from agent.turn.request import TurnRequest
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.shared.flow_texts import ECHO, LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import assistant, play, scripted_assistant
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio


async def stopped(who: Assistant, text: str, canvas: Flow, at: asyncio.Event) -> None:
    """Say something, and leave the turn as soon as it has come to a point."""
    async with who.turn(TurnRequest(text=text, flow=canvas)) as stream, anyio.create_task_group() as tasks:

        async def read() -> None:
            async for _ in stream:
                pass

        tasks.start_soon(read)
        await at.wait()
        tasks.cancel_scope.cancel()


def types(flow: Flow | None) -> set[str]:
    return set() if flow is None else {node.type for node in flow.nodes}


@pytest.mark.parametrize("words", ["go on", "weiter", "continue", "sigue", "続けて", "继续"])
async def test_the_stopped_request_is_finished_when_a_proposal_waits(catalogue: Catalogue, words: str) -> None:
    runner = StandInRunner()
    who = assistant(catalogue, runner=runner)
    offered = await play(who, "Build an echo flow")
    runner.hangs, runner.running = True, asyncio.Event()
    await stopped(who, "Build a flow with a prompt 'Whisper: {text}'", offered.after, runner.running)
    runner.hangs = False
    result = await play(who, words, offered.after)
    assert result.after.is_empty, "nothing was accepted"
    assert "Prompt Template" in types(result.proposal)
    accepted = await play(who, "yes", result.after)
    assert "Prompt Template" in types(accepted.after)


async def test_a_model_is_told_to_go_on_when_a_proposal_waits(catalogue: Catalogue) -> None:
    who, model = scripted_assistant(
        catalogue,
        "build_flow",
        call("build_flow", 1, spec=ECHO),
        "Built.",
        "build_flow",
        "Wait.",
        "question",
        "I go on.",
    )
    offered = await play(who, "Build an echo")
    model.blocks_at = 4
    await stopped(who, "Make it shorter", offered.after, model.blocked)
    model.released.set()
    model.replies[:] = ["question", "I go on."]
    result = await play(who, "go on", offered.after)
    assert (result.text, result.after.is_empty) == ("I go on.", True)


async def test_a_question_is_asked_again_when_carrying_out_a_no_was_stopped(catalogue: Catalogue) -> None:
    canvas = flow_of(LOUDER, catalogue)
    output = node_id(canvas, "ChatOutput")
    rename = call("configure_component", 1, component_id=output, values={"sender_name": "Ada"})
    who, model = scripted_assistant(catalogue, "build_flow", rename, "I left it.")
    await play(who, "Call the bot Ada", canvas)
    model.blocks_at = 2
    await stopped(who, "no", canvas, model.blocked)
    result = await play(who, "go on", canvas)
    assert (result.outcome, len(result.approvals), result.after) == ("pending", 1, canvas)
    again = await play(who, "go on", canvas)
    assert (again.outcome, again.after) == ("pending", canvas)
