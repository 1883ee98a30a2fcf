"""The kinds of requests: each has its step, its tools and its ending, and a run that was asked for is never missed."""

import json

import pytest

from agent.models.scripted import call, last_prompt
from flows.catalogue import Catalogue
from tests.server.live import events, played, serving, steps, updates
from tests.shared.flow_texts import ECHO, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
DOCS = "# Echo\nIt says what it hears.\n"


@pytest.mark.parity("scenario-create-document", "ADR-MCP-013", "scenario-no-gate-for-files")
async def test_a_document_is_written_and_reported_with_its_content_without_approval(catalogue: Catalogue) -> None:
    found = await played(
        catalogue,
        ["manage_files", [call("write_file", 1, path="FLOW_DOCS.md", content=DOCS)], "I wrote FLOW_DOCS.md."],
        canvas=flow_of(ECHO, catalogue),
        input_value="create a markdown file documenting this flow",
    )
    told = steps(found)
    assert told[:2] == ["generating", "generating_document"]
    assert not {"document_ready", "flow_proposal_ready", "generating_flow"} & set(told)
    (written,) = [event for event in found if event["event"] == "file_written"]
    assert written == {
        "event": "file_written",
        "action": "write_file",
        "path": "FLOW_DOCS.md",
        "size": len(DOCS),
        "content": DOCS,
    }
    assert found[-1]["event"] == "complete"
    assert (found[-1]["data"]["intent"], found[-1]["data"].get("approvals")) == ("manage_files", None)


@pytest.mark.parity("term-manage-files-intent", "term-file-written-event")
async def test_a_request_for_a_document_gets_the_five_file_tools(catalogue: Catalogue) -> None:
    model = ScriptedModel("manage_files", call("write_file", 1, path="a.md", content="x"), "Done.")
    async with serving(assistant(catalogue, model)) as live:
        found = await events(live.client, input_value="write a note")
    assert {"read_file", "write_file", "edit_file", "glob_search", "grep_search"} <= model.tools[1]
    assert "generating_document" in steps(found)
    assert [event["path"] for event in found if event["event"] == "file_written"] == ["a.md"]


@pytest.mark.parity("scenario-orchestrating", "base-scenario-orchestrating-step", "term-orchestrating-step")
@pytest.mark.parametrize(
    ("intent", "text", "step"),
    [
        ("component_then_flow", "make a component that reverses text, build a flow with it", "orchestrating"),
        ("build_flow", "build an echo flow and run it with hi", "orchestrating"),
        ("build_flow", "build an echo flow", "generating_flow"),
    ],
)
async def test_a_request_of_several_steps_is_recognised(
    intent: str, text: str, step: str, catalogue: Catalogue
) -> None:
    act = [[call("build_flow", 1, spec=ECHO)], [call("run_flow", 2, input="hi")], "Built and ran it."]
    found = await played(catalogue, [intent, *act], runner=StandInRunner(results=[ran("hi")]), input_value=text)
    (kind,) = [event for event in found if event.get("step") in {"orchestrating", "generating_flow"}]
    assert kind["step"] == step
    if step == "orchestrating":
        assert kind["message"] == "Orchestrating..."


@pytest.mark.parity("term-run-rescue")
@pytest.mark.parametrize(
    ("text", "intent"),
    [("Run it with hi", "run_flow"), ("rode ele com hi", "run_flow"), ("How do I run it?", "question")],
)
async def test_a_run_is_rescued_from_a_wrong_classification_and_a_question_stays_one(
    text: str, intent: str, catalogue: Catalogue
) -> None:
    runner = StandInRunner(results=[ran("hi")])
    replies = [
        "question",
        [call("run_flow", 1, input="hi")] if intent == "run_flow" else "Ask me to.",
        "It said hi.",
    ]
    found = await played(catalogue, replies, runner=runner, canvas=flow_of(ECHO, catalogue), input_value=text)
    assert found[-1]["data"]["intent"] == intent
    assert len(runner.asked) == (intent == "run_flow")


@pytest.mark.parity("ADR-007", "base-scenario-example-code-is-no-component")
async def test_code_in_an_answer_to_a_question_is_text(catalogue: Catalogue) -> None:
    answer = "Like this:\n```python\nfrom lfx.custom import Component\nclass Sum(Component):\n    pass\n```"
    found = await played(catalogue, ["question", answer], input_value="How do I create a component?")
    data = found[-1]["data"]
    assert (data["result"], data["intent"], data["actions"]) == (answer, "question", 0)
    assert not {"component_code", "class_name", "validated"} & data.keys()
    assert {event["event"] for event in found} == {"progress", "token", "complete"}


@pytest.mark.parity("ADR-002", "base-term-translation-flow", "base-term-langflow-assistant-flow")
async def test_one_request_tells_intent_translation_and_the_wished_model(catalogue: Catalogue) -> None:
    read = (
        '{"intent": "build_flow", "english": "Build an echo with Claude", "language": "pt",'
        ' "model": "claude-x", "provider": "anthropic"}'
    )
    model = ScriptedModel(read, [call("build_flow", 1, spec=ECHO)], "Pronto.")
    async with serving(assistant(catalogue, model)) as live:
        found = await events(live.client, input_value="Crie um eco com o Claude")
    assert len(model.requests) == 3
    prompt = last_prompt(model.requests[1])
    assert "anthropic:claude-x" in prompt
    assert prompt.endswith("Crie um eco com o Claude")
    assert found[-1]["data"]["result"] == "Pronto."


@pytest.mark.parity("base-scenario-only-configured-providers", "scenario-provider-agnostic", "ADR-017")
async def test_a_build_names_the_models_of_configured_providers_only(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    model = ScriptedModel("build_flow", [call("build_flow", 1, spec=ECHO)], "Done.")
    async with serving(assistant(catalogue, model)) as live:
        await events(live.client, input_value="Build an agent")
    (block,) = [line for line in last_prompt(model.requests[1]).splitlines() if "anthropic:" in line]
    assert "openai" not in block.lower()
    assert "google" not in block.lower()


@pytest.mark.parity("base-term-available-providers", "term-available-providers", "ADR-MCP-035")
async def test_a_build_hears_of_no_models_when_no_provider_is_configured(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [call("build_flow", 1, spec=ECHO)], "Done.")
    async with serving(assistant(catalogue, model)) as live:
        await events(live.client, input_value="Build an agent")
    prompt = last_prompt(model.requests[1])
    assert not any(f"{name}:" in prompt for name in ("openai", "anthropic", "google", "groq", "mistral", "ollama"))


@pytest.mark.parity("ADR-MCP-010")
async def test_one_turn_changes_the_flow_and_writes_a_file(catalogue: Catalogue) -> None:
    canvas = flow_of(ECHO, catalogue)
    output = node_id(canvas, "ChatOutput")
    change = call("configure_component", 1, component_id=output, values={"clean_data": False})
    write = call("write_file", 2, path="CHANGELOG.md", content="- The text stays as it is.\n")
    found = await played(
        catalogue,
        ["build_flow", [change], [write], "Both are done."],
        canvas=canvas,
        input_value="Leave the answer's text as it is and save the change log to CHANGELOG.md",
    )
    kinds = [event["event"] for event in found if event["event"] in {"flow_update", "file_written"}]
    assert kinds == ["flow_update", "file_written"]
    assert found[-1]["data"]["result"] == "Both are done."


@pytest.mark.parity("base-term-orchestrating-step")
async def test_several_steps_are_recognised_in_any_language(catalogue: Catalogue) -> None:
    read = '{"intent": "build_flow", "english": "Build an echo and run it with oi", "language": "pt"}'
    act = [[call("build_flow", 1, spec=ECHO)], [call("run_flow", 2, input="oi")], "Pronto, disse oi."]
    runner = StandInRunner(results=[ran("oi")])
    found = await played(catalogue, [read, *act], runner=runner, input_value="Monte um eco e rode com oi")
    (kind,) = [event for event in found if event.get("step") in {"orchestrating", "generating_flow"}]
    assert (kind["step"], kind["message"]) == ("orchestrating", "Orchestrating...")


@pytest.mark.parity("flow_builder.text_fallback")
async def test_a_flow_written_as_prose_is_recovered_offered_and_logged(
    catalogue: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    written = json.dumps(flow_of(ECHO, catalogue).to_json())
    found = await played(
        catalogue, ["build_flow", f"Here is your flow:\n```json\n{written}\n```"], input_value="Build an echo"
    )
    (offered,) = updates(found, "set_flow")
    assert offered["auto_apply"] is False
    assert found[-1]["data"]["proposal"] == offered["flow"]
    assert "nodes" not in found[-1]["data"]["result"]
    assert [record.levelname for record in caplog.records if record.getMessage() == "flow_builder.text_fallback"] == [
        "WARNING"
    ]
