"""Which tools a turn gets."""

import json

import pytest

from agent.models.scripted import call
from agent.prompts import prompt
from agent.toolsets.selection import READ_TOOLS, all_tools
from flows.catalogue import Catalogue
from tests.shared.flow_texts import ECHO, flow_of, node_id
from tests.shared.scripted_assistant import play, scripted_assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio


async def tools(catalogue: Catalogue, intent: str, text: str, *, canvas: bool) -> set[str]:
    """The tools of a turn's first request."""
    who, script = scripted_assistant(catalogue, intent, "Nothing.", "Nothing.")
    await play(who, text, flow_of(ECHO, catalogue) if canvas else None)
    assert script.tools[0] == set(), "the classifier has none"
    return script.tools[1]


async def test_a_question_has_only_tools_that_read(catalogue: Catalogue) -> None:
    for canvas in (True, False):
        assert await tools(catalogue, "question", "What is this?", canvas=canvas) <= READ_TOOLS


async def test_a_build_on_an_empty_canvas_has_nothing_to_remove_or_undo(catalogue: Catalogue) -> None:
    got = await tools(catalogue, "build_flow", "Build an echo", canvas=False)
    assert got == {
        "search_components",
        "describe_component",
        "build_flow",
        "propose_plan",
        "run_flow",
    }


async def test_single_edits_can_be_called_though_their_definitions_are_not_sent(catalogue: Catalogue) -> None:
    got = await tools(catalogue, "build_flow", "Change it", canvas=True)
    assert "edit_flow" in got
    assert not got & {"add_component", "configure_component", "remove_component"}
    canvas = flow_of(ECHO, catalogue)
    values = {"clean_data": False}
    change = call("configure_component", 1, component_id=node_id(canvas, "ChatOutput"), values=values)
    who, script = scripted_assistant(catalogue, "build_flow", change, "I set it.")
    result = await play(who, "Do not clean the data", canvas)
    assert [action.kind for action in result.actions] == ["configure"]
    assert "configure_component" not in script.tools[1] | script.tools[2]


async def test_a_turn_that_only_reads_has_no_unlisted_edits(catalogue: Catalogue) -> None:
    add = call("add_component", 1, type="ChatInput")
    who, _ = scripted_assistant(catalogue, "question", add, "Nothing.", "Nothing.")
    assert (await play(who, "What is this?", flow_of(ECHO, catalogue))).actions == []


async def test_tools_stay_the_same_within_a_turn(catalogue: Catalogue) -> None:
    who, script = scripted_assistant(catalogue, "build_flow", call("add_component", 1, type="ChatInput"), "I added it.")
    await play(who, "Add a chat input")
    assert script.tools[1] == script.tools[2], "the stable prefix stays cached"


async def test_a_run_can_set_values_and_run(catalogue: Catalogue) -> None:
    got = await tools(catalogue, "run_flow", "Run it", canvas=True)
    assert got == {"get_field_value", "describe_flow_io", "check_flow", "configure_component", "run_flow"}
    with_files = await tools(catalogue, "run_flow", "Run it and note the answer in hours.txt", canvas=True)
    assert got < with_files
    assert "write_file" in with_files


async def test_files_templates_and_todos_come_with_words_that_need_them(catalogue: Catalogue) -> None:
    assert "write_file" in await tools(catalogue, "build_flow", "Build an echo and save it to notes.md", canvas=False)
    assert "use_template" in await tools(catalogue, "build_flow", "Start from a template", canvas=False)
    assert "write_todos" in await tools(catalogue, "build_flow", "a\nb\nc\nd\ne", canvas=False)
    assert "write_todos" in await tools(catalogue, "build_flow", "Build an echo, keep a to-do list", canvas=False)
    assert "write_todos" not in await tools(catalogue, "build_flow", "Build an echo, to do well", canvas=False)
    assert "write_file" in await tools(catalogue, "manage_files", "Write a note", canvas=False)


async def test_one_run_does_several_things_in_order(catalogue: Catalogue) -> None:
    runner = StandInRunner(results=[ran("probe"), ran("hi")])
    who, script = scripted_assistant(
        catalogue,
        "build_flow",
        call("build_flow", 1, spec=ECHO),
        call("run_flow", 2, input="hi"),
        call("write_file", 3, path="out.md", content="hi"),
        "I built it, ran it and wrote out.md.",
        runner=runner,
    )
    result = await play(who, "Build an echo, run it with hi and save the answer to out.md")
    assert (result.outcome, len(result.runs), [one.path for one in result.files]) == ("complete", 1, ["out.md"])
    assert result.text == "I built it, ran it and wrote out.md."
    assert not script.replies


def test_prompts_and_tool_descriptions_stay_within_their_budget() -> None:
    assert len(prompt("intent")) < 4_800 / 3
    assert len(prompt("builder")) < 2_500
    described = {
        name: len(json.dumps({"description": tool.description, "parameters": tool.function_schema.json_schema}))
        for toolset in all_tools()
        for name, tool in toolset.tools.items()
    }
    assert max(described.values()) < 1_300, described


async def test_an_edit_is_shown_only_what_edits_and_a_whole_flow_what_builds(catalogue: Catalogue) -> None:
    edit = await tools(catalogue, "build_flow", "Rename the chat input to Question", canvas=True)
    assert edit == {"search_components", "describe_component", "get_field_value", "edit_flow"}
    assert "run_flow" in await tools(catalogue, "build_flow", "Rename the input to Question and run it", canvas=True)
    assert "build_flow" in await tools(catalogue, "build_flow", "Build a new flow that echoes", canvas=True)
    assert "check_flow" in await tools(catalogue, "question", "Why does it fail?", canvas=True)


async def test_a_run_that_only_the_classifier_reads_in_the_message_can_be_made(catalogue: Catalogue) -> None:
    classified = json.dumps({"intent": "build_flow", "language": "en", "mandate": {"run": ["hello"]}})
    who, script = scripted_assistant(catalogue, classified, "Nothing.", "Nothing.")
    result = await play(who, "Rename the chat input to Question and say hello to it", flow_of(ECHO, catalogue))
    assert "run_flow" in script.tools[1]
    assert "run" in result.record.not_done
