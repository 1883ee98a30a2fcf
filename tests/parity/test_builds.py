"""Whole flows: offered with a preview, refused with an orphan, tried three times, run as they were built."""

import asyncio

import pytest
from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo

from agent.models.scripted import call, last_prompt, scripted
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.results import ModelUsage, RunMetrics, RunResult
from tests.server.live import events, played, serving, steps, updates
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio
ORPHAN = ECHO.replace("edges:", "  lonely: TextInput\nedges:")


@pytest.mark.parity("scenario-build-on-empty-canvas", "smoke-build")
async def test_a_build_on_an_empty_canvas_is_shown_and_waits(catalogue: Catalogue) -> None:
    found = await played(catalogue, ["build_flow", [call("build_flow", 1, spec=ECHO)], "Have a look."])
    told = steps(found)
    assert told.index("generating_flow") < told.index("flow_proposal_ready")
    (offered,) = updates(found)
    assert (offered["action"], offered["auto_apply"]) == ("set_flow", False)
    (preview,) = [event for event in found if event["event"] == "flow_preview"]
    assert (preview["flow"], preview["node_count"], preview["edge_count"]) == (offered["flow"], 2, 1)
    data = found[-1]["data"]
    assert (data["intent"], data["proposal"]) == ("build_flow", offered["flow"])
    assert Flow.from_json(data["flow"]).is_empty


@pytest.mark.parity("scenario-orphan-rejected", "error-orphan-node")
async def test_a_spec_with_an_orphan_goes_back_to_the_model_and_never_to_the_user(catalogue: Catalogue) -> None:
    model = ScriptedModel(
        "build_flow", [call("build_flow", 1, spec=ORPHAN)], [call("build_flow", 2, spec=ECHO)], "Here it is."
    )
    async with serving(assistant(catalogue, model)) as live:
        found = await events(live.client, input_value="Build an echo")
    (refusal,) = model.tool_answers(2)
    assert "lonely" in refusal
    (offered,) = updates(found)
    assert len(Flow.from_json(offered["flow"]).nodes) == 2
    assert found[-1]["event"] == "complete"
    assert "lonely" not in str(found)


@pytest.mark.parity("ADR-MCP-048", "base-term-verification-attempts", "term-verification-attempts")
async def test_a_build_is_tried_three_times_and_then_stopped(catalogue: Catalogue) -> None:
    tries = [[call("build_flow", n, spec=ECHO.replace("ChatOutput", f"Nothing{n}"))] for n in range(1, 4)]
    model = ScriptedModel("build_flow", *tries, "I could not build it.")
    async with serving(assistant(catalogue, model)) as live:
        found = await events(live.client, input_value="Build an echo")
    assert "3 attempts" in model.tool_answers(4)[-1]
    failures = [event for event in found if event.get("step") == "flow_build_failed"]
    assert [(event["attempt"], event["max_attempts"]) for event in failures] == [(1, 3), (2, 3), (3, 3)]
    assert updates(found) == []
    assert "proposal" not in found[-1]["data"]


@pytest.mark.parity("scenario-run-sees-build", "smoke-usage-rollup")
async def test_a_run_sees_the_flow_just_built_and_all_it_took_is_summed(catalogue: Catalogue) -> None:
    used = ModelUsage(input_tokens=1_000, output_tokens=100, calls=1)
    ran = RunResult(run_id="r", output="hi", outputs={}, metrics=RunMetrics(seconds=0.1), usage={"M-1": used})
    runner = StandInRunner(results=[ran])
    replies = [
        "build_flow",
        [call("build_flow", 1, spec=ECHO)],
        [call("run_flow", 2, input="hi")],
        "Built and ran it.",
    ]
    found = await played(catalogue, replies, runner=runner, input_value="Build an echo and run it with hi")
    data = found[-1]["data"]
    (_, probed), (flow, text) = [(flow, text) for flow, text in runner.asked]
    assert probed
    assert (text, flow.to_json()) == ("hi", data["flow"])
    usage = data["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert usage["input_tokens"] > 2_000, "the probe and the run count beside the classifier and the agent"
    assert usage["output_tokens"] > 200
    assert data["duration_seconds"] > 0


@pytest.mark.parity("ADR-MCP-001", "smoke-isolation")
async def test_turns_at_the_same_time_keep_their_flows_apart(catalogue: Catalogue) -> None:
    names = [f"Echo {number}" for number in range(4)]

    def plan(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if not info.function_tools:
            return ModelResponse(parts=[TextPart("build_flow")])
        name = next(name for name in names if name in last_prompt(messages))
        if len(messages) == 1:
            return ModelResponse(parts=[call("build_flow", 1, spec=ECHO.replace("Echo", name))])
        return ModelResponse(parts=[TextPart(f"Built {name}.")])

    async with serving(assistant(catalogue, scripted(plan, "four"))) as live:
        turns = [events(live.client, input_value=f"Build {name}", session_id=f"agentic_{name}") for name in names]
        every = await asyncio.gather(*turns)
    for name, found in zip(names, every, strict=True):
        assert [event["flow"]["name"] for event in updates(found)] == [name]
        assert found[-1]["data"]["proposal"]["name"] == name
