"""Corrections of a spec, templates in a build, and names from ids."""

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.fingerprints import fingerprint
from flows.spec import build
from runtime.results import RunError
from tests.shared.flow_texts import ECHO, LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import play, scripted_assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.tools.toolsets.test_toolsets import use
from tools.specs import read_spec
from tools.workbench import Workbench

pytestmark = pytest.mark.anyio

WRONG = LOUDER.replace("chat.message -> prompt.text", "chat.nothing -> prompt.text").replace("Prompt Template", "Promt")


def empty_bench(catalogue: Catalogue, runner: StandInRunner | None = None) -> Workbench:
    return Workbench(
        user="local", session="s", catalogue=catalogue, runner=runner or StandInRunner(), flow=Flow.empty()
    )


async def test_a_failed_build_takes_only_the_lines_that_change(catalogue: Catalogue) -> None:
    bench = empty_bench(catalogue)
    correction = "correction:\nnodes:\n  prompt: Prompt Template\nedges:\n  chat.message -> prompt.text\n"
    failed, built = await use(bench, call("build_flow", 1, spec=WRONG), call("build_flow", 2, spec=correction))
    assert failed.outcome == "retried"
    assert "`correction:`" in str(failed.content)
    assert "Built 'Louder'" in str(built.content)
    assert bench.proposal is not None
    assert fingerprint(bench.proposal) == fingerprint(flow_of(LOUDER, catalogue))


async def test_a_correction_removes_adds_and_sets(catalogue: Catalogue) -> None:
    draft = read_spec(LOUDER, catalogue).draft
    text = (
        "correction:\nremove:\n  prompt\nnodes:\n  join: CombineText\n"
        "edges:\n  chat.message -> join.text1\n  join.combined_text -> answer.input_value\n"
        "config:\n  join.delimiter: '-'\n"
    )
    found = read_spec(text, catalogue, draft)
    assert found.result.flow is not None
    assert [node.type for node in found.result.flow.nodes] == ["ChatInput", "ChatOutput", "CombineText"]
    assert len(found.result.flow.edges) == 2
    cut = read_spec("correction:\nremove:\n  chat.message -> prompt.text", catalogue, draft)
    assert [(edge.source, edge.target) for edge in cut.draft[0].edges] == [("prompt", "answer")]


async def test_after_a_failure_lines_without_nodes_are_a_correction(catalogue: Catalogue) -> None:
    draft = read_spec(LOUDER.replace("prompt.template", "prompt.tempate"), catalogue).draft
    found = read_spec("config:\n  prompt.template: Hi {text}\nremove:\n", catalogue, draft)
    assert found.result.flow is not None
    assert all(fault.line is None for fault in found.result.faults)


@pytest.mark.parametrize("text", ["correction:\nnodes:\n  A: ChatInput", "correction"])
async def test_a_correction_of_nothing_is_refused(text: str, catalogue: Catalogue) -> None:
    (fault,) = read_spec(text, catalogue).result.faults
    assert fault.code == "no_draft"
    assert "whole spec" in fault.fix


async def test_what_a_correction_removes_must_be_there(catalogue: Catalogue) -> None:
    draft = read_spec(LOUDER, catalogue).draft
    found = read_spec("correction:\nremove:\n  Nobody\n  chat -> answer", catalogue, draft)
    assert [fault.code for fault in found.result.faults if fault.is_error] == ["unknown_node", "unknown_node"]


async def test_edits_of_a_proposal_end_the_corrections_of_its_spec(catalogue: Catalogue) -> None:
    bench = empty_bench(catalogue)
    edit = call("edit_flow", 2, changes="config:\n  prompt.template: Hi {text}")
    correction = call("build_flow", 3, spec="correction:\nconfig:\n  prompt.template: Bye {text}")
    *_, refused = await use(bench, call("build_flow", 1, spec=LOUDER), edit, correction)
    assert "no spec to correct" in str(refused.content)


async def test_a_build_may_begin_with_a_template(catalogue: Catalogue) -> None:
    bench = empty_bench(catalogue)
    spec = "template: prompt-fill\nname: Thanks\nconfig:\n"
    (built,) = await use(bench, call("build_flow", 1, spec=spec))
    assert "Built 'Thanks'" in str(built.content)
    assert bench.proposal is not None
    assert "Prompt Template" in {node.type for node in bench.proposal.nodes}
    (unknown,) = await use(bench, call("build_flow", 2, spec="template: prompt-fil"))
    assert "prompt-fill" in str(unknown.content)


async def test_a_template_that_fits_is_named_in_the_prompt_of_a_new_flow_alone(catalogue: Catalogue) -> None:
    for canvas, named in ((None, True), (flow_of(ECHO, catalogue), False)):
        assistant, script = scripted_assistant(catalogue, "build_flow", "Nothing.", "Nothing.")
        await play(assistant, "Build a flow that routes messages", canvas)
        assert ("[Templates that may fit" in script.prompts[1]) is named
        assert ("router: " in script.prompts[1]) is named


async def test_ids_that_are_names_become_display_names(catalogue: Catalogue) -> None:
    spec = ECHO.replace("a: ChatInput", "customer_question: ChatInput").replace(
        "a.message", "customer_question.message"
    )
    found = read_spec(spec, catalogue)
    assert found.result.flow is not None
    assert [node.display_name for node in found.result.flow.nodes] == ["Customer question", "Chat Output"]
    assert fingerprint(found.result.flow) == fingerprint(flow_of(ECHO, catalogue))
    assert build(spec, catalogue).flow != found.result.flow, "the text form alone names nothing"


async def test_errors_of_a_run_speak_of_the_spec_s_ids(catalogue: Catalogue) -> None:
    node = node_id(flow_of(LOUDER, catalogue), "Prompt Template")
    error = RunError(code="code", message=f"{node} broke.", node=node)
    bench = empty_bench(catalogue, StandInRunner(results=[ran(error=error)]))
    (answer,) = await use(bench, call("build_flow", 1, spec=LOUDER))
    assert answer.outcome == "retried"
    assert "prompt broke." in str(answer.content)
    assert node not in str(answer.content)


@pytest.mark.parametrize(
    "rest",
    ["config:\n  prompt.template: Hi {text}", "config:\n  prompt.template: Hi {text}\nremove:\n  promt.template"],
)
async def test_a_value_of_a_node_that_there_is_not_gives_way_to_its_correction(catalogue: Catalogue, rest: str) -> None:
    failed = read_spec(LOUDER.replace("prompt.template", "promt.template"), catalogue)
    assert failed.result.flow is None
    mended = read_spec(f"correction:\n{rest}", catalogue, failed.draft)
    assert mended.result.flow is not None
    prompt = mended.result.flow.node(mended.result.ids["prompt"])
    assert prompt is not None
    assert prompt.value("template") == "Hi {text}"


async def test_a_correction_removes_a_value(catalogue: Catalogue) -> None:
    draft = read_spec(LOUDER, catalogue).draft
    assert read_spec("correction:\nremove:\n  prompt.template", catalogue, draft).draft[0].values == ()


async def test_a_template_may_be_named_after_the_flow_s_own_name(catalogue: Catalogue) -> None:
    named = read_spec("name: Mine\ntemplate: echo\n", catalogue).result.flow
    assert named is not None
    assert named.name == "Mine"
    first = read_spec("template: echo\nname: Mine\n", catalogue).result.flow
    assert first is not None
    assert fingerprint(named) == fingerprint(first)


def test_a_line_inside_a_text_names_no_template(catalogue: Catalogue) -> None:
    text = LOUDER.replace('"Say it louder: {text}"', "|\n    Loud\ntemplate: echo\n")
    assert read_spec(text, catalogue).template is None


async def test_other_probes_alone_may_be_tried_with_the_same_spec(catalogue: Catalogue) -> None:
    bench = empty_bench(catalogue, StandInRunner([ran(output="no"), ran(output="yes, hello")]))
    first = call("build_flow", 1, spec=ECHO, probes={"hi": "hello"})
    failed, built = await use(bench, first, call("build_flow", 2, spec="correction:", probes={"hello": "hello"}))
    assert "choose probes that fit it" in str(failed.content)
    assert "Built 'Echo'" in str(built.content)


async def test_a_correction_without_lines_or_probes_says_that_nothing_changes(catalogue: Catalogue) -> None:
    bench = empty_bench(catalogue)
    _, refused = await use(bench, call("build_flow", 1, spec=WRONG), call("build_flow", 2, spec="correction:"))
    assert "There is nothing to change." in str(refused.content)
