"""Edits of a flow on the canvas: live, one event each, nothing to approve where nothing of the user's is lost."""

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.layout.sizes import GAP, WIDTH, node_height
from tests.server.live import events, played, serving, steps, updates
from tests.shared.flow_texts import AGENT, ECHO, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio
GPT = [{"provider": "OpenAI", "name": "gpt-4o"}]


@pytest.mark.parity("scenario-edit-live", "smoke-edit-model", "smoke-model-shape")
async def test_a_model_is_changed_live_in_its_one_form_and_nothing_is_asked(catalogue: Catalogue) -> None:
    canvas = flow_of(AGENT, catalogue)
    agent = node_id(canvas, "Agent")
    configure = call("configure_component", 1, component_id=agent, values={"model": "gpt-4o"})
    found = await played(catalogue, ["build_flow", [configure], "Changed."], canvas=canvas)
    (update,) = updates(found)
    assert (update["action"], update["component_id"], update["params"]) == ("configure", agent, {"model": GPT})
    assert "flow_proposal_ready" not in steps(found)
    data = found[-1]["data"]
    assert "proposal" not in data
    assert not data.get("approvals")
    after = Flow.from_json(data["flow"]).node(agent)
    assert after is not None
    assert after.value("model") == GPT


@pytest.mark.parity("scenario-add-live", "smoke-add-memory")
async def test_a_component_appears_live_where_it_covers_nothing(catalogue: Catalogue) -> None:
    canvas = flow_of(AGENT, catalogue)
    look = [call("search_components", 1, query="chat memory")], [call("describe_component", 2, type="Memory")]
    found = await played(
        catalogue, ["build_flow", *look, [call("add_component", 3, type="Memory")], "Added."], canvas=canvas
    )
    (added,) = updates(found)
    assert added["action"] == "add_component"
    after = Flow.from_json(found[-1]["data"]["flow"])
    new = after.nodes[-1]
    assert (new.type, new.raw) == ("Memory", added["node"])
    assert [node.position for node in after.nodes[:-1]] == [node.position for node in canvas.nodes]
    for node in canvas.nodes:
        beside = abs(node.position[0] - new.position[0]) >= WIDTH
        above = node.position[1] + node_height(node) - GAP <= new.position[1]
        below = new.position[1] + node_height(new) - GAP <= node.position[1]
        assert beside or above or below


@pytest.mark.parity("scenario-connect-live", "scenario-ready-only-with-set-flow")
async def test_a_connection_appears_live_and_edits_alone_never_offer_a_proposal(catalogue: Catalogue) -> None:
    canvas = flow_of(
        AGENT.replace("  a.message -> g.input_value\n", "  a.message -> b.input_value\n")
        .replace("  g.response -> b.input_value\n", "")
        .replace("edges:", "  c: ChatOutput\nedges:\n  g.response -> c.input_value"),
        catalogue,
    )
    ends = {"source_id": node_id(canvas, "ChatInput"), "target_id": node_id(canvas, "Agent")}
    connect = call("connect_components", 1, source_output="message", target_input="input_value", **ends)
    found = await played(catalogue, ["build_flow", [connect], "Connected."], canvas=canvas)
    (update,) = updates(found, "connect")
    assert (update["edge"]["source"], update["edge"]["target"]) == tuple(ends.values())
    assert update["edge"] in Flow.from_json(found[-1]["data"]["flow"]).raw["data"]["edges"]
    assert updates(found, "set_flow") == []
    assert "flow_proposal_ready" not in steps(found)


@pytest.mark.parity("ADR-MCP-002")
async def test_edits_change_the_canvas_at_once_and_a_whole_flow_waits(catalogue: Catalogue) -> None:
    canvas = flow_of(ECHO, catalogue)
    replies = [
        "build_flow",
        [call("add_component", 1, type="TextInput")],
        [call("build_flow", 2, spec=ECHO)],
        "Look.",
    ]
    found = await played(catalogue, replies, canvas=canvas)
    added, offered = updates(found)
    assert (added["action"], offered["action"], offered["auto_apply"]) == ("add_component", "set_flow", False)
    data = found[-1]["data"]
    assert [node.type for node in Flow.from_json(data["flow"]).nodes] == ["ChatInput", "ChatOutput", "TextInput"]
    assert data["proposal"] == offered["flow"]


@pytest.mark.parity("error-unknown-type")
async def test_an_unknown_type_is_not_added_and_the_nearest_are_named(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [call("add_component", 1, type="ChatInputt")], "There is none.")
    async with serving(assistant(catalogue, model)) as live:
        found = await events(live.client, input_value="Add a chat input")
    (refusal,) = model.tool_answers(2)
    assert "ChatInputt" in refusal
    assert "ChatInput" in refusal.replace("ChatInputt", "")
    assert updates(found) == []


@pytest.mark.parity("error-configure-not-json")
@pytest.mark.parametrize("values", ["{broken", "clean_data: false", 7])
async def test_values_that_are_not_an_object_change_nothing_and_the_model_learns_it(
    values: object, catalogue: Catalogue
) -> None:
    canvas = flow_of(ECHO, catalogue)
    wrong = call("configure_component", 1, component_id=node_id(canvas, "ChatOutput"), values=values)
    right = call("configure_component", 2, component_id=node_id(canvas, "ChatOutput"), values={"clean_data": False})
    model = ScriptedModel("build_flow", [wrong], [right], "Done.")
    async with serving(assistant(catalogue, model)) as live:
        found = await events(live.client, input_value="Leave the text as it is", flow=canvas.to_json())
    assert len(model.requests) == 4
    assert "values" in str(model.requests[2][-1])
    assert [update["params"] for update in updates(found)] == [{"clean_data": False}]


@pytest.mark.parity("scenario-cache-no-mutable-reads")
async def test_a_field_is_read_as_it_is_after_each_change(catalogue: Catalogue) -> None:
    canvas = flow_of(ECHO, catalogue)
    output = node_id(canvas, "ChatOutput")

    def read(step: int) -> list[object]:
        return [call("get_field_value", step, component_id=output, field="clean_data")]

    change = [call("configure_component", 2, component_id=output, values={"clean_data": False})]
    model = ScriptedModel("build_flow", read(1), change, read(3), "Done.")
    async with serving(assistant(catalogue, model)) as live:
        await events(live.client, input_value="Switch it off", flow=canvas.to_json())
    first, _, second = model.tool_answers(4)
    assert [str(said).splitlines()[-1] for said in (first, second)] == ["true", "false"]
