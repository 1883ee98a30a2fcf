"""The fingerprint of a flow: a short string for comparing flows regardless of layout, ids and order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from flows.checks.structure import strong_components
from flows.document import Flow, Node
from flows.fields.model_values import CONNECTED
from flows.json_values import EMPTY, Json, JsonObject

_Wire: TypeAlias = tuple[str, str, str, str, bool]


def fingerprint(flow: Flow) -> str:
    """Return a short string that is equal for flows with the same components, values and edges.

    Names of flows, positions, notes, node ids and the order of nodes and edges do not count. Nodes are labelled by
    their content and depth; the labels are then refined with those of their neighbours until they are stable
    (Weisfeiler and Leman 1968).
    """
    nodes = flow.components
    known = {node.id for node in nodes}
    wires = [
        (edge.source, edge.source_port, edge.target, edge.target_port, edge.is_feedback)
        for edge in flow.edges
        if edge.source in known and edge.target in known
    ]
    depths = _depths(list(known), wires)
    labels = {node.id: _digest([_content(node), *depths[node.id]]) for node in nodes}
    kinds = len(set(labels.values()))
    for _ in range(len(labels)):
        around: dict[str, list[str]] = {node_id: [] for node_id in labels}
        for source, out, target, into, feedback in wires:
            around[source].append(f">{out}|{into}|{feedback}|{labels[target]}")
            around[target].append(f"<{out}|{into}|{feedback}|{labels[source]}")
        labels = {node_id: _digest([label, *sorted(around[node_id])]) for node_id, label in labels.items()}
        refined = len(set(labels.values()))
        if refined == kinds:
            break
        kinds = refined
    lines = sorted(f"{labels[s]}|{out}|{labels[t]}|{into}|{feedback}" for s, out, t, into, feedback in wires)
    return _digest([*sorted(labels.values()), "", *lines])


def _depths(node_ids: Sequence[str], wires: Sequence[_Wire]) -> dict[str, tuple[int, int]]:
    """Return each node's distance from the start and from the end of the flow; the nodes of a cycle count as one.

    This distinguishes the nodes of a long chain at once; refinement alone would need a round for each node.
    """
    following: dict[str, list[str]] = {node_id: [] for node_id in node_ids}
    for source, _, target, _, feedback in wires:
        if not feedback:
            following[source].append(target)
    groups = strong_components(following)  # each group comes after those that it leads to
    group_of = {node_id: number for number, group in enumerate(groups) for node_id in group}
    after = [{group_of[target] for node_id in group for target in following[node_id]} for group in groups]
    below, above = [0] * len(groups), [0] * len(groups)
    for number, targets in enumerate(after):
        below[number] = max((below[target] + 1 for target in targets if target != number), default=0)
    for number in reversed(range(len(groups))):
        for target in after[number] - {number}:
            above[target] = max(above[target], above[number] + 1)
    return {node_id: (above[number], below[number]) for node_id, number in group_of.items()}


def _content(node: Node) -> Json:
    values: JsonObject = {}
    for name, field in sorted(node.template.items()):
        value = field.get("value")
        if field.get("show") is False and not field.get("override_skip") and name != "code":
            continue  # the engine ignores hidden fields
        if value in EMPTY or (value == CONNECTED and field.get("type") == "model"):
            continue
        values[name] = ["variable", value] if field.get("load_from_db") is True else value
    return [node.type, node.tool_mode, values]


def _digest(value: Json | list[str] | Mapping[str, Json]) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
