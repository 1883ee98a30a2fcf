"""Node ids: creating them (the component type, a dash and five characters), and changing those of a flow."""

from __future__ import annotations

import hashlib
import string
from collections.abc import Container, Mapping

from flows.document import Edge, Flow, Node
from flows.json_values import Json, JsonObject, as_object, as_text, object_at
from flows.ports import handle_text

_LETTERS = string.ascii_letters + string.digits


def new_node_id(component_type: str, seed: str, taken: Container[str]) -> str:
    """Return an id such as `ChatInput-a1B2c`, derived from `seed`, that is not in `taken`."""
    attempt = 0
    while True:
        text = f"{seed}\0{component_type}" if not attempt else f"{seed}\0{component_type}\0{attempt}"
        number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        suffix = ""
        for _ in range(5):
            number, digit = divmod(number, len(_LETTERS))
            suffix += _LETTERS[digit]
        node_id = f"{component_type}-{suffix}"
        if node_id not in taken:
            return node_id
        attempt += 1


def relabel(flow: Flow, ids: Mapping[str, str]) -> Flow:
    """Return the flow with other node ids, also in edges and their handles; values and texts do not change.

    Args:
        flow: the flow.
        ids: new ids by current ids; other nodes keep theirs.
    """
    nodes: list[Json] = [relabel_node(node, ids.get(node.id, node.id)) for node in flow.nodes]
    edges: list[Json] = [relabel_edge(edge, ids) for edge in flow.edges]
    return flow.with_parts(nodes=nodes, edges=edges if flow.edges else None)


def relabel_node(node: Node, node_id: str) -> JsonObject:
    """Return a node's JSON under another id."""
    if node.id == node_id:
        return node.raw
    raw: JsonObject = {**node.raw, "id": node_id}
    if "data" in raw:
        raw["data"] = {**as_object(raw["data"]), "id": node_id}
    return raw


def relabel_edge(edge: Edge, ids: Mapping[str, str]) -> JsonObject:
    """Return an edge's JSON for nodes with new ids, from which its id is derived."""
    source, target = ids.get(edge.source, edge.source), ids.get(edge.target, edge.target)
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
            raw[key] = _relabel_handle(written, edge.source if key == "sourceHandle" else edge.target, node_id)
    if "data" in raw:
        raw["data"] = handles
    prefix = "xy-edge__" if edge.id.startswith("xy-edge__") else "reactflow__edge-"
    raw["id"] = f"{prefix}{source}{as_text(raw.get('sourceHandle'))}-{target}{as_text(raw.get('targetHandle'))}"
    return raw


def _relabel_handle(handle: str, old: str, new: str) -> str:
    """Return a handle that an edge has only as text, in the current or an old form, for another node."""
    if handle.startswith("{"):
        return handle.replace(f"œidœ:œ{old}œ", f"œidœ:œ{new}œ")
    return "|".join(new if part == old else part for part in handle.split("|"))
