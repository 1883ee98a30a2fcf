"""The record of a turn: what was done and what of the asked was not, in the user's language, in every ending."""

import asyncio

import pytest

from agent.contract.endings import ending, turn_result
from agent.contract.events import CompleteEvent, ErrorEvent
from agent.models.scripted import call
from agent.turn.record import ChangeEntry, TurnRecord
from agent.turn.request import TurnRequest
from flows.catalogue import Catalogue
from runtime.files.store import UserFiles
from runtime.results import RunError
from tests.shared.flow_texts import ECHO, LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant, play, scripted_assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio

GERMAN = '{"intent": "build_flow", "language": "de"}'
GERMAN_CLOSING = "Sonst wurde nichts geändert, ausgeführt oder geschrieben."
JAPANESE = '{"intent": "run_flow", "language": "ja"}'


async def test_a_change_and_a_run_stand_in_the_record(catalogue: Catalogue) -> None:
    canvas = flow_of(ECHO, catalogue)
    output = node_id(canvas, "ChatOutput")
    who, _ = scripted_assistant(
        catalogue,
        GERMAN,
        call("rename_component", 1, component_id=output, name="Ada"),
        call("run_flow", 2, input="hi"),
        "Fertig.",
        runner=StandInRunner([ran(output="hello")]),
    )
    result = await play(who, "Nenne die Ausgabe Ada und starte ihn mit hi", canvas)
    record = result.record
    assert record.changes == [ChangeEntry(kind="renamed", nodes=[output])]
    assert [(run.by, run.input, run.output) for run in record.runs] == [("user", "hi", "hello")]
    assert (record.not_done, record.disagrees, record.waiting) == ([], False, False)
    assert record.text == f"Umbenannt: Ada.\nLauf (“hi”): ergab “hello”\n{GERMAN_CLOSING}"
    assert result.text == "Fertig.", "the answer is the model's own"


async def test_what_was_asked_and_not_done_is_said_in_the_users_language(catalogue: Catalogue) -> None:
    who, _ = scripted_assistant(catalogue, JAPANESE, "できません。", "できません。")
    record = (await play(who, "実行して")).record
    assert record.not_done == ["run"]
    assert record.text == "変更はありません。 何も実行されていません。"


async def test_a_file_that_the_message_asks_for_beside_a_build_is_said_to_be_missing(catalogue: Catalogue) -> None:
    read = '{"intent": "build_flow", "mandate": {"edit": [], "write_files": ["notes.md"]}}'
    who, _ = scripted_assistant(catalogue, read, call("build_flow", 1, spec=ECHO), "Built; I wrote no notes.")
    record = (await play(who, "Build an echo and note it in notes.md")).record
    assert record.not_done == ["files"]
    assert "No file was written or deleted." in record.text


async def test_a_built_flow_is_offered_with_its_trial_run(catalogue: Catalogue) -> None:
    who, _ = scripted_assistant(catalogue, "build_flow", call("build_flow", 1, spec=ECHO), "Built.")
    record = (await play(who, "Build an echo")).record
    assert record.proposal is not None
    assert (record.proposal.status, record.changes, record.waiting) == ("offered", [], True)
    assert [run.by for run in record.runs] == ["verification"]


async def test_a_built_flow_that_was_run_is_applied_and_not_a_change_of_its_own(catalogue: Catalogue) -> None:
    build, run = call("build_flow", 1, spec=ECHO), call("run_flow", 2, input="hi")
    who, _ = scripted_assistant(catalogue, "build_flow", build, run, "Built.")
    record = (await play(who, "Build an echo and run it with hi")).record
    assert record.proposal is not None
    assert (record.proposal.status, record.changes) == ("applied", [])
    assert [one.by for one in record.runs] == ["verification", "user"]


async def test_a_plan_is_proposed_then_approved(catalogue: Catalogue) -> None:
    plan = call("propose_plan", 1, markdown="## Two steps\n\n1. Build.")
    who, _ = scripted_assistant(catalogue, "build_flow", plan, call("build_flow", 2, spec=ECHO), "Built.")
    asked = await play(who, "Build something large")
    assert [(one.title, one.status) for one in asked.record.plans] == [("Two steps", "proposed")]
    assert (asked.record.waiting, asked.record.not_done) == (True, ["edit"])
    answered = await play(who, answers={id_: {"kind": "tool-approved"} for id_ in asked.approvals})
    assert [(one.title, one.status) for one in answered.record.plans] == [("Two steps", "approved")]


async def test_a_denied_plan_is_recorded_as_denied(catalogue: Catalogue) -> None:
    plan = call("propose_plan", 1, markdown="# Two steps")
    who, _ = scripted_assistant(catalogue, "build_flow", plan, "As you like.")
    asked = await play(who, "Build something large")
    denied = {"kind": "tool-denied", "message": "no"}
    answered = await play(who, answers=dict.fromkeys(asked.approvals, denied))
    assert [(one.title, one.status) for one in answered.record.plans] == [("Two steps", "denied")]
    assert answered.record.text.startswith("Plan “Two steps”: denied, not carried out.\nNothing was changed.")


async def test_a_plan_that_is_carried_out_with_a_change_is_recorded_as_that(catalogue: Catalogue) -> None:
    plan = call("propose_plan", 1, markdown="# Two steps")
    change = '{"intent": "build_flow", "reply": "change"}'
    who, _ = scripted_assistant(catalogue, "build_flow", plan, change, call("build_flow", 2, spec=ECHO), "Built.")
    await play(who, "Plan something and build it")
    answered = await play(who, "rather without the second step")
    assert [(one.title, one.status) for one in answered.record.plans] == [("Two steps", "changed")]
    assert "Plan “Two steps”: carried out with your changes." in answered.record.text


async def test_the_text_after_a_question_also_says_what_was_done_before(catalogue: Catalogue) -> None:
    canvas = flow_of(LOUDER, catalogue)
    output = node_id(canvas, "ChatOutput")
    rename = call("rename_component", 1, component_id=output, name="Ada")
    plan = call("propose_plan", 2, markdown="Remove the rest")
    who, _ = scripted_assistant(catalogue, "build_flow", rename, plan, "The output is Ada now; I left the rest.")
    asked = await play(who, "Call the output Ada, then plan the rest", canvas)
    assert asked.record.text.startswith("Renamed: Ada.\nPlan “Remove the rest”: waiting for your answer.")
    denied = {"kind": "tool-denied", "message": "no"}
    result = await play(who, flow=asked.after, answers=dict.fromkeys(asked.approvals, denied))
    assert result.record.changes == []
    assert result.record.text.startswith("Renamed: Ada.\nPlan “Remove the rest”: denied, not carried out.")
    assert (result.text, result.record.disagrees) == ("The output is Ada now; I left the rest.", False)


async def test_files_are_recorded_once_each(catalogue: Catalogue) -> None:
    write = call("write_file", 1, path="note.md", content="One")
    edit = call("edit_file", 2, path="note.md", old_string="One", new_string="Two")
    who, _ = scripted_assistant(catalogue, "manage_files", write, edit, "Written.")
    record = (await play(who, "Write a note")).record
    assert [(file.path, file.change) for file in record.files] == [("note.md", "created")]
    assert await asyncio.to_thread(UserFiles(who.settings.data, "local").read, "note.md") is not None
    assert record.text == "File note.md: created.\nNothing else was changed, run or written."


async def test_a_failed_turn_carries_what_was_done_before(catalogue: Catalogue) -> None:
    canvas = flow_of(LOUDER, catalogue)
    remove = call("remove_component", 1, component_id=node_id(canvas, "ChatOutput"))
    who, _ = scripted_assistant(catalogue, "build_flow", remove, RuntimeError("the line broke"))
    result = await play(who, "Remove the chat output", canvas)
    ended = ending(result, "s")
    assert isinstance(ended, ErrorEvent)
    assert ended.record is not None
    assert ended.record.text.startswith("Removed: ")
    assert turn_result(TurnRequest(text="x"), ended).record == result.record


async def test_a_stopped_turn_carries_what_was_done_before(catalogue: Catalogue) -> None:
    canvas = flow_of(LOUDER, catalogue)
    remove = call("remove_component", 1, component_id=node_id(canvas, "ChatOutput"))
    model = ScriptedModel("build_flow", remove, "Never said.", blocks_at=2)
    who = assistant(catalogue, model)
    async with who.turn(TurnRequest(text="Remove the chat output", flow=canvas)) as events:
        async for _ in events:
            if model.blocked.is_set() or events.record.changes:
                break
    assert [one.kind for one in events.record.changes] == ["removed"]
    assert events.record.text.startswith("Removed: ")


async def test_every_complete_carries_a_record_that_survives_json(catalogue: Catalogue) -> None:
    runner = StandInRunner([ran(error=RunError(code="timeout", message="It took too long."))])
    who, _ = scripted_assistant(
        catalogue, "run_flow", call("run_flow", 1), "It failed: it took too long.", runner=runner
    )
    result = await play(who, "Run it", flow_of(ECHO, catalogue))
    ended = ending(result, "s")
    assert isinstance(ended, CompleteEvent)
    read = CompleteEvent.model_validate_json(ended.model_dump_json())
    assert read.data.record == result.record
    assert turn_result(TurnRequest(text="x"), read).record == result.record
    assert result.record.text == "Run: it failed: It took too long.\nNothing else was changed, run or written."


async def test_a_question_that_did_nothing_has_an_empty_record(catalogue: Catalogue) -> None:
    who, _ = scripted_assistant(catalogue, "question", "An agent uses tools.")
    assert (await play(who, "What is an agent?")).record == TurnRecord()
