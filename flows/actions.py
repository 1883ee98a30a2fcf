"""Flow actions: the smallest changes to a flow, each of which can be applied, undone, streamed and scored.

Law: `apply(apply(f, a), inverse(a)) == f` for every action that is valid for `f`. An action whose old value
differs from the value in the flow is refused as stale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, assert_never

from flows.document import Flow
from flows.json_values import (
    Json,
    JsonObject,
    JsonPath,
    MaybeJson,
    as_list,
    as_object,
    as_text,
    get_at,
    object_at,
    replace_at,
    same_json,
)

IndexedEdge: TypeAlias = tuple[int, JsonObject]
LAST = -1
"""The index that stands for the last position."""
_PARTS = frozenset({"nodes", "edges"})


class StaleAction(ValueError):
    """The flow is not in the state that the action was made for."""


@dataclass(frozen=True)
class NodeChange:
    """One changed place in a node's JSON; `MISSING` means that the key is absent."""

    path: JsonPath
    old: MaybeJson
    new: MaybeJson


@dataclass(frozen=True)
class AddComponent:
    """Adds a node at `index` (None: at the end), with edges at their indices in the resulting list."""

    node: JsonObject
    index: int | None = None
    edges: tuple[IndexedEdge, ...] = ()
    kind: Literal["add_component"] = "add_component"


@dataclass(frozen=True)
class RemoveComponent:
    """Removes a node with all of its edges; `index` and the numbers of the edges are their indices before."""

    node: JsonObject
    index: int
    edges: tuple[IndexedEdge, ...] = ()
    kind: Literal["remove_component"] = "remove_component"


@dataclass(frozen=True)
class Connect:
    """Adds an edge at `index` (None: at the end)."""

    edge: JsonObject
    index: int | None = None
    kind: Literal["connect"] = "connect"


@dataclass(frozen=True)
class Disconnect:
    """Removes the edge at `index`."""

    edge: JsonObject
    index: int
    kind: Literal["disconnect"] = "disconnect"


@dataclass(frozen=True)
class Configure:
    """Changes the value of a field; `also` holds further changes to the node, such as a template's variables."""

    node: str
    field: str
    old: MaybeJson
    new: MaybeJson
    also: tuple[NodeChange, ...] = ()
    kind: Literal["configure"] = "configure"


@dataclass(frozen=True)
class Arrange:
    """Changes one of the node's outer keys: its `position`, its size, or how the canvas shows it."""

    node: str
    key: str
    old: MaybeJson
    new: MaybeJson
    kind: Literal["arrange"] = "arrange"


@dataclass(frozen=True)
class SelectOutput:
    """Selects which of several outputs of a node is in use."""

    node: str
    old: MaybeJson
    new: MaybeJson
    also: tuple[NodeChange, ...] = ()
    kind: Literal["select_output"] = "select_output"


@dataclass(frozen=True)
class SetConnectionMode:
    """Switches a model field between a connected model (`new` is `connect_other_models`) and a selected one."""

    node: str
    field: str
    old: MaybeJson
    new: MaybeJson
    kind: Literal["set_connection_mode"] = "set_connection_mode"


@dataclass(frozen=True)
class SetToolMode:
    """Turns a node into a tool for agents, or back into a step; `also` holds what that changes in the node."""

    node: str
    enabled: bool
    also: tuple[NodeChange, ...]
    kind: Literal["set_tool_mode"] = "set_tool_mode"


@dataclass(frozen=True)
class Amend:
    """Changes a node outside its field values: its display name, description or definition."""

    node: str
    also: tuple[NodeChange, ...]
    kind: Literal["amend"] = "amend"


@dataclass(frozen=True)
class SetDetail:
    """Changes the document at `path`, outside its nodes and edges: the name, the description, the viewport."""

    path: JsonPath
    old: MaybeJson
    new: MaybeJson
    kind: Literal["set_detail"] = "set_detail"


@dataclass(frozen=True)
class SetFlow:
    """Replaces the whole document."""

    old: JsonObject
    new: JsonObject
    kind: Literal["set_flow"] = "set_flow"


NodeAction: TypeAlias = Configure | Arrange | SelectOutput | SetConnectionMode | SetToolMode | Amend
"""An action that changes one node."""
FlowAction: TypeAlias = AddComponent | RemoveComponent | Connect | Disconnect | NodeAction | SetDetail | SetFlow


def inverse(action: FlowAction) -> FlowAction:
    """Return the action that undoes `action`."""
    match action:
        case AddComponent():
            return RemoveComponent(action.node, LAST if action.index is None else action.index, action.edges)
        case RemoveComponent():
            return AddComponent(action.node, None if action.index == LAST else action.index, action.edges)
        case Connect():
            return Disconnect(action.edge, LAST if action.index is None else action.index)
        case Disconnect():
            return Connect(action.edge, None if action.index == LAST else action.index)
        case Configure() | SelectOutput():
            return replace(action, old=action.new, new=action.old, also=_reverse(action.also))
        case Arrange() | SetConnectionMode() | SetDetail() | SetFlow():
            return replace(action, old=action.new, new=action.old)
        case Amend():
            return replace(action, also=_reverse(action.also))
        case SetToolMode():
            return replace(action, enabled=not action.enabled, also=_reverse(action.also))
        case _:
            assert_never(action)


def apply(flow: Flow, action: FlowAction) -> Flow:
    """Return the flow after `action`.

    Raises:
        StaleAction: the flow is not in the state that the action was made for.
    """
    match action:
        case AddComponent():
            return _add(flow, action)
        case RemoveComponent():
            return _remove(flow, action)
        case Connect():
            return _connect(flow, action)
        case Disconnect():
            edges = list(as_list(flow.data.get("edges")))
            _take(edges, action.index, action.edge, "edge")
            return flow.with_parts(edges=edges)
        case Configure() | Arrange() | SelectOutput() | SetConnectionMode() | SetToolMode() | Amend():
            return change_node(flow, action.node, node_changes(action))
        case SetDetail():
            return _set_detail(flow, action)
        case SetFlow():
            if not same_json(flow.raw, action.old):
                raise StaleAction("The flow to replace has changed; read it again.")
            return Flow(action.new)
        case _:
            assert_never(action)


def node_changes(action: NodeAction) -> tuple[NodeChange, ...]:
    """Return the changes that an action makes to its node."""
    match action:
        case Configure() | SetConnectionMode():
            value = NodeChange((*field_path(action.field), "value"), action.old, action.new)
            return (value, *(action.also if isinstance(action, Configure) else ()))
        case Arrange():
            return (NodeChange((action.key,), action.old, action.new),)
        case SelectOutput():
            return (NodeChange(("data", "selected_output"), action.old, action.new), *action.also)
        case SetToolMode() | Amend():
            return action.also
        case _:
            assert_never(action)


def apply_all(flow: Flow, actions: Sequence[FlowAction]) -> Flow:
    """Return the flow after all `actions` in order.

    Raises:
        StaleAction: as `apply`.
    """
    for action in actions:
        flow = apply(flow, action)
    return flow


def field_path(name: str) -> tuple[str, ...]:
    """Return the path of the field called `name` in a node's JSON."""
    return ("data", "node", "template", name)


def change_raw(raw: JsonObject, changes: Sequence[NodeChange], node_id: str = "") -> JsonObject:
    """Return a node's JSON after `changes`, sharing what does not change.

    Raises:
        StaleAction: an old value differs from the value in the node.
    """
    changed: Json = raw
    for change in changes:
        if not same_json(get_at(changed, change.path), change.old):
            place = ".".join(str(step) for step in change.path)
            raise StaleAction(f"{node_id}: {place} has changed in the meantime; read it again.")
        try:
            changed = replace_at(changed, change.path, change.new)
        except KeyError:
            place = ".".join(str(step) for step in change.path)
            raise StaleAction(f"{node_id}: {place} does not exist.") from None
    return as_object(changed)


def change_node(flow: Flow, node_id: str, changes: Sequence[NodeChange]) -> Flow:
    """Return the flow with one node changed.

    Raises:
        StaleAction: there is no such node, or an old value differs from its value.
    """
    nodes = list(as_list(flow.data.get("nodes")))
    for index, node in enumerate(flow.nodes):
        if node.id == node_id:
            nodes[index] = change_raw(node.raw, changes, node_id)
            return flow.with_parts(nodes=nodes)
    raise StaleAction(f"The node {node_id!r} no longer exists.")


def _reverse(changes: tuple[NodeChange, ...]) -> tuple[NodeChange, ...]:
    return tuple(NodeChange(change.path, change.new, change.old) for change in reversed(changes))


def _add(flow: Flow, action: AddComponent) -> Flow:
    node_id = _node_id(action.node)
    if flow.node(node_id) is not None:
        raise StaleAction(f"There is already a node {node_id!r}.")
    nodes, edges = list(as_list(flow.data.get("nodes"))), list(as_list(flow.data.get("edges")))
    _put(nodes, action.index, action.node, "node")
    for index, edge in sorted(action.edges, key=lambda entry: entry[0]):
        _put(edges, index, edge, "edge")
    return flow.with_parts(nodes=nodes, edges=edges if action.edges else None)


def _remove(flow: Flow, action: RemoveComponent) -> Flow:
    nodes, edges = list(as_list(flow.data.get("nodes"))), list(as_list(flow.data.get("edges")))
    node_id = _node_id(action.node)
    for index, edge in sorted(action.edges, key=lambda entry: entry[0], reverse=True):
        _take(edges, index, edge, "edge")
    if any(node_id in (as_object(edge).get("source"), as_object(edge).get("target")) for edge in edges):
        raise StaleAction(f"{node_id!r} has got other edges in the meantime; read it again.")
    _take(nodes, action.index, action.node, "node")
    return flow.with_parts(nodes=nodes, edges=edges if action.edges else None)


def _connect(flow: Flow, action: Connect) -> Flow:
    for end in ("source", "target"):
        node_id = as_text(action.edge.get(end))
        if flow.node(node_id) is None:
            raise StaleAction(f"There is no node {node_id!r} to connect.")
    edges = list(as_list(flow.data.get("edges")))
    _put(edges, action.index, action.edge, "edge")
    return flow.with_parts(edges=edges)


def _set_detail(flow: Flow, action: SetDetail) -> Flow:
    inner = action.path[1:] if action.path[:1] == ("data",) else action.path
    if not inner or inner[0] in _PARTS:
        raise StaleAction("A detail must be outside the nodes and edges of the flow.")
    return Flow(change_raw(flow.raw, (NodeChange(action.path, action.old, action.new),), "the flow"))


def _put(members: list[Json], index: int | None, member: Json, what: str) -> None:
    if index is None or index == LAST:
        members.append(member)
    elif 0 <= index <= len(members):
        members.insert(index, member)
    else:
        raise StaleAction(f"The {what} cannot be inserted at index {index}.")


def _take(members: list[Json], index: int, member: Json, what: str) -> None:
    place = len(members) - 1 if index == LAST else index
    if not 0 <= place < len(members) or not same_json(members[place], member):
        raise StaleAction(f"The {what} has moved or changed; read the flow again.")
    del members[place]


def _node_id(node: JsonObject) -> str:
    return as_text(object_at(node, "data").get("id")) or as_text(node.get("id"))
