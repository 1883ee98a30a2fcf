"""The two fixed messages of the original's page: they answer what waits, word for word, and are never classified."""

from typing import Any

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import configure
from tests.server.live import Live, events, serving
from tests.shared.flow_texts import AGENT, ECHO, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
PLAN_APPROVED = "User approved the plan. Proceed with the build."
EDITS_APPROVED = (
    "The proposed canvas edits were applied. Continue with the remaining steps of my previous request "
    "(for example, running the flow). If editing was the entire request, just confirm briefly."
)
SESSION = "agentic_s1"
PLANNING = [call("propose_plan", 1, markdown="1. Echo")]
BUILDING = [call("build_flow", 2, spec=ECHO)]


async def data(live: Live, text: str, **request: object) -> dict[str, Any]:
    """What the complete event of a turn says."""
    found = await events(live.client, input_value=text, session_id=SESSION, **request)
    assert found[-1]["event"] == "complete", found[-1]
    return found[-1]["data"]


@pytest.mark.parity("base-scenario-plan-approval-string", "base-term-plan-approval", "base-smoke-plan-continue")
@pytest.mark.parametrize("text", [PLAN_APPROVED, f"  {PLAN_APPROVED}\n"])
async def test_the_plan_message_approves_the_plan_that_waits(text: str, catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", PLANNING, BUILDING, "Built as planned.")
    async with serving(assistant(catalogue, model)) as live:
        waiting = await data(live, "Build me a scraper with an agent")
        assert [approval["kind"] for approval in waiting["approvals"]] == ["plan"]
        built = await data(live, text)
    assert built["proposal"]["name"] == "Echo"
    assert "approvals" not in built
    assert model.replies == [], "one classification, for the first message"


@pytest.mark.parity("ADR-MCP-045", "base-scenario-plan-approval-skips", "smoke-plan-string-exact")
@pytest.mark.parametrize("text", [f"{PLAN_APPROVED} And add a prompt.", PLAN_APPROVED.lower(), PLAN_APPROVED[:-1]])
async def test_anything_but_the_exact_message_is_classified(text: str, catalogue: Catalogue) -> None:
    exact = ScriptedModel("build_flow", PLANNING, BUILDING, "Built.")
    other = ScriptedModel("build_flow", PLANNING, "build_flow", BUILDING, "Built.")
    for model, sent in ((exact, PLAN_APPROVED), (other, text)):
        async with serving(assistant(catalogue, model)) as live:
            await data(live, "Build me a scraper with an agent")
            await data(live, sent)
        assert model.replies == []
    classified = [
        asked
        for asked, settings in zip(other.requests, other.request_settings, strict=True)
        if "max_tokens" in settings
    ]
    assert len(classified) == 2
    assert text in str(classified[1])


def helper(catalogue: Catalogue) -> tuple[Flow, str]:
    """A canvas with an agent whose system prompt somebody wrote."""
    canvas = flow_of(AGENT, catalogue)
    agent = node_id(canvas, "Agent")
    return configure(canvas, catalogue, agent, {"system_prompt": "You are a florist."}).flow, agent


@pytest.mark.parity("base-term-edit-continuation", "term-edit-continuation", "base-scenario-edit-continuation-skips")
async def test_the_edit_message_goes_on_with_what_was_left(catalogue: Catalogue) -> None:
    canvas, agent = helper(catalogue)
    change = [call("configure_component", 1, component_id=agent, values={"system_prompt": "You are a baker."})]
    add = [call("add_component", 2, type="TextInput")]
    model = ScriptedModel("build_flow", change, add, "A baker with a text input.")
    async with serving(assistant(catalogue, model)) as live:
        waiting = await data(live, "Make it a baker, then add a text input", flow=canvas.to_json())
        assert [approval["kind"] for approval in waiting["approvals"]] == ["edit"]
        done = await data(live, EDITS_APPROVED, flow=canvas.to_json())
    after = Flow.from_json(done["flow"])
    changed = after.node(agent)
    assert changed is not None
    assert changed.value("system_prompt") == "You are a baker."
    assert after.nodes[-1].type == "TextInput"
    assert model.replies == []


@pytest.mark.parity("ADR-MCP-034", "base-scenario-no-spurious-continuation")
@pytest.mark.parametrize(
    ("text", "deferred"),
    [("Make it a baker, then add a text input", True), ("Make it a baker", False)],
)
async def test_a_continuation_is_expected_only_when_something_was_left(
    text: str, deferred: bool, catalogue: Catalogue
) -> None:
    canvas, agent = helper(catalogue)
    change = [call("configure_component", 1, component_id=agent, values={"system_prompt": "You are a baker."})]
    model = ScriptedModel("build_flow", change, "It is a baker.")
    async with serving(assistant(catalogue, model, StandInRunner(results=[ran("hi")]))) as live:
        waiting = await data(live, text, flow=canvas.to_json())
        assert waiting["continuation_expected"] is deferred
        done = await data(live, EDITS_APPROVED, flow=canvas.to_json())
    assert not done.get("continuation_expected")
