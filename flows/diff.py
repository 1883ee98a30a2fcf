"""Comparing flows by what they do: a fingerprint that does not see layout, ids or order."""

from __future__ import annotations

import hashlib
import json

from flows.document import Flow, Node
from flows.jsonvalues import Json, JsonObject
from flows.model_values import CONNECTED

_EMPTY: tuple[Json, ...] = (None, "", [], {})


def fingerprint(flow: Flow) -> str:
    """Return a short text that is equal for flows with the same components, values and edges.

    Names of flows, places on the canvas, notes, node ids and the order of nodes and edges do not count. Nodes are
    told apart by refining their labels with those of their neighbours (Weisfeiler and Leman), as often as it helps.
    """
    labels = {node.id: _digest(_content(node)) for node in flow.nodes if not node.is_note}
    edges = [edge for edge in flow.edges if edge.source in labels and edge.target in labels]
    ports = [(edge.source, edge.source_port, edge.target, edge.target_port, edge.is_feedback) for edge in edges]
    kinds = len(set(labels.values()))
    for _ in range(len(labels)):
        around: dict[str, list[str]] = {node_id: [] for node_id in labels}
        for source, out, target, into, feedback in ports:
            around[source].append(f">{out}|{into}|{feedback}|{labels[target]}")
            around[target].append(f"<{out}|{into}|{feedback}|{labels[source]}")
        labels = {node_id: _digest([label, *sorted(around[node_id])]) for node_id, label in labels.items()}
        refined = len(set(labels.values()))
        if refined == kinds:
            break
        kinds = refined
    wires = sorted(f"{labels[s]}|{out}|{labels[t]}|{into}|{feedback}" for s, out, t, into, feedback in ports)
    return _digest([*sorted(labels.values()), "", *wires])


def _content(node: Node) -> Json:
    values: JsonObject = {}
    for name, field in sorted(node.template.items()):
        value = field.get("value")
        if value in _EMPTY or (value == CONNECTED and field.get("type") == "model"):
            continue
        values[name] = ["variable", value] if field.get("load_from_db") is True else value
    return [node.type, node.tool_mode, values]


def _digest(value: Json | list[str]) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
