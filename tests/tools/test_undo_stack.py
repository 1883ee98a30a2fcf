"""The stack of what can be undone and redone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.actions import StaleAction, apply_all
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import add_component
from tools.undo_stack import DEPTH, UndoStack


@given(st.lists(st.sampled_from(["edit", "undo", "redo"]), max_size=30))
def test_undo_and_redo_walk_the_same_canvases_back_and_forth(catalogue: Catalogue, steps: list[str]) -> None:
    stack, canvas = UndoStack(), Flow.empty()
    before, after = list[Flow](), list[Flow]()
    for turn, step in enumerate(steps, 1):
        if step == "edit":
            edit = add_component(canvas, catalogue, "ChatInput")
            stack.record(turn, edit.actions)
            before, after = [*before, canvas][-DEPTH:], []
            canvas = edit.flow
        elif step == "undo":
            edit = stack.undo(canvas)
            assert (edit is None) == (not before)
            if edit is not None:
                assert apply_all(canvas, edit.actions) == edit.flow == before[-1]
                after.append(canvas)
                canvas = before.pop()
        else:
            edit = stack.redo(canvas)
            assert (edit is None) == (not after)
            if edit is not None:
                assert edit.flow == after[-1]
                before.append(canvas)
                canvas = after.pop()


def test_a_suspended_turn_and_what_resumes_it_are_undone_as_one(catalogue: Catalogue) -> None:
    stack = UndoStack()
    first = add_component(Flow.empty(), catalogue, "ChatInput")
    second = add_component(first.flow, catalogue, "ChatOutput")
    stack.record(4, first.actions)
    stack.record(4, second.actions)
    undone = stack.undo(second.flow)
    assert undone is not None
    assert (undone.flow, stack.done) == (Flow.empty(), [])


def test_a_copy_is_a_stack_of_its_own(catalogue: Catalogue) -> None:
    stack = UndoStack()
    first = add_component(Flow.empty(), catalogue, "ChatInput")
    second = add_component(first.flow, catalogue, "ChatOutput")
    stack.record(4, first.actions)
    before = stack.model_dump()
    stack.model_copy().record(4, second.actions)
    stack.model_copy().undo(first.flow)
    assert stack.model_dump() == before


def test_a_stale_change_stays_on_the_stack(catalogue: Catalogue) -> None:
    stack = UndoStack()
    stack.record(1, add_component(Flow.empty(), catalogue, "ChatInput").actions)
    with pytest.raises(StaleAction):
        stack.undo(Flow.empty())
    assert len(stack.done) == 1
    assert stack.undone == []


def test_a_new_change_ends_what_could_be_redone(catalogue: Catalogue) -> None:
    stack = UndoStack()
    edit = add_component(Flow.empty(), catalogue, "ChatInput")
    stack.record(1, edit.actions)
    stack.undo(edit.flow)
    stack.record(2, edit.actions)
    assert stack.redo(Flow.empty()) is None


def test_a_stack_survives_json(catalogue: Catalogue) -> None:
    stack = UndoStack()
    stack.record(1, add_component(Flow.empty(), catalogue, "ChatInput").actions)
    assert UndoStack.model_validate_json(stack.model_dump_json()) == stack
