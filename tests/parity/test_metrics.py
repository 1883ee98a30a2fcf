"""The figures at /metrics: each counts what happened in turns, under the name that dashboards know."""

from collections.abc import Sequence

import anyio
import pytest
from pydantic_ai.models import Model

from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.server.live import ASSIST, STREAM, Live, events, leaving, serving
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import Reply, ScriptedModel, assistant

pytestmark = pytest.mark.anyio
BUILD: Sequence[Reply] = ("build_flow", [call("build_flow", 1, spec=ECHO)], "Have a look.")
PLAN: Sequence[Reply] = ("build_flow", [call("propose_plan", 1, markdown="1. Echo")])


async def figures(live: Live) -> dict[str, float]:
    """The figures by name and labels."""
    reply = await live.client.get("/metrics")
    assert reply.status_code == 200
    pairs = [line.rpartition(" ") for line in reply.text.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, _, value in pairs}


async def counted(catalogue: Catalogue, *replies: Reply, texts: Sequence[str] = ("Build an echo",)) -> dict[str, float]:
    """The figures after turns of one session."""
    return await after(catalogue, ScriptedModel(*replies), texts)


async def after(catalogue: Catalogue, model: Model, texts: Sequence[str]) -> dict[str, float]:
    """The figures after turns of a model."""
    async with serving(assistant(catalogue, model)) as live:
        for text in texts:
            await events(live.client, input_value=text, session_id="agentic_s1")
        return await figures(live)


@pytest.mark.parity("assistant_requests_total", "assistant_requests_by_intent", "assistant_provider_usage")
async def test_requests_are_counted_by_intent_and_provider(catalogue: Catalogue) -> None:
    found = await counted(catalogue, "question", "Text.", "off_topic", *BUILD, texts=("What?", "A joke", "Build"))
    assert found["assistant_requests_total"] == 3
    for intent in ("question", "off_topic", "build_flow"):
        assert found[f'assistant_requests_by_intent_total{{intent="{intent}"}}'] == 1
    assert found['assistant_provider_usage_total{provider="scripted"}'] == 3


@pytest.mark.parity(
    "assistant_generation_duration_seconds",
    "assistant_intent_build_flow_total",
    "assistant_flow_proposal_ready_total",
)
async def test_builds_and_their_proposals_are_counted_and_timed(catalogue: Catalogue) -> None:
    found = await counted(catalogue, *BUILD)
    assert found["assistant_generation_duration_seconds_count"] == 1
    assert found["assistant_generation_duration_seconds_sum"] > 0
    assert found["assistant_intent_build_flow_total"] == 1
    assert found["assistant_flow_proposal_ready_total"] == 1
    run = [call("run_flow", 2, input="hi")]
    applied = await counted(catalogue, *BUILD[:2], run, "Ran it.", texts=("Build an echo and run it",))
    assert applied["assistant_flow_proposal_ready_total"] == 0


@pytest.mark.parity("mcp_tool_invocations_total", "mcp_tool_duration_ms", "smoke-tool-counter")
async def test_each_tool_call_is_counted_by_its_success_and_timed(catalogue: Catalogue) -> None:
    wrong, right = (call("add_component", step, type=kind) for step, kind in ((1, "Nothing"), (2, "ChatInput")))
    found = await counted(catalogue, "build_flow", [wrong], [right], "Added.", texts=("Add a chat input",))
    for success in ("true", "false"):
        assert found[f'mcp_tool_invocations_total{{success="{success}",tool="add_component"}}'] == 1
    assert found['mcp_tool_duration_ms_count{tool="add_component"}'] == 2


@pytest.mark.parity("assistant_flow_update_events_total")
async def test_flow_updates_are_counted_by_action(catalogue: Catalogue) -> None:
    add = [call("add_component", 1, type="ChatInput"), call("add_component", 2, type="ChatOutput")]
    found = await counted(catalogue, "build_flow", add, "Added.", texts=("Add a chat input and output",))
    assert found['assistant_flow_update_events_total{action="add_component"}'] == 2


@pytest.mark.parity("assistant_errors_total")
async def test_failed_turns_are_counted_by_kind(catalogue: Catalogue) -> None:
    found = await after(catalogue, ScriptedModel(RuntimeError("broken")), ("Build an echo",))
    assert found['assistant_errors_total{type="internal"}'] == 1


@pytest.mark.parity("assistant_cancellations_total")
async def test_turns_that_were_left_are_counted(catalogue: Catalogue) -> None:
    blocked = ScriptedModel(blocks_at=0)
    async with serving(assistant(catalogue, blocked)) as live:
        await leaving(live, STREAM, {"input_value": "Build an echo"}, blocked.blocked)
        with anyio.fail_after(10):
            await blocked.cancelled.wait()
        assert (await figures(live))["assistant_cancellations_total"] == 1


@pytest.mark.parity("assistant_plan_proposal_total")
async def test_proposed_plans_are_counted(catalogue: Catalogue) -> None:
    found = await counted(catalogue, *PLAN, texts=("Build a large thing",))
    assert found["assistant_plan_proposal_total"] == 1


@pytest.mark.parity("assistant_skip_all_auto_approve_total")
async def test_a_plan_that_was_approved_in_advance_is_counted_as_one_and_so_is_the_turn(catalogue: Catalogue) -> None:
    plan = call("propose_plan", 1, markdown="1. Echo")
    asked = {"input_value": "Build a large thing", "apply": "always"}
    model = ScriptedModel("build_flow", [plan], [call("build_flow", 2, spec=ECHO)], "I built it.", "question", "Yes.")
    async with serving(assistant(catalogue, model)) as live:
        assert (await live.client.post(ASSIST, json=asked)).status_code == 200
        assert (await live.client.post(ASSIST, json={"input_value": "Is it done?"})).status_code == 200
        found = await figures(live)
    names = ("assistant_plan_proposal_total", "assistant_skip_all_auto_approve_total")
    assert [found[name] for name in (*names, "assistant_skip_all_requests_total")] == [1, 1, 1]
    assert found["assistant_requests_total"] == 2
