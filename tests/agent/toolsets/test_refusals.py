"""What a model is told of calls that are refused, and what becomes of those that follow them in the same answer."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic_ai import ToolCallPart

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.shared.flow_texts import LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, play, scripted_assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio

RUNS = json.dumps({"intent": "build_flow", "mandate": {"edit": ["*"], "run": []}})


@pytest.fixture
def canvas(catalogue: Catalogue) -> Flow:
    return flow_of(LOUDER, catalogue)


def wrong() -> ToolCallPart:
    """A change that is refused."""
    return call("edit_flow", 1, changes="names:\n  Nobody-12345: Reply")


def right(canvas: Flow, number: int) -> ToolCallPart:
    """A change that is made."""
    return call("edit_flow", number, changes=f"names:\n  {node_id(canvas, 'ChatOutput')}: Reply")


async def played(
    catalogue: Catalogue, canvas: Flow, *replies: str | ToolCallPart | Sequence[Any]
) -> tuple[StandInRunner, ScriptedModel]:
    """The engine and the model of a turn that asks for a change and a run."""
    runner = StandInRunner([ran(output="hello"), ran(output="hello")])
    who, model = scripted_assistant(
        catalogue, RUNS, *replies, "It is called Reply now, and gave “hello”.", runner=runner
    )
    await play(who, "Call the output Reply and run it with hi", canvas)
    return runner, model


async def test_a_run_waits_for_the_change_before_it_that_was_refused(catalogue: Catalogue, canvas: Flow) -> None:
    runner, model = await played(
        catalogue,
        canvas,
        [wrong(), call("run_flow", 2, input="hi")],
        [right(canvas, 3), call("run_flow", 4, input="hi")],
    )
    assert "Not run: the change before it was refused." in model.tool_answers(2)[-1]
    [(flow, _)] = runner.asked
    assert "Reply" in [node.display_name for node in flow.nodes]


async def test_a_run_in_a_later_answer_is_made_after_a_change_was_refused(catalogue: Catalogue, canvas: Flow) -> None:
    runner, _ = await played(catalogue, canvas, wrong(), call("run_flow", 2, input="hi"))
    assert len(runner.asked) == 1


async def test_a_run_after_a_refused_look_up_is_made(catalogue: Catalogue, canvas: Flow) -> None:
    look = call("get_field_value", 1, component_id="Nobody-12345", field="template")
    runner, _ = await played(catalogue, canvas, [look, call("run_flow", 2, input="hi")])
    assert len(runner.asked) == 1


async def test_wrong_arguments_are_named_and_not_repeated(catalogue: Catalogue) -> None:
    read = json.dumps({"intent": "generate_component", "mandate": {"write_components": []}})
    long = "x = 1\n" * 200
    who, model = scripted_assistant(catalogue, read, call("generate_component", 1, code=long), "I wrote none.")
    await play(who, "Write a component")
    [told] = model.tool_answers(2)
    assert told == "- source: Field required\n- code: Extra inputs are not permitted"
