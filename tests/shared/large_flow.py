"""A canvas of 300 components, for tests of what protocols tell of it."""

import json
from typing import Any

from flows.catalogue import Catalogue
from flows.document import Flow
from tests.shared.flow_texts import LOUDER, flow_of

COPIES = 100


def large_flow(catalogue: Catalogue) -> Flow:
    """A hundred copies of a flow with three components, with all that Langflow keeps of them."""
    nodes: list[Any] = []
    edges: list[Any] = []
    document = flow_of(LOUDER, catalogue).to_json()
    data: Any = document["data"]
    names: list[str] = [node["id"] for node in data["nodes"]]
    for copy in range(COPIES):
        nodes += [_renamed(node, names, copy) for node in data["nodes"]]
        edges += [_renamed(edge, names, copy) for edge in data["edges"]]
    return Flow.from_json({**document, "name": "Large", "data": {**data, "nodes": nodes, "edges": edges}})


def _renamed(document: Any, names: list[str], copy: int) -> Any:
    """A node or an edge in which every component's id is that of a copy."""
    text = json.dumps(document)
    for name in names:
        text = text.replace(name, f"{name}{copy:03d}")
    return json.loads(text)
