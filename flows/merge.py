"""Merging: a proposed flow placed beside a canvas under free ids, and the changes of two people to one flow."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from flows.actions import (
    AddComponent,
    Arrange,
    Connect,
    Disconnect,
    FlowAction,
    IndexedEdge,
    RemoveComponent,
    SetDetail,
    StaleAction,
    apply,
    apply_all,
    inverse,
)
from flows.diff import diff
from flows.document import Flow, Node
from flows.edits import Edit
from flows.edits.node_ids import new_node_id, relabel_edge, relabel_node
from flows.json_values import JsonObject, object_at, same_json
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


@dataclass(frozen=True)
class Combination:
    """Two changes of one flow together.

    Attributes:
        flow: their flow with those of our changes that fit.
        clashes: our changes that do not fit, because the same place was changed differently.
    """

    flow: Flow
    clashes: tuple[FlowAction, ...] = ()


def combine(base: Flow, ours: Flow, theirs: Flow) -> Combination:
    """Combine two changes of a flow: what only we changed is ours, anything else is theirs.

    Laws: `combine(base, base, theirs).flow` is `theirs`, and `combine(base, ours, base).flow` is `ours` apart from the
    order of nodes and edges. Where something is drawn never clashes.

    Args:
        base: the flow that both began with.
        ours: the flow after our changes.
        theirs: the flow after theirs.
    """
    clashes: list[FlowAction] = []
    flow = theirs
    for action in diff(base, ours):
        try:
            flow = apply(flow, fitted(action, flow))
        except StaleAction:
            if not _is_there(action, flow) and not _is_looks(action):
                clashes.append(action)
    return Combination(flow, tuple(clashes))


def fitted(action: FlowAction, flow: Flow) -> FlowAction:
    """An action as it can be applied to another state of the flow; as it is if it applies there or never will.

    Its node or edge may have another index by now, and edges of a node that comes back may have lost their other end.

    Args:
        action: the action.
        flow: the flow that it will be applied to.
    """
    if not isinstance(action, AddComponent) or len(_edges_between(action, flow)) == len(action.edges):
        with suppress(StaleAction):
            apply(flow, action)
            return action
    return _relocated(action, flow)


def _edges_between(action: AddComponent, flow: Flow) -> list[JsonObject]:
    """The edges of a new node whose ends are in the flow."""
    known = {node.id for node in flow.nodes} | {Node(action.node).id}
    return [edge for _, edge in action.edges if edge.get("source") in known and edge.get("target") in known]


def _relocated(action: FlowAction, flow: Flow) -> FlowAction:
    """An action with the indices that its node or edge has in a flow; unchanged if it is not there."""
    match action:
        case AddComponent():
            edges = _edges_between(action, flow)
            return replace(
                action, index=None, edges=tuple((len(flow.edges) + at, edge) for at, edge in enumerate(edges))
            )
        case RemoveComponent():
            index = _index([node.raw for node in flow.nodes], action.node)
            here: list[IndexedEdge] = []
            for _, edge in action.edges:
                at = _index([one.raw for one in flow.edges], edge)
                if at is not None:  # the others have removed it already
                    here.append((at, edge))
            return action if index is None else replace(action, index=index, edges=tuple(here))
        case Connect():
            return replace(action, index=None)
        case Disconnect():
            index = _index([edge.raw for edge in flow.edges], action.edge)
            return action if index is None else replace(action, index=index)
        case _:
            return action


def _index(members: Sequence[JsonObject], member: JsonObject) -> int | None:
    return next((at for at, one in enumerate(members) if same_json(one, member)), None)


def _is_there(action: FlowAction, flow: Flow) -> bool:
    """Whether the others have made the same change."""
    match action:
        case RemoveComponent():
            return flow.node(Node(action.node).id) is None
        case Disconnect():
            return _index([edge.raw for edge in flow.edges], action.edge) is None
        case AddComponent():
            return _index([node.raw for node in flow.nodes], action.node) is not None
        case _:
            try:
                apply(flow, inverse(action))
            except StaleAction:
                return False
            return True


def _is_looks(action: FlowAction) -> bool:
    """Whether an action only changes where something is drawn, or what is in view."""
    return isinstance(action, Arrange) or (isinstance(action, SetDetail) and "viewport" in action.path)


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
