"""Outlines: what a flow and its changes are, by ids and types, small whatever the flow holds."""

from typing import Any

import pytest

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from server.json_response import json_bytes
from server.streams.outline import flow_outline
from tests.server.live import FLOWS, Live, serving
from tests.server.routes.aisdk.chats import Chat
from tests.server.routes.test_agui import run
from tests.shared.flow_texts import large_flow
from tests.shared.scripted_assistant import ScriptedModel, assistant

MOST_BYTES = 20_000


def test_a_flow_of_300_components_is_told_in_less_than_20_kb() -> None:
    kinds = ("LanguageModelComponent", "ChatInput", "ConversationMemoryComponent", "StructuredOutputComponent")
    nodes = [
        {
            "id": f"{kinds[at % 4]}-{at:05d}",
            "type": "genericNode",
            "data": {"type": kinds[at % 4], "node": {"template": {"code": {"value": "x" * 5_000}}}},
            "position": {"x": at, "y": 0},
        }
        for at in range(300)
    ]
    flow = Flow.from_json({"name": "Large", "data": {"nodes": nodes, "edges": []}})
    told = flow_outline(flow)
    assert told["node_count"] == 300
    assert sum(map(len, told["nodes"].values())) == 300
    assert len(json_bytes(told)) < MOST_BYTES


async def told_over_agui(live: Live, flow: str, text: str) -> list[dict[str, Any]]:
    """The events of AG-UI."""
    message = {"id": "u", "role": "user", "content": text}
    return await run(live.client, "r", messages=[message], forwardedProps={"flow_id": flow})


async def told_over_the_ai_sdk(live: Live, flow: str, text: str) -> list[dict[str, Any]]:
    """The chunks of the AI SDK."""
    return await Chat(live.client, body={"flowId": flow}).say(text)


@pytest.mark.anyio
@pytest.mark.parametrize("told", [told_over_agui, told_over_the_ai_sdk])
async def test_an_edit_of_a_flow_of_300_components_is_told_in_less_than_20_kb(catalogue: Catalogue, told: Any) -> None:
    flow = large_flow(catalogue)
    edits = [call("add_component", 1, type="ChatInput"), call("remove_component", 2, component_id=flow.nodes[0].id)]
    model = ScriptedModel("build_flow", [edits[0]], [edits[1]], "Done.")
    async with serving(assistant(catalogue, model)) as live:
        stored = (await live.client.post(FLOWS, json={"name": "Large", "flow": flow.to_json()})).json()["id"]
        events = await told(live, stored, "Add an input, and remove the first component")
        kept = (await live.client.get(f"{FLOWS}/{stored}")).json()
    assert kept["node_count"] >= len(flow.nodes)
    assert len(b"".join(map(json_bytes, events))) < MOST_BYTES
