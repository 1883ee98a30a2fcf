"""What asks and what does not, as values; plans and undos as tools."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from agent.models.scripted import call
from flows.actions import Configure, SetFlow, StaleAction
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import add_component, configure
from flows.spec import build
from tests.shared.flow_texts import LOUDER
from tests.shared.stand_ins import ASKED_FOR, StandInRunner
from tests.tools.toolsets.test_toolsets import node_id, use
from tools.approvals import Approval, EditApproval, PlanApproval, approval_metadata, is_free_text, read_approval
from tools.undo_stack import TurnChanges, UndoStack, undo_edit
from tools.workbench import Workbench

ADAPTER: TypeAdapter[Approval] = TypeAdapter(Approval)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ({"type": "str", "value": "Hello"}, True),
        ({"type": "prompt", "value": "Say {text}"}, True),
        ({"type": "code", "value": "x = 1"}, True),
        ({"value": "Hello"}, True),
        ({"type": "str", "value": ""}, False),
        ({"type": "str", "value": "  \n"}, False),
        ({"type": "str", "value": "AI", "options": ["AI", "User"]}, False),
        ({"type": "str", "value": "sk-1", "password": True, "name": "api_key"}, False),
        ({"type": "int", "value": 3}, False),
        ({"type": "bool", "value": True}, False),
        ({"type": "model", "value": [{"name": "m"}]}, False),
        ({"type": "dict", "value": "{}"}, False),
        ({}, False),
    ],
)
def test_only_texts_that_someone_wrote_are_free_text(field: dict[str, object], *, expected: bool) -> None:
    assert is_free_text(field) is expected


@given(st.text(), st.text(), st.text())
def test_an_approval_survives_json(old: str, new: str, reason: str) -> None:
    edit = EditApproval(edit=Configure("A-1", "f", old, new), reason=reason)
    for approval in (edit, PlanApproval(markdown=new)):
        assert ADAPTER.validate_json(ADAPTER.dump_json(approval)) == approval
        assert read_approval(approval_metadata(approval)) == approval


def test_a_suspended_call_without_an_approval_is_invalid() -> None:
    with pytest.raises(ValidationError):
        read_approval({})
    with pytest.raises(ValidationError):
        EditApproval.model_validate({"edit": {"kind": "connect", "edge": {}}})


def test_undoing_is_the_inverse_of_doing(catalogue: Catalogue) -> None:
    canvas = build(LOUDER, catalogue).flow
    assert canvas is not None
    added = add_component(canvas, catalogue, "ChatOutput")
    changed = configure(added.flow, catalogue, node_id(canvas, "Prompt Template"), {"template": "Hi {text} {more}"})
    replaced = SetFlow(old=changed.flow.raw, new=Flow.empty().raw)
    done = (*added.actions, *changed.actions, replaced)
    assert undo_edit(Flow.empty(), done).flow == canvas
    with pytest.raises(StaleAction):
        undo_edit(canvas, done)


@pytest.mark.anyio
async def test_the_undo_tool_undoes_once_and_says_when_it_cannot(catalogue: Catalogue) -> None:
    canvas = build(LOUDER, catalogue).flow
    assert canvas is not None
    edit = add_component(canvas, catalogue, "ChatOutput")

    def bench(flow: Flow) -> Workbench:
        work = Workbench(
            mandate=ASKED_FOR, user="u", session="s", catalogue=catalogue, runner=StandInRunner(), flow=flow
        )
        work.undo_stack = UndoStack(done=[TurnChanges(turn=1, actions=list(edit.actions))])
        return work

    work = bench(edit.flow)
    first, *_ = await use(work, call("undo_changes", 1), call("undo_changes", 2))
    assert str(first.content).startswith("Undone")
    assert work.flow == canvas
    stale = bench(canvas)
    await use(stale, call("undo_changes", 1))
    assert (stale.flow, stale.actions) == (canvas, [])
