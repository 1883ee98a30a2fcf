"""The state that AG-UI clients share: the canvas in short, once, and then what changes of it as JSON Patches."""

from __future__ import annotations

from typing import Any, Final

from agent.contract.events import Event
from agent.contract.flow_updates import (
    Amended,
    Arranged,
    ComponentAdded,
    ComponentRemoved,
    Configured,
    Connected,
    ConnectionModeSet,
    DetailSet,
    Disconnected,
    FlowSet,
    OutputSelected,
    ToolModeSet,
)
from flows.document import Edge, Flow, Json, JsonObject, Node
from flows.fields.secrets import is_secret
from server.json_response import json_bytes

BYTES: Final = 16_000
"""How large the flow of a state is at most: clients send it back with every request."""

VALUE: Final = 200
"""How many characters of a value are shown."""

Patch = list[JsonObject]


class SharedState:
    """The state of one run.

    Nodes are keyed by their ids and edges by their text, so that a patch names what it changes. A flow whose details
    are larger than `BYTES` is shown by the ids and types of its components; beyond that, by how many there are.

    Args:
        flow: the canvas at the start.
        flow_id: the stored flow that it is; None when it is none.
    """

    def __init__(self, flow: Flow, flow_id: str | None) -> None:
        self._flow_id = flow_id
        self._set(flow)

    @property
    def snapshot(self) -> JsonObject:
        """The whole state."""
        state: JsonObject = {"flow": self._shown()}
        return state if self._flow_id is None else {"flow_id": self._flow_id, **state}

    def change(self, event: Event) -> Patch:
        """Take an event in; returns what changes of the state."""
        match event:
            case ComponentAdded(node=node, edges=edges):
                return self._replace(node, [*(edges or ())])
            case ComponentRemoved(component_id=name):
                return self._remove(name)
            case Connected(edge=edge):
                return self._connect(edge)
            case Disconnected(edge=edge):
                return self._disconnect(edge)
            case Configured() | OutputSelected() | ConnectionModeSet() | ToolModeSet() | Amended():
                return [] if event.node is None else self._replace(event.node, [])
            case Arranged(component_id=name, key="position", value=value) if name in self._nodes:
                return self._put(name, {**self._nodes[name], "position": value})
            case DetailSet(path=["name"], value=value):
                self._name = value
                return [] if self._detail == "counts" else [{"op": "replace", "path": "/flow/name", "value": value}]
            case FlowSet(flow=raw, auto_apply=True):
                return self.set(Flow(raw))
            case _:
                return []

    def set(self, flow: Flow) -> Patch:
        """Take another flow; returns what changes of the state."""
        before = self._shown()
        self._set(flow)
        shown = self._shown()
        return [] if shown == before else [{"op": "replace", "path": "/flow", "value": shown}]

    def _set(self, flow: Flow) -> None:
        self._name: Json = flow.name
        self._nodes: dict[str, JsonObject] = {node.id: short(node) for node in flow.components}
        self._edges: dict[str, JsonObject] = {edge.text: _ends(edge) for edge in flow.edges}
        self._sizes = {name: _size(name, node) for name, node in self._nodes.items()}
        self._sizes |= {name: _size(name, edge) for name, edge in self._edges.items()}
        self._size = sum(self._sizes.values())
        self._detail = self._fitting()

    def _fitting(self) -> str:
        """How much of the flow is shown."""
        if self._size <= BYTES:
            return "full"
        types = sum(len(name) + len(str(node["type"])) + 16 for name, node in self._nodes.items())
        return "types" if types <= BYTES else "counts"

    def _shown(self) -> JsonObject:
        shown: JsonObject = {"name": self._name, "detail": self._detail}
        if self._detail == "full":
            return {**shown, "nodes": dict(self._nodes), "edges": dict(self._edges)}
        if self._detail == "types":
            return {**shown, "nodes": {name: {"type": node["type"]} for name, node in self._nodes.items()}}
        return {"detail": self._detail, "node_count": len(self._nodes), "edge_count": len(self._edges)}

    def _replace(self, raw: Any, edges: list[Any]) -> Patch:
        node = Node(raw)
        if node.is_note:
            return []
        patch = self._put(node.id, short(node))
        for edge in edges:
            patch += self._connect(edge)
        return patch

    def _remove(self, name: str) -> Patch:
        patch: Patch = []
        for text in [text for text, edge in self._edges.items() if name in (edge["source"], edge["target"])]:
            patch += self._drop(self._edges, "edges", text)
        return patch + self._drop(self._nodes, "nodes", name)

    def _connect(self, raw: Any) -> Patch:
        edge = Edge(raw)
        return self._keep(self._edges, "edges", edge.text, _ends(edge))

    def _disconnect(self, raw: Any) -> Patch:
        return self._drop(self._edges, "edges", Edge(raw).text)

    def _put(self, name: str, node: JsonObject) -> Patch:
        return self._keep(self._nodes, "nodes", name, node)

    def _keep(self, row: dict[str, JsonObject], kind: str, name: str, value: JsonObject) -> Patch:
        before = row.get(name)
        row[name] = value
        size = _size(name, value)
        self._size += size - self._sizes.get(name, 0)
        self._sizes[name] = size
        return self._patched(kind, name, before, value)

    def _drop(self, row: dict[str, JsonObject], kind: str, name: str) -> Patch:
        before = row.pop(name, None)
        self._size -= self._sizes.pop(name, 0)
        return [] if before is None else self._patched(kind, name, before, None)

    def _patched(self, kind: str, name: str, before: JsonObject | None, after: JsonObject | None) -> Patch:
        if self._detail == "counts" or self._size > BYTES:
            was, self._detail = self._detail, self._fitting()
            if was != self._detail or self._detail == "counts":
                return [{"op": "replace", "path": "/flow", "value": self._shown()}]
        if self._detail == "types":
            if kind == "edges":
                return []
            before, after = _typed(before), _typed(after)
        if before == after:
            return []
        path = f"/flow/{kind}/{name.replace('~', '~0').replace('/', '~1')}"
        if after is None:
            return [{"op": "remove", "path": path}]
        return [{"op": "add" if before is None else "replace", "path": path, "value": after}]


def short(node: Node) -> JsonObject:
    """A component in short: its type, position, name if it has one of its own, and the values that were set."""
    x, y = node.position
    shown: JsonObject = {"type": node.type, "position": {"x": x, "y": y}}
    if node.display_name != node.type:
        shown["name"] = node.display_name[:VALUE]
    values: JsonObject = {
        name: value for name, field in node.template.items() if (value := _value(name, field)) is not None
    }
    return {**shown, "values": values} if values else shown


def _value(name: str, field: JsonObject) -> Json:
    """A field's value as the state shows it; None for one that it leaves out."""
    if name == "code" or field.get("show") is False or field.get("advanced") is True or is_secret(field):
        return None
    value = field.get("value")
    if isinstance(value, str):
        return None if not value else value if len(value) <= VALUE else f"{value[:VALUE]}…"
    return value if isinstance(value, bool | int | float) else None


def _typed(node: JsonObject | None) -> JsonObject | None:
    return None if node is None else {"type": node["type"]}


def _ends(edge: Edge) -> JsonObject:
    return {
        "source": edge.source,
        "output": edge.source_port,
        "target": edge.target,
        "input": edge.target_port,
    }


def _size(name: str, value: JsonObject) -> int:
    return len(name) + 4 + len(json_bytes(value))
