"""What a turn leaves in the log: one line for each thing that happened, under its name, with its fields."""

import logging
from typing import Any

import anyio
import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError

from agent.models.chain import chain
from agent.models.scripted import call
from flows.catalogue import Catalogue
from runtime.telemetry import LOGGER, event_fields
from tests.server.live import STREAM, events, leaving, played, serving
from tests.shared.flow_texts import AGENT, ECHO, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What is logged, from the level of information on."""
    caplog.set_level(logging.INFO, logger=LOGGER)
    return caplog


def lines(told: pytest.LogCaptureFixture, name: str) -> list[dict[str, Any]]:
    """The fields of every line of one name."""
    return [event_fields(record) for record in told.records if record.getMessage() == name]


@pytest.mark.parity("assistant.request.started", "assistant.intent.classified", "assistant.request.completed")
async def test_a_request_is_reported_when_it_begins_is_understood_and_ends(
    catalogue: Catalogue, told: pytest.LogCaptureFixture
) -> None:
    await played(catalogue, ["question", "Text."], input_value="What is it?", session_id="agentic_s1")
    (started,) = lines(told, "assistant.request.started")
    assert started.items() >= {"user_id": "local", "session_id": "agentic_s1", "provider": "scripted"}.items()
    assert started["model_name"] == "scripted"
    (classified,) = lines(told, "assistant.intent.classified")
    assert (classified["intent"], classified["session_id"]) == ("question", "agentic_s1")
    (completed,) = lines(told, "assistant.request.completed")
    assert (completed["intent"], completed["outcome"], completed["validated"]) == ("question", "complete", True)
    assert completed["duration_ms"] > 0
    assert "What is it?" not in str([event_fields(record) for record in told.records]), "content needs consent"


@pytest.mark.parity("assistant.tokens.phase", "base-scenario-phase-logs", "smoke-usage-phases")
async def test_the_tokens_of_each_phase_are_reported(catalogue: Catalogue, told: pytest.LogCaptureFixture) -> None:
    replies = [
        "build_flow",
        [call("build_flow", 1, spec=ECHO)],
        [call("run_flow", 2, input="hi")],
        "Built and ran it.",
    ]
    await played(catalogue, replies, runner=StandInRunner(results=[ran("hi")]), session_id="agentic_s1")
    found = {line["phase"]: line for line in lines(told, "assistant.tokens.phase")}
    assert found.keys() >= {"intent", "main"}
    for line in found.values():
        assert (line["user_id"], line["session_id"]) == ("local", "agentic_s1")
        assert line["total"] == line["input"] + line["output"] > 0


@pytest.mark.parity("base-smoke-phase-lines", "term-phase-log", "base-term-per-phase-token-log")
async def test_a_turn_of_one_phase_tells_nothing_of_another(
    catalogue: Catalogue, told: pytest.LogCaptureFixture
) -> None:
    found = await played(catalogue, ["off_topic"], input_value="Tell me a joke")
    spent = {line["phase"]: line["total"] for line in lines(told, "assistant.tokens.phase")}
    assert spent["intent"] == found[-1]["data"]["usage"]["total_tokens"] > 0
    assert spent.get("main", 0) == 0


@pytest.mark.parity("flow_builder.tool.invoked", "flow_builder.action.emitted", "flow_builder.proposal.ready")
async def test_tools_and_what_they_change_are_reported(catalogue: Catalogue, told: pytest.LogCaptureFixture) -> None:
    canvas = flow_of(AGENT, catalogue)
    agent = node_id(canvas, "Agent")
    change = [call("configure_component", 1, component_id=agent, values={"model": "gpt-4o"})]
    replies = ["build_flow", change, [call("build_flow", 2, spec=ECHO)], "Have a look."]
    await played(catalogue, replies, canvas=canvas)
    invoked = lines(told, "flow_builder.tool.invoked")
    assert [line["tool_name"] for line in invoked] == ["configure_component", "build_flow"]
    assert invoked[0]["component_id"] == agent
    configured, proposed = lines(told, "flow_builder.action.emitted")
    assert (configured["action"], proposed["action"]) == ("configure", "set_flow")
    assert (proposed["node_count"], proposed["edge_count"]) == (2, 1)
    (ready,) = lines(told, "flow_builder.proposal.ready")
    assert (ready["node_count"], ready["edge_count"]) == (2, 1)


@pytest.mark.parity("flow_builder.tool.failed", "assistant.generation.attempt")
async def test_a_tool_that_refuses_is_reported_as_an_error(
    catalogue: Catalogue, told: pytest.LogCaptureFixture
) -> None:
    replies = [
        "build_flow",
        [call("add_component", 1, type="Nothing")],
        [call("add_component", 2, type="ChatInput")],
    ]
    await played(catalogue, [*replies, "Added."])
    (failed,) = lines(told, "flow_builder.tool.failed")
    assert failed["tool_name"] == "add_component"
    assert failed["error"]
    (record,) = [record for record in told.records if record.getMessage() == "flow_builder.tool.failed"]
    assert record.levelname == "ERROR"
    (attempt,) = lines(told, "assistant.generation.attempt")
    assert attempt == {"attempt": 1, "max_retries": 3}


@pytest.mark.parity("assistant.flow.error")
async def test_a_turn_that_fails_is_reported_by_its_kind(catalogue: Catalogue, told: pytest.LogCaptureFixture) -> None:
    async with serving(assistant(catalogue, ScriptedModel(RuntimeError("a private detail")))) as live:
        await events(live.client, input_value="Build an echo")
    (error,) = lines(told, "assistant.flow.error")
    assert error["error_type"] == "internal"
    assert "private" not in str(error)


@pytest.mark.parity("assistant.request.cancelled")
async def test_a_turn_whose_client_leaves_is_reported(catalogue: Catalogue, told: pytest.LogCaptureFixture) -> None:
    blocked = ScriptedModel(blocks_at=0)
    async with serving(assistant(catalogue, blocked)) as live:
        await leaving(live, STREAM, {"input_value": "Build an echo"}, blocked.blocked)
        with anyio.fail_after(10):
            await blocked.cancelled.wait()
    (line,) = lines(told, "assistant.request.cancelled")
    assert line["reason"]
    assert line["duration_ms"] > 0


@pytest.mark.parity("assistant.plan.proposed")
async def test_a_proposed_plan_is_reported_by_its_length(catalogue: Catalogue, told: pytest.LogCaptureFixture) -> None:
    replies = ["build_flow", [call("propose_plan", 1, markdown="1. Echo")]]
    await played(catalogue, replies, session_id="agentic_s1")
    (plan,) = lines(told, "assistant.plan.proposed")
    assert plan == {"session_id": "agentic_s1", "markdown_length": 7}


@pytest.mark.parity("assistant.model_fallback")
async def test_moving_on_to_another_model_is_reported_with_what_was_tried(told: pytest.LogCaptureFixture) -> None:
    gone = ModelHTTPError(status_code=404, model_name="m", body={"error": {"code": "model_not_found"}})
    models = [ScriptedModel(gone, name="newest"), ScriptedModel(gone, name="newer"), ScriptedModel("Here.", name="old")]
    assert (await Agent(chain(models, "openai")).run("Hello")).output == "Here."
    assert lines(told, "assistant.model_fallback") == [
        {"from": "newest", "to": "newer", "provider": "openai", "tried_so_far": ["newest"]},
        {"from": "newer", "to": "old", "provider": "openai", "tried_so_far": ["newest", "newer"]},
    ]
