"""Keys typed into a message: no model, log, event or store sees them, and the user is asked whether to keep them."""

import json
import logging
from pathlib import Path

import pytest
from pydantic_ai import ToolApproved, ToolCallPart, ToolDenied

from agent.assistant import Assistant
from agent.conversation.in_process import ProcessMemory
from agent.turn.request import TurnRequest
from agent.turn.result import TurnResult
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.fields.keys import REMOVED
from runtime.files.folders import LOCAL_USER
from runtime.telemetry import event_fields
from tests.shared.scripted_assistant import play, scripted_assistant

KEY = "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8t"
QUESTION = ('{"intent": "question"}', "You can set it in the field.")
SPEC = """
nodes:
  chat: ChatInput
  model: LanguageModelComponent
  out: ChatOutput
edges:
  chat.message -> model.input_value
  model.text_output -> out.input_value
config:
  model.api_key: MY_MODEL_KEY
"""
pytestmark = pytest.mark.anyio


async def stored_values(assistant: Assistant) -> dict[str, str]:
    return dict(await assistant.variables(LOCAL_USER).values())


def contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


async def ask(assistant: Assistant, **given: object) -> TurnResult:
    """A turn with all events, none of which may hold the key."""
    request = TurnRequest.model_validate({"text": "", **given})
    async with assistant.turn(request) as events:
        result = None
        async for event in events:
            assert KEY not in repr(event)
            result = getattr(event, "result", result)
    assert isinstance(result, TurnResult)
    assert KEY not in result.model_dump_json()
    return result


async def test_a_key_is_kept_as_a_variable_when_the_user_says_yes(
    catalogue: Catalogue, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = ProcessMemory()
    who, model = scripted_assistant(catalogue, *QUESTION, memory=memory, data=tmp_path, trace_content=True)
    with caplog.at_level(logging.DEBUG):
        asked = await ask(who, text=f"Use my key {KEY} in this flow")
        assert asked.outcome == "pending"
        assert "OPENAI_API_KEY" in asked.text
        assert [one.kind for one in asked.approvals.values()] == ["secret"]
        assert model.requests == []
        assert KEY not in (await memory.load(LOCAL_USER, "default")).model_dump_json()
        answered = await ask(who, text="yes, please")
    assert await stored_values(who) == {"OPENAI_API_KEY": KEY}
    assert "The key is kept as the variable OPENAI_API_KEY." in answered.text
    assert answered.text.startswith("You can set it in the field.")
    assert KEY not in str(model.requests)
    assert "Use my key OPENAI_API_KEY" in model.prompts[-1]
    state = await memory.load(LOCAL_USER, "default")
    assert (len(state.turns), state.pending) == (1, None)
    assert KEY not in state.model_dump_json()
    assert all(KEY not in str(event_fields(record)) + record.getMessage() for record in caplog.records)
    assert KEY.encode() not in b"".join(contents(tmp_path))


@pytest.mark.parametrize("reply", ["no", "nein, danke", "by id"])
async def test_a_key_is_forgotten_when_the_user_says_no(catalogue: Catalogue, tmp_path: Path, reply: str) -> None:
    memory = ProcessMemory()
    who, model = scripted_assistant(catalogue, *QUESTION, memory=memory, data=tmp_path)
    asked = await ask(who, text=f"Use my key {KEY} in this flow")
    answers = {"answers": dict.fromkeys(asked.approvals, ToolDenied())} if reply == "by id" else {"text": reply}
    answered = await ask(who, **answers)
    assert await stored_values(who) == {}
    assert answered.outcome == "complete"
    assert f"Use my key {REMOVED} in this flow" in model.prompts[-1]
    assert "key" not in json.loads((await memory.load(LOCAL_USER, "default")).model_dump_json())


async def test_a_key_is_forgotten_when_the_user_goes_on_to_something_else(catalogue: Catalogue, tmp_path: Path) -> None:
    memory = ProcessMemory()
    other = ('{"intent": "build_flow", "reply": "other"}', "What should it do?", "What should it do?")
    who, _ = scripted_assistant(catalogue, *other, memory=memory, data=tmp_path)
    await ask(who, text=f"Use my key {KEY} in this flow")
    await ask(who, text="Please build a flow that translates a text into French")
    assert (await memory.load(LOCAL_USER, "default")).pending is None
    assert await stored_values(who) == {}


@pytest.mark.parametrize("by_id", [True, False])
async def test_a_key_is_kept_under_the_name_that_the_user_wants(
    catalogue: Catalogue, tmp_path: Path, *, by_id: bool
) -> None:
    who, _ = scripted_assistant(catalogue, *QUESTION, data=tmp_path)
    asked = await ask(who, text=f"Use my key {KEY} in this flow")
    named = ToolApproved(override_args={"variable": "MY_OWN_KEY"})
    await ask(
        who, **({"answers": dict.fromkeys(asked.approvals, named)} if by_id else {"text": "ok, but call it MY_OWN_KEY"})
    )
    assert await stored_values(who) == {"MY_OWN_KEY": KEY}


async def test_the_name_is_new_and_a_key_that_is_kept_already_is_not_asked_for(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    who, model = scripted_assistant(catalogue, *QUESTION, data=tmp_path)
    await who.variables(LOCAL_USER).keep({"OPENAI_API_KEY": "another-value", "MINE": KEY})
    known = await ask(who, text=f"Use my key {KEY} in this flow")
    assert known.outcome == "complete"
    assert "Use my key MINE" in model.prompts[-1]
    asked = await ask(who, text=f"Use my key {KEY}00 in this flow")
    assert "OPENAI_API_KEY_2" in asked.text


async def test_each_of_several_keys_is_asked_for(catalogue: Catalogue, tmp_path: Path) -> None:
    who, model = scripted_assistant(catalogue, *QUESTION, data=tmp_path)
    asked = await ask(who, text=f"OpenAI {KEY}, Serper API key: 0123456789abcdef0123456789abcdef")
    first, second = asked.approvals
    partly = await ask(who, answers={first: ToolApproved()})
    assert (partly.outcome, list(partly.approvals)) == ("pending", [second])
    await ask(who, answers={second: ToolDenied()})
    assert await stored_values(who) == {"OPENAI_API_KEY": KEY}
    assert f"Serper API key: {REMOVED}" in model.prompts[-1]


async def test_the_field_names_the_variable_when_the_key_was_kept(catalogue: Catalogue, tmp_path: Path) -> None:
    build = ToolCallPart("build_flow", {"spec": SPEC})
    who, _ = scripted_assistant(catalogue, '{"intent": "build_flow"}', build, "Built.", "Built.", data=tmp_path)
    await ask(who, text=f"Build a flow that answers with a model; my key is {KEY}")
    built = await ask(who, text="yes, but as MY_MODEL_KEY")
    assert await stored_values(who) == {"MY_MODEL_KEY": KEY}
    [field] = [node.field("api_key") for node in built.flow.nodes if node.type == "LanguageModelComponent"]
    assert field is not None
    assert (field["value"], field["load_from_db"]) == ("MY_MODEL_KEY", True)


async def test_no_model_sees_a_key_in_a_reply_or_its_reason_or_arguments(catalogue: Catalogue, tmp_path: Path) -> None:
    plan = ToolCallPart("propose_plan", {"plan": "1. Build it", "markdown": "1. Build it"})
    for answer in (
        {"text": f"no, use {KEY} instead"},
        {"answers": ToolDenied(f"use {KEY} instead")},
        {"answers": ToolApproved(override_args={"markdown": f"Use {KEY}", "plan": f"Use {KEY}"})},
    ):
        who, model = scripted_assistant(
            catalogue, '{"intent": "build_flow"}', plan, '{"intent": "build_flow", "reply": "change"}', data=tmp_path
        )
        model.replies += ["All right."] * 3
        asked = await ask(who, text="Build a flow that answers questions", session=str(answer)[:9])
        if isinstance(given := answer.get("answers"), ToolDenied | ToolApproved):
            answer = {"answers": dict.fromkeys(asked.approvals, given)}
        if asked.outcome == "pending":
            answered = await ask(who, **answer, session=str(answer)[:9])
            assert "Your message holds a key" in answered.text or answered.outcome == "error"
        assert KEY not in str(model.requests)
        assert await stored_values(who) == {}


async def test_no_model_sees_a_key_on_the_canvas(catalogue: Catalogue, tmp_path: Path) -> None:
    canvas = Flow.from_json(
        {
            "nodes": [
                _node("Model-1a2b3", "LanguageModelComponent", catalogue, "api_key", KEY),
                _node("TextInput-1a2b3", "TextInput", catalogue, "input_value", f"call it with {KEY}"),
            ],
            "edges": [],
        }
    )
    who, model = scripted_assistant(catalogue, *QUESTION, data=tmp_path)
    async with who.turn(
        TurnRequest(text="What is 'TextInput-1a2b3.input_value' and 'Model-1a2b3.api_key'?", flow=canvas)
    ) as turn:
        _ = [event async for event in turn]
    assert KEY not in str(model.requests)


async def test_an_answer_to_a_message_without_keys_says_nothing_about_them(catalogue: Catalogue) -> None:
    who, _ = scripted_assistant(catalogue, '{"intent": "question"}', "A chat input.")
    assert (await play(who, "What is it?")).text == "A chat input."


def _node(node: str, kind: str, catalogue: Catalogue, field: str, value: str) -> dict[str, object]:
    known = catalogue.get(kind)
    assert known is not None
    template: dict[str, dict[str, object]] = {name: {**entry} for name, entry in known.template.items()}
    template[field]["value"] = value
    return {"id": node, "data": {"id": node, "type": kind, "node": {"template": template, "outputs": []}}}
