"""Merging: adds a proposed flow to a canvas, to the right of its components and under free ids."""

from __future__ import annotations

from flows.actions import AddComponent, Connect, FlowAction, apply_all
from flows.document import Flow, Node
from flows.edits import Edit
from flows.edits.node_ids import new_node_id, relabel_edge, relabel_node
from flows.json_values import JsonObject, object_at
from flows.layout.layers import COLUMN


def merge(canvas: Flow, proposal: Flow) -> Edit:
    """Add all of a proposal to a canvas without changing what is on it.

    Free ids are kept; the others are replaced by new ones with the same prefix.
    """
    taken = {node.id for node in canvas.nodes}
    ids: dict[str, str] = {}
    for node in proposal.nodes:
        if node.id not in ids:
            prefix = node.id.rpartition("-")[0] or node.id or node.type
            ids[node.id] = new_node_id(prefix, f"{node.id}\0{len(taken)}", taken) if node.id in taken else node.id
            taken.add(ids[node.id])
    shift_x, shift_y = _shift(canvas, proposal)
    actions: list[FlowAction] = []
    seen: set[str] = set()
    for node in proposal.nodes:
        if node.id not in seen:
            seen.add(node.id)
            actions.append(AddComponent(_moved(node, ids[node.id], shift_x, shift_y), len(canvas.nodes) + len(actions)))
    base = len(canvas.edges)
    edges = [edge for edge in proposal.edges if edge.source in ids and edge.target in ids]
    actions += [Connect(relabel_edge(edge, ids), base + index) for index, edge in enumerate(edges)]
    return Edit(apply_all(canvas, actions), tuple(actions))


def _shift(canvas: Flow, proposal: Flow) -> tuple[float, float]:
    if not canvas.nodes or not proposal.nodes:
        return 0.0, 0.0
    right = max(node.position[0] for node in canvas.nodes)
    top = min(node.position[1] for node in canvas.nodes)
    left = min(node.position[0] for node in proposal.nodes)
    return right + COLUMN - left, top - min(node.position[1] for node in proposal.nodes)


def _moved(node: Node, node_id: str, shift_x: float, shift_y: float) -> JsonObject:
    x, y = node.position
    position: JsonObject = {**object_at(node.raw, "position"), "x": x + shift_x, "y": y + shift_y}
    moved: JsonObject = {**relabel_node(node, node_id), "position": position}
    absolute = object_at(node.raw, "positionAbsolute")
    if absolute:
        moved["positionAbsolute"] = {**absolute, "x": x + shift_x, "y": y + shift_y}
    return moved
