"""Comparing flows: what leads from one to the other, as actions; and the fingerprint, which sees only what they do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from flows.actions import (
    AddComponent,
    Connect,
    Disconnect,
    FlowAction,
    RemoveComponent,
    SetDetail,
    SetFlow,
    StaleAction,
    apply,
    apply_all,
)
from flows.digest import fingerprint
from flows.document import Flow
from flows.json_values import Json, JsonObject, as_list, as_object, as_text, same_json
from flows.node_diff import changed_places, node_actions

_PARTS = ("nodes", "edges")
__all__ = ["diff", "fingerprint", "same_up_to_order"]


def diff(old: Flow, new: Flow) -> tuple[FlowAction, ...]:
    """Return the actions that lead from one flow to another; none when they are the same.

    Law: `apply_all(old, diff(old, new))` is `new`, up to the order of nodes and edges, which alone is no difference.
    Nodes are matched by id. Where the smallest actions cannot say the difference (nodes that share an id, whose order
    counts; edges that lead nowhere), the one action is `SetFlow`.
    """
    if same_json(old.raw, new.raw):
        return ()
    try:
        actions = _structural(old, new)
        if actions is not None and same_up_to_order(apply_all(old, actions), new):
            return actions
    except StaleAction:
        pass  # the difference lies where actions cannot go
    return (SetFlow(old.raw, new.raw),)


def same_up_to_order(left: Flow, right: Flow) -> bool:
    """Say whether two flows are the same document but for the order of nodes and of edges."""
    if ("data" in left.raw) != ("data" in right.raw) or not same_json(_outside(left.raw), _outside(right.raw)):
        return False
    return all(
        (key in left.data) == (key in right.data)
        and _same_members(as_list(left.data.get(key)), as_list(right.data.get(key)))
        for key in _PARTS
    )


def _structural(old: Flow, new: Flow) -> tuple[FlowAction, ...] | None:
    before, after = [node.id for node in old.nodes], [node.id for node in new.nodes]
    if len(set(before)) < len(before) or len(set(after)) < len(after) or "" in {*before, *after}:
        return None
    kept = {
        node.id: (node, twin)
        for node in old.nodes
        if (twin := new.node(node.id)) is not None and twin.type == node.type
    }
    recorder = _Recorder(old)
    recorder.remove([node_id for node_id in before if node_id not in kept], new)
    for node, twin in kept.values():
        recorder.do(*node_actions(node, twin))
    for index, node in enumerate(new.nodes):
        if node.id not in kept:
            recorder.do(AddComponent(node.raw, min(index, len(recorder.flow.nodes))))
    recorder.connect(new)
    recorder.do(*_details(old, new))
    return tuple(recorder.actions)


class _Recorder:
    """Applies actions as it notes them, so that each is made for the flow that it will meet."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.actions: list[FlowAction] = []

    def do(self, *actions: FlowAction) -> None:
        for action in actions:
            self.flow = apply(self.flow, action)
            self.actions.append(action)

    def remove(self, node_ids: Sequence[str], new: Flow) -> None:
        """Remove the edges that `new` has not, and then the nodes with what is left of theirs."""
        gone = set(node_ids)
        wanted = Counter(_key(edge.raw) for edge in new.edges)
        doomed: list[tuple[int, JsonObject]] = []
        for index, edge in enumerate(self.flow.edges):
            key = _key(edge.raw)
            wanted[key] -= 1
            if wanted[key] < 0 and not gone & {edge.source, edge.target}:
                doomed.append((index, edge.raw))
        self.do(*(Disconnect(raw, index) for index, raw in reversed(doomed)))
        for node_id in node_ids:
            index = next(at for at, node in enumerate(self.flow.nodes) if node.id == node_id)
            edges = tuple(
                (at, edge.raw) for at, edge in enumerate(self.flow.edges) if node_id in (edge.source, edge.target)
            )
            self.do(RemoveComponent(self.flow.nodes[index].raw, index, edges))

    def connect(self, new: Flow) -> None:
        """Make the edges that `new` has and this flow has not, at the places that they have there."""
        there = Counter(_key(edge.raw) for edge in self.flow.edges)
        for index, edge in enumerate(new.edges):
            key = _key(edge.raw)
            there[key] -= 1
            if there[key] < 0:
                self.do(Connect(edge.raw, min(index, len(self.flow.edges))))


def _details(old: Flow, new: Flow) -> list[SetDetail]:
    return [
        SetDetail(change.path, change.old, change.new)
        for change in changed_places(_outside(old.raw), _outside(new.raw), depth=2)
    ]


def _outside(raw: JsonObject) -> JsonObject:
    """Return a document without its nodes and edges."""
    if isinstance(raw.get("data"), dict):
        inner: JsonObject = {key: value for key, value in as_object(raw["data"]).items() if key not in _PARTS}
        return {**raw, "data": inner}
    return {key: value for key, value in raw.items() if key not in _PARTS}


def _same_members(left: list[Json], right: list[Json]) -> bool:
    """Say whether two lists have the same members; each is looked for among those of its own id."""
    others: dict[str, list[Json]] = {}
    for member in right:
        others.setdefault(as_text(as_object(member).get("id")), []).append(member)
    for member in left:
        alike = others.get(as_text(as_object(member).get("id")), [])
        found = next((place for place, other in enumerate(alike) if same_json(member, other)), None)
        if found is None:
            return False
        del alike[found]
    return len(left) == len(right)


def _key(value: Json) -> str:
    return json.dumps(value, sort_keys=True)
