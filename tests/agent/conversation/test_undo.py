"""Undo as a stack: one turn after the other, approved turns as a whole, and forward again."""

import pytest
from pydantic_ai import ToolApproved

from agent.assistant import Assistant
from agent.language.phrases import phrase
from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.shared.flow_texts import LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import assistant, play, scripted_assistant
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio


@pytest.fixture
def canvas(catalogue: Catalogue) -> Flow:
    return flow_of(LOUDER, catalogue)


async def two_turns(catalogue: Catalogue, canvas: Flow, *more: object) -> tuple[Assistant, Flow, Flow]:
    """An assistant after two turns that each added a component: what the canvas was after each."""
    add = [call("add_component", number, type="ChatInput") for number in (1, 2)]
    who, _ = scripted_assistant(catalogue, "build_flow", add[0], "Added.", "build_flow", add[1], "Added.", *more)  # type: ignore[arg-type]
    one = (await play(who, "Add an input", canvas)).after
    two = (await play(who, "Add another input", one)).after
    return who, one, two


async def test_undo_twice_goes_back_two_turns_and_redo_forward_again(catalogue: Catalogue, canvas: Flow) -> None:
    who, one, two = await two_turns(catalogue, canvas)
    at, seen = two, list[Flow]()
    for word in ("undo", "undo", "undo", "redo", "redo", "redo"):
        at = (await play(who, word, at)).after
        seen.append(at)
    assert seen == [one, canvas, canvas, one, two, two]


@pytest.mark.parametrize(
    ("undo", "redo"),
    [
        ("Undo that, please", "Redo it"),
        ("Desfaça isso", "Refazer"),
        ("Deshazlo", "Rehacer"),
        ("Mach das rückgängig", "Stell das wieder her"),
        ("Annule ça", "Rétablir"),
    ],
)
async def test_undo_and_redo_are_understood(undo: str, redo: str, catalogue: Catalogue, canvas: Flow) -> None:
    who, one, two = await two_turns(catalogue, canvas)
    undone = await play(who, undo.replace(",", ""), two)
    assert undone.after == one
    assert (await play(who, redo, one)).after == two


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        ("undo", "There is nothing to undo."),
        ("rückgängig", "Es gibt nichts zurückzunehmen."),
        ("annule", "Il n'y a rien à annuler."),
        ("deshacer", "No hay nada que deshacer."),
        ("desfazer", "Não há nada para desfazer."),
        ("annulla", "Non c'è nulla da annullare."),
        ("取り消して", "取り消すものはありません。"),
        ("撤销", "没有可以撤销的内容。"),
        ("wiederherstellen", "Es gibt nichts wiederherzustellen."),
    ],
)
async def test_a_first_word_to_undo_is_answered_in_its_language(catalogue: Catalogue, word: str, answer: str) -> None:
    assert (await play(assistant(catalogue), word)).text == answer


@pytest.mark.parametrize("word", ["annule", "annulla", "cancel it", "cancela", "abbrechen"])
async def test_a_word_that_cancels_sets_the_proposal_aside_and_undoes_nothing(catalogue: Catalogue, word: str) -> None:
    who = assistant(catalogue, runner=StandInRunner())
    offered = await play(who, "Build an echo flow")
    placed = await play(who, "yes", offered.after)
    again = await play(who, "Build a flow with a prompt 'Whisper: {text}'", placed.after)
    assert again.proposal is not None
    result = await play(who, word, again.after)
    assert (result.text, result.after) == (phrase("set_aside", "en"), placed.after), "what was placed before stays"
    assert (await play(who, "yes", result.after)).after == placed.after, "nothing waits any more"


async def test_an_approved_turn_is_undone_whole(catalogue: Catalogue, canvas: Flow) -> None:
    change = call(
        "configure_component", 2, component_id=node_id(canvas, "Prompt Template"), values={"template": "Psst"}
    )
    add = call("add_component", 1, type="ChatInput")
    who, _ = scripted_assistant(catalogue, "build_flow", [add, change], "Both are done.")
    asked = await play(who, "Add an input and make it whisper", canvas)
    assert asked.outcome == "pending"
    done = await play(who, "", asked.after, answers={name: ToolApproved() for name in asked.approvals})
    assert len(done.after.nodes) == len(canvas.nodes) + 1
    assert done.after != asked.after
    assert (await play(who, "undo", done.after)).after == canvas


async def test_the_tools_go_back_and_forth_in_one_turn(catalogue: Catalogue, canvas: Flow) -> None:
    more = ("build_flow", call("undo_changes", 1, turns=2), call("undo_changes", 2, turns=-1), "One is back.")
    who, one, two = await two_turns(catalogue, canvas, *more)
    assert (await play(who, "Go back to when there was one more input than at first", two)).after == one
    assert (await play(who, "redo", one)).after == two


async def test_a_change_after_an_undo_is_what_the_next_undo_takes_back(catalogue: Catalogue, canvas: Flow) -> None:
    add = call("add_component", 3, type="ChatOutput")
    who, one, two = await two_turns(catalogue, canvas, "build_flow", add, "Added.")
    await play(who, "undo", two)
    other = (await play(who, "Add an output", one)).after
    assert (await play(who, "redo", other)).text == "There is nothing to redo."
    assert (await play(who, "undo", other)).after == one


async def test_a_turn_that_only_talks_leaves_the_stack_alone(catalogue: Catalogue, canvas: Flow) -> None:
    who, one, two = await two_turns(catalogue, canvas, '{"intent": "question"}', "Two inputs.")
    await play(who, "What is on the canvas?", two)
    assert (await play(who, "undo", two)).after == one


async def test_going_back_is_recorded_by_its_result(catalogue: Catalogue, canvas: Flow) -> None:
    prompt = node_id(canvas, "Prompt Template")
    steps = [
        call("edit_flow", number, changes=f"config:\n  {prompt}.{field}: {value}")
        for number, (field, value) in enumerate(
            (("tool_placeholder", "one"), ("tool_placeholder", "two"), ("tool_placeholder", "three")), start=1
        )
    ]
    back = call("undo_changes", 4)
    who, model = scripted_assistant(catalogue, "build_flow", *steps, "Done.", "build_flow", back, "It is undone.")
    changed = await play(who, "Set the placeholder to one, then to two, then to three", canvas)
    assert len(changed.actions) == 3
    by_tool = await play(who, "Please put the placeholder back as it was and tell me about it", changed.after)
    assert by_tool.after == canvas
    assert [(one.kind, one.field) for one in by_tool.record.changes] == [("changed", "tool_placeholder")]
    assert model.tool_answers(-1)[-1] == "Undone. In effect: Set tool_placeholder of Prompt Template."
    redone = await play(who, "redo", by_tool.after)
    assert [(one.kind, one.field) for one in redone.record.changes] == [("changed", "tool_placeholder")]


async def test_going_back_and_forth_changes_nothing_in_the_end(catalogue: Catalogue, canvas: Flow) -> None:
    more = ("build_flow", call("undo_changes", 1), call("undo_changes", 2, turns=-1), "It is as it was.", "It is.")
    who, _, two = await two_turns(catalogue, canvas, *more)
    result = await play(who, "Take the last one away and put it back again", two)
    assert result.after == two
    assert [one for one in result.record.changes if one.kind != "moved"] == []
