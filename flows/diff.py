"""Comparing flows: the actions that lead from one to the other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from flows.actions import (
    AddComponent,
    Amend,
    Arrange,
    Configure,
    Connect,
    Disconnect,
    FlowAction,
    NodeAction,
    NodeChange,
    SelectOutput,
    SetConnectionMode,
    SetDetail,
    SetFlow,
    SetToolMode,
    StaleAction,
    apply,
    apply_all,
    field_path,
)
from flows.document import Flow, Node
from flows.edits.basic import remove_component
from flows.fields.model_values import CONNECTED
from flows.fields.prompts import PROMPT_TYPES
from flows.json_values import (
    MISSING,
    Json,
    JsonObject,
    JsonPath,
    MaybeJson,
    Missing,
    as_list,
    as_object,
    as_text,
    get_at,
    same_json,
)

_PARTS = ("nodes", "edges")
_TEMPLATE = ("data", "node", "template")
_TOOL_MODE = ("data", "node", "tool_mode")
_OUTPUTS = ("data", "node", "outputs")
_SELECTED = ("data", "selected_output")


def diff(old: Flow, new: Flow) -> tuple[FlowAction, ...]:
    """Return the actions that lead from one flow to another; none if they are the same.

    Law: `apply_all(old, diff(old, new))` is `new`, apart from the order of nodes and edges, which does not count.
    Nodes are matched by id. If small actions cannot express the difference (nodes that share an id, whose order
    counts; dangling edges), the only action is `SetFlow`.
    """
    if same_json(old.raw, new.raw):
        return ()
    try:
        actions = _structural(old, new)
        if actions is not None and same_up_to_order(apply_all(old, actions), new):
            return actions
    except StaleAction:
        pass  # small actions cannot express the difference
    return (SetFlow(old.raw, new.raw),)


def same_up_to_order(left: Flow, right: Flow) -> bool:
    """Say whether two flows are the same document apart from the order of nodes and edges."""
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
        node.id: (node, new_node)
        for node in old.nodes
        if (new_node := new.node(node.id)) is not None and new_node.type == node.type
    }
    recorder = _Recorder(old)
    recorder.remove([node_id for node_id in before if node_id not in kept], new)
    for node, new_node in kept.values():
        recorder.do(*_node_actions(node, new_node))
    for index, node in enumerate(new.nodes):
        if node.id not in kept:
            recorder.do(AddComponent(node.raw, min(index, len(recorder.flow.nodes))))
    recorder.connect(new)
    recorder.do(*_details(old, new))
    return tuple(recorder.actions)


class _Recorder:
    """Records actions and applies each one, so that the next is made for the resulting flow."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.actions: list[FlowAction] = []

    def do(self, *actions: FlowAction) -> None:
        for action in actions:
            self.flow = apply(self.flow, action)
            self.actions.append(action)

    def remove(self, node_ids: Sequence[str], new: Flow) -> None:
        """Remove the edges that `new` does not have, then the nodes with their remaining edges."""
        gone = set(node_ids)
        wanted = Counter(_key(edge.raw) for edge in new.edges)
        removed: list[tuple[int, JsonObject]] = []
        for index, edge in enumerate(self.flow.edges):
            key = _key(edge.raw)
            wanted[key] -= 1
            if wanted[key] < 0 and not gone & {edge.source, edge.target}:
                removed.append((index, edge.raw))
        self.do(*(Disconnect(raw, index) for index, raw in reversed(removed)))
        for node_id in node_ids:
            self.do(*remove_component(self.flow, node_id).actions)

    def connect(self, new: Flow) -> None:
        """Add the edges that only `new` has, at their indices there."""
        present = Counter(_key(edge.raw) for edge in self.flow.edges)
        for index, edge in enumerate(new.edges):
            key = _key(edge.raw)
            present[key] -= 1
            if present[key] < 0:
                self.do(Connect(edge.raw, min(index, len(self.flow.edges))))


def _details(old: Flow, new: Flow) -> list[SetDetail]:
    return [
        SetDetail(change.path, change.old, change.new)
        for change in _changed_places(_outside(old.raw), _outside(new.raw), depth=2)
    ]


def _outside(raw: JsonObject) -> JsonObject:
    """Return a document without its nodes and edges."""
    if isinstance(raw.get("data"), dict):
        inner: JsonObject = {key: value for key, value in as_object(raw["data"]).items() if key not in _PARTS}
        return {**raw, "data": inner}
    return {key: value for key, value in raw.items() if key not in _PARTS}


def _same_members(left: list[Json], right: list[Json]) -> bool:
    """Say whether two lists have the same members in any order; only members with the same id are compared."""
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


def _changed_places(old: MaybeJson, new: MaybeJson, *, depth: int = 12, path: JsonPath = ()) -> list[NodeChange]:
    """Return the paths at which two JSON values differ, comparing objects up to `depth` levels deep."""
    if same_json(old, new):
        return []
    if not (isinstance(old, dict) and isinstance(new, dict)) or len(path) >= depth:
        return [NodeChange(path, old, new)]
    found: list[NodeChange] = []
    for key in dict.fromkeys([*old, *new]):
        found += _changed_places(old.get(key, MISSING), new.get(key, MISSING), depth=depth, path=(*path, key))
    return found


def _node_actions(old: Node, new: Node) -> list[NodeAction]:
    """Return the actions that turn `old` into `new`, a node with the same id."""
    changes = _Changes(_changed_places(old.raw, new.raw))
    actions: list[NodeAction] = []
    outer: dict[str, None] = {str(change.path[0]): None for change in changes.take(lambda path: path[0] != "data")}
    actions += [Arrange(old.id, key, old.raw.get(key, MISSING), new.raw.get(key, MISSING)) for key in outer]
    tool = changes.take(lambda path: path == _TOOL_MODE)
    if tool:
        also = (*tool, *changes.take(lambda path: path == _OUTPUTS))
        actions.append(SetToolMode(old.id, enabled=new.tool_mode, also=also))
    selected = changes.take(lambda path: path == _SELECTED)
    actions += [SelectOutput(old.id, change.old, change.new) for change in selected]
    actions += _field_actions(old, new, changes)
    if changes.left:
        actions.append(Amend(old.id, tuple(changes.left)))
    return actions


def _field_actions(old: Node, new: Node, changes: _Changes) -> list[NodeAction]:
    actions: list[NodeAction] = []
    valued = [
        name
        for name in new.template
        if name in old.template and any(change.path == (*field_path(name), "value") for change in changes.left)
    ]
    for name in sorted(valued, key=lambda name: as_text(new.template[name].get("type")) not in PROMPT_TYPES):
        path = field_path(name)
        (value,) = changes.take(lambda place, path=path: place == (*path, "value"))
        also = changes.take(lambda place, path=path: place[:4] == path)
        if as_text(new.template[name].get("type")) in PROMPT_TYPES:
            # Variables are added and removed with their template.
            also += changes.take(lambda place: _is_variable(place, old, new))
        kind = as_text(new.template[name].get("type"))
        if kind == "model" and not also and CONNECTED in (value.old, value.new):
            actions.append(SetConnectionMode(old.id, name, value.old, value.new))
        else:
            actions.append(Configure(old.id, name, value.old, value.new, tuple(also)))
    return actions


def _is_variable(place: JsonPath, old: Node, new: Node) -> bool:
    if place[:3] == ("data", "node", "custom_fields"):
        return True
    if place[:3] != _TEMPLATE or len(place) != 4:
        return False
    return isinstance(get_at(old.raw, place), Missing) or isinstance(get_at(new.raw, place), Missing)


class _Changes:
    """The changes that no action covers yet."""

    def __init__(self, changes: Iterable[NodeChange]) -> None:
        self.left = list(changes)

    def take(self, fits: Callable[[JsonPath], bool]) -> list[NodeChange]:
        """Remove and return the changes whose path matches."""
        taken = [change for change in self.left if fits(change.path)]
        self.left = [change for change in self.left if not fits(change.path)]
        return taken
