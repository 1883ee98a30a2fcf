"""Outlines: what a flow and its changes are, by ids and types, small whatever the flow holds."""

from flows.document import Flow
from server.json_response import json_bytes
from server.streams.outline import flow_outline


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
    assert len(json_bytes(told)) < 20_000
