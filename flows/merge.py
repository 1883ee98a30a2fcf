"""Merging: a proposed flow joins a canvas, with new ids and to the right of what is there."""

from __future__ import annotations

from flows.actions import AddComponent, Connect, FlowAction, apply_all
from flows.document import Edge, Flow, Node
from flows.edits import Edit
from flows.edits.node_ids import new_node_id
from flows.json_values import Json, JsonObject, as_object, as_text, object_at
from flows.layout.layers import COLUMN
from flows.ports import handle_text


def merge(canvas: Flow, proposal: Flow) -> Edit:
    """Add all of a proposal to a canvas; nothing on the canvas changes.

    Ids are kept when they are free, else made anew with the same type before the dash; edges and handles follow.
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
    actions += [Connect(_rewired(edge, ids), base + index) for index, edge in enumerate(edges)]
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
    moved: JsonObject = {**node.raw, "id": node_id, "position": position}
    if "data" in node.raw:
        moved["data"] = {**as_object(node.raw["data"]), "id": node_id}
    absolute = object_at(node.raw, "positionAbsolute")
    if absolute:
        moved["positionAbsolute"] = {**absolute, "x": x + shift_x, "y": y + shift_y}
    return moved


def _rewired(edge: Edge, ids: dict[str, str]) -> JsonObject:
    source, target = ids[edge.source], ids[edge.target]
    if (source, target) == (edge.source, edge.target):
        return edge.raw
    raw: JsonObject = {**edge.raw, "source": source, "target": target}
    handles: JsonObject = dict(object_at(edge.raw, "data"))
    for key, node_id in (("sourceHandle", source), ("targetHandle", target)):
        handle: Json = handles.get(key)
        if isinstance(handle, dict):
            renamed: JsonObject = {**handle, "id": node_id}
            handles[key] = renamed
            raw[key] = handle_text(renamed)
        elif isinstance(written := raw.get(key), str):
            raw[key] = _renamed(written, edge.source if key == "sourceHandle" else edge.target, node_id)
    if "data" in raw:
        raw["data"] = handles
    prefix = "xy-edge__" if edge.id.startswith("xy-edge__") else "reactflow__edge-"
    raw["id"] = f"{prefix}{source}{as_text(raw.get('sourceHandle'))}-{target}{as_text(raw.get('targetHandle'))}"
    return raw


def _renamed(handle: str, old: str, new: str) -> str:
    """Return a handle that stands only as text, in today's form or an old one, for another node."""
    if handle.startswith("{"):
        return handle.replace(f"œidœ:œ{old}œ", f"œidœ:œ{new}œ")
    return "|".join(new if part == old else part for part in handle.split("|"))
