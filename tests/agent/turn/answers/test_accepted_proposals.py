"""A proposal that the user says yes to in a message that also asks for a run."""

import json

import pytest
from pydantic_ai import ModelMessage, ToolCallPart
from pydantic_ai.models.function import AgentInfo

from agent.assistant import Assistant
from agent.models.scripted import call
from agent.turn.result import TurnResult
from flows.catalogue import Catalogue
from runtime.results import RunError
from tests.shared.flow_texts import ECHO, node_id
from tests.shared.scripted_assistant import Step, play, scripted_assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio

YES = json.dumps({"intent": "build_flow", "reply": "approve", "mandate": {"run": []}})
NEITHER = json.dumps({"intent": "build_flow", "reply": "other", "mandate": {"run": []}})
FAILED = ran(error=RunError(code="external", message="The host cannot be found."))


async def offered(catalogue: Catalogue, read: str, *steps: Step) -> tuple[Assistant, TurnResult]:
    """An assistant that has proposed a flow, and the turn in which it did.

    Args:
        catalogue: the component types.
        read: what the classifier says of the next message.
        steps: what the model does then, before it asks for a run, which fails; that of the verification succeeds.
    """
    who, _ = scripted_assistant(
        catalogue,
        "build_flow",
        call("build_flow", 1, spec=ECHO),
        "Built.",
        read,
        *steps,
        call("run_flow", 2 + len(steps), input="hi"),
        "The run failed: the host cannot be found.",
        runner=StandInRunner([ran(output="hello"), FAILED]),
    )
    return who, await play(who, "Build an echo")


async def test_it_is_on_the_canvas_though_the_run_fails(catalogue: Catalogue) -> None:
    who, turn = await offered(catalogue, YES)
    result = await play(who, "yes, and run it please", turn.after)
    assert not result.after.is_empty
    assert result.record.proposal is not None
    assert result.record.proposal.status == "applied"


async def test_it_goes_on_waiting_when_the_message_does_not_say_yes(catalogue: Catalogue) -> None:
    who, turn = await offered(catalogue, NEITHER)
    result = await play(who, "what if you run it?", turn.after)
    assert result.after.is_empty


async def test_a_changed_version_that_the_user_has_not_seen_is_offered_again(catalogue: Catalogue) -> None:
    output = ""

    def rename(_: list[ModelMessage], __: AgentInfo) -> ToolCallPart:
        return call("edit_flow", 2, changes=f"names:\n  {output}: Reply")

    who, turn = await offered(catalogue, YES, rename)
    assert turn.proposal is not None
    output = node_id(turn.proposal, "ChatOutput")
    result = await play(who, "yes, and run it please", turn.after)
    assert result.after.is_empty
    assert result.record.proposal is not None
    assert result.record.proposal.status == "offered"
