"""Tools that change a flow answer with the errors that the change has caused; a flow with errors is not run."""

import pytest
from pydantic_ai.models import Model
from pydantic_ai.models.test import TestModel

from agent.models.scripted import call
from flows import edits
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.gateway.models import Models, ModelUnavailable
from tests.shared.flow_texts import LOOP, LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import play, scripted_assistant
from tests.shared.stand_ins import ASKED_FOR, StandInRunner
from tests.tools.toolsets.test_toolsets import use
from tools.workbench import Workbench

pytestmark = pytest.mark.anyio


def bench_with(flow: Flow, catalogue: Catalogue) -> Workbench:
    return Workbench(
        mandate=ASKED_FOR,
        user="local",
        session="s",
        catalogue=catalogue,
        runner=StandInRunner(),
        flow=flow,
        auto_edit=True,
    )


def broken(catalogue: Catalogue) -> Flow:
    """A flow whose loop is open."""
    flow = flow_of(LOOP, catalogue)
    return edits.remove_component(flow, node_id(flow, "TypeConverterComponent")).flow


async def test_a_change_answers_with_the_errors_that_it_has_caused(catalogue: Catalogue) -> None:
    bench = bench_with(flow_of(LOOP, catalogue), catalogue)
    converter, loop = node_id(bench.flow, "TypeConverterComponent"), node_id(bench.flow, "LoopComponent")
    (removed,) = await use(bench, call("remove_component", 1, component_id=converter))
    assert loop in str(removed.content).partition("The flow now has these errors:")[2]


async def test_errors_that_were_there_before_are_not_repeated(catalogue: Catalogue) -> None:
    bench = bench_with(broken(catalogue), catalogue)
    (renamed,) = await use(
        bench, call("rename_component", 1, component_id=node_id(bench.flow, "ChatInput"), name="Question")
    )
    assert "errors" not in str(renamed.content)


async def test_a_flow_with_errors_is_not_run(catalogue: Catalogue) -> None:
    bench = bench_with(broken(catalogue), catalogue)
    runner = bench.runner
    assert isinstance(runner, StandInRunner)
    (answer,) = await use(bench, call("run_flow", 1, input="hi"))
    assert str(answer.content).startswith("Not run: the flow has errors")
    assert node_id(bench.flow, "LoopComponent") in str(answer.content)
    assert (runner.asked, bench.runs) == ([], [])


async def test_check_flow_lists_errors_and_warnings_or_says_that_there_are_none(catalogue: Catalogue) -> None:
    (whole,) = await use(bench_with(flow_of(LOUDER, catalogue), catalogue), call("check_flow", 1))
    assert str(whole.content) == "The flow has no faults."
    flow = edits.add_component(broken(catalogue), catalogue, "TextInput").flow
    (answer,) = await use(bench_with(flow, catalogue), call("check_flow", 1))
    found, _, warnings = str(answer.content).partition("Warnings:")
    assert node_id(flow, "LoopComponent") in found.partition("Errors:")[2]
    assert node_id(flow, "TextInput") in warnings


async def test_a_question_about_a_broken_flow_is_given_its_errors(catalogue: Catalogue) -> None:
    flow = broken(catalogue)
    assistant, script = scripted_assistant(catalogue, "question", "The loop is open.")
    await play(assistant, "Why does it fail?", flow)
    block = script.prompts[1].partition("[Errors of the flow")[2].partition("[End of errors]")[0]
    assert node_id(flow, "LoopComponent") in block
    assert "check_flow" in script.tools[1]


async def test_a_flow_without_errors_brings_no_block_of_errors(catalogue: Catalogue) -> None:
    assistant, script = scripted_assistant(catalogue, "question", "It is fine.")
    await play(assistant, "Why does it fail?", flow_of(LOUDER, catalogue))
    assert "[Errors of" not in script.prompts[1]


ASKING = """nodes:
  chat: ChatInput
  answer: ChatOutput
edges:
  chat.message -> answer.input_value
"""
MODEL = """nodes:
  m: LanguageModelComponent
edges:
  ChatInput.message -> m.input_value
  m.text_output -> ChatOutput.input_value
"""


async def edited(catalogue: Catalogue, more: str = "") -> str:
    def resolve(name: str) -> Model:
        if name.startswith("openai:"):
            raise ModelUnavailable("Provider 'openai' is not configured.", "Set OPENAI_API_KEY.", code="missing_key")
        return TestModel()

    bench = bench_with(flow_of(ASKING, catalogue), catalogue)
    bench.models = Models(resolve=resolve)
    changes = MODEL.replace("ChatInput", node_id(bench.flow, "ChatInput"))
    changes = changes.replace("ChatOutput", node_id(bench.flow, "ChatOutput"))
    (answer,) = await use(bench, call("edit_flow", 1, changes=changes + more))
    return str(answer.content)


async def test_a_model_field_left_open_is_no_warning_to_the_model(catalogue: Catalogue) -> None:
    assert "no model of its own" not in await edited(catalogue)


async def test_a_model_that_no_provider_serves_here_is_told_at_once(catalogue: Catalogue) -> None:
    told = await edited(catalogue, "config:\n  m.model: openai:gpt-4o-mini\n")
    assert (
        "It cannot run with openai:gpt-4o-mini here: Provider 'openai' is not configured. Set OPENAI_API_KEY." in told
    )
    assert "cannot run" not in await edited(catalogue, "config:\n  m.model: groq:small\n")
