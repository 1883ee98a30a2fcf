"""Messages that answer nothing of what waits, and conversations that keep their canvas."""

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.server.live import events, serving
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio


async def test_a_yes_that_dismisses_approves_nothing(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [call("propose_plan", 1, markdown="1. Build it.")], "question", "To what?")
    async with serving(assistant(catalogue, model)) as live:
        asked = await events(live.client, input_value="Plan a flow", session_id="s")
        told = await events(live.client, input_value="yes", session_id="s", dismiss=True)
    assert [one["id"] for one in told[-1]["data"]["withdrawn"]] == [asked[-1]["data"]["approvals"][0]["id"]]
    assert "approvals" not in told[-1]["data"]
    assert told[-1]["data"]["record"]["plans"] == []


async def test_a_conversation_keeps_its_canvas_when_it_is_asked_to(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [call("build_flow", 1, spec=ECHO)], "Built.", *("question", "It echoes.") * 2)
    async with serving(assistant(catalogue, model, StandInRunner(results=[ran("hi")]))) as live:
        built = await events(live.client, input_value="Build an echo", session_id="s", keep_canvas=True)
        accepted = {built[-1]["data"]["proposal_id"]: {"decision": "approve"}}
        placed = await events(live.client, session_id="s", approvals=accepted, keep_canvas=True)
        kept = await events(live.client, input_value="What is it?", session_id="s", keep_canvas=True)
        other = await events(live.client, input_value="What is it?", session_id="s")
    nodes = [len(turn[-1]["data"]["flow"]["data"]["nodes"]) for turn in (built, placed, kept, other)]
    assert nodes == [0, 2, 2, 0]
