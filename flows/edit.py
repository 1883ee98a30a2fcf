"""Edits: each judges what is asked against the flow and the catalogue, and returns the new flow and its actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flows.actions import (
    AddComponent,
    Connect,
    Disconnect,
    FlowAction,
    RemoveComponent,
    SelectOutput,
    SetConnectionMode,
    SetToolMode,
    apply,
    apply_all,
)
from flows.catalogue import Catalogue
from flows.configure import settings
from flows.document import Flow, Node
from flows.faults import Fault, did_you_mean
from flows.ids import new_node_id
from flows.jsonvalues import MISSING, Json, as_object, get_at
from flows.model_values import CONNECTED
from flows.nodes import new_node
from flows.ports import PortError, selected_output_changes, wire


class EditError(ValueError):
    """An edit that cannot be made; `faults` holds every reason. The flow is unchanged."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__(" ".join(f"{fault.message} {fault.fix}".strip() for fault in faults))
        self.faults = faults


@dataclass(frozen=True)
class Edit:
    """A flow after an edit, and the actions that lead to it in order."""

    flow: Flow
    actions: tuple[FlowAction, ...]


def add_component(
    flow: Flow,
    catalogue: Catalogue,
    type: str,
    *,
    node_id: str | None = None,
    values: Mapping[str, Json] | None = None,
) -> Edit:
    """Add a component, with values if given; nothing that is there moves.

    Args:
        flow: the flow to add to.
        catalogue: the component types.
        type: the component type.
        node_id: the new node's id; by default one is derived from the type and what is there.
        values: field values, as text or JSON.

    Raises:
        EditError: the type or a value is not valid, or the id is taken.
    """
    from flows.layout import place

    part = catalogue.get(type)
    if part is None:
        close = catalogue.nearest(type)
        fix = f"Did you mean {' or '.join(map(repr, close))}?" if close else "Search the components for one that fits."
        raise EditError(Fault(code="unknown_type", message=f"There is no component type {type!r}.", fix=fix))
    taken = {node.id for node in flow.nodes}
    if node_id is not None and node_id in taken:
        message = f"There is already a node {node_id!r}."
        raise EditError(Fault(code="duplicate_id", message=message, fix="Choose another id.", node=node_id))
    node = new_node(part, node_id or new_node_id(type, str(len(flow.nodes)), taken))
    if values:
        outcome = settings(node, values)
        if outcome.faults:
            raise EditError(*outcome.faults)
        node = outcome.node
    action = AddComponent(place(flow, node).raw, len(flow.nodes))
    return Edit(apply(flow, action), (action,))


def remove_component(flow: Flow, node_id: str) -> Edit:
    """Remove a node and all of its edges.

    Raises:
        EditError: there is no such node.
    """
    node = _node(flow, node_id)
    index = next(index for index, other in enumerate(flow.nodes) if other is node)
    edges = tuple((at, edge.raw) for at, edge in enumerate(flow.edges) if node_id in (edge.source, edge.target))
    action = RemoveComponent(node.raw, index, edges)
    return Edit(apply(flow, action), (action,))


def connect(flow: Flow, catalogue: Catalogue, source: str, source_port: str, target: str, target_port: str) -> Edit:
    """Connect an output to an input; the types must fit and a single-value input takes one edge.

    `component_as_tool` as the output makes the source a tool, and an output as the target port closes a loop.

    Raises:
        EditError: the connection may not be made; the fault names the ports or the converter that would do.
    """
    start, end = _node(flow, source), _node(flow, target)
    try:
        made = wire(start, source_port, end, target_port, flow.edges, catalogue)
    except PortError as error:
        raise EditError(error.fault) from None
    actions: list[FlowAction] = []
    if made.tool_changes:
        actions.append(SetToolMode(source, enabled=True, also=made.tool_changes))
    used = {edge.source_port for edge in flow.edges if edge.source == source} | {source_port}
    chosen = () if made.tool_changes else selected_output_changes(start, used)
    if chosen:
        path = ("data", "selected_output")
        old, new = get_at(start.raw, path), source_port
        actions.append(SelectOutput(source, old, new, tuple(change for change in chosen if change.path != path)))
    field = as_object(end.field(target_port))
    if field.get("type") == "model" and field.get("value") != CONNECTED:
        actions.append(SetConnectionMode(target, target_port, field.get("value", MISSING), CONNECTED))
    actions.append(Connect(made.edge, len(flow.edges)))
    return Edit(apply_all(flow, actions), tuple(actions))


def disconnect(
    flow: Flow, source: str, source_port: str | None = None, target: str | None = None, target_port: str | None = None
) -> Edit:
    """Remove the edges between two nodes; a port that is None stands for any.

    Raises:
        EditError: there is no such node or no such edge.
    """
    _node(flow, source)
    if target is not None:
        _node(flow, target)
    actions: list[FlowAction] = []
    for index, edge in reversed(list(enumerate(flow.edges))):
        fits = edge.source == source and target in (None, edge.target)
        if fits and source_port in (None, edge.source_port) and target_port in (None, edge.target_port):
            actions.append(Disconnect(edge.raw, index))
    if not actions:
        asked = f"{source}.{source_port or '*'} -> {target or '*'}.{target_port or '*'}"
        there = [
            f"{edge.source}.{edge.source_port} -> {edge.target}.{edge.target_port}"
            for edge in flow.edges
            if source in (edge.source, edge.target)
        ]
        fix = f"The edges of {source}: {', '.join(there)}." if there else f"{source} has no edges."
        raise EditError(Fault(code="unknown_edge", message=f"There is no edge {asked}.", fix=fix, node=source))
    return Edit(apply_all(flow, actions), tuple(actions))


def configure(flow: Flow, catalogue: Catalogue, node_id: str, values: Mapping[str, Json]) -> Edit:
    """Set field values on a node; all of them, or none when one is not valid.

    A changed template brings and takes variables; edges into variables that are gone are removed with them.

    Args:
        flow: the flow.
        catalogue: the component types (kept for values that depend on what the catalogue knows of options).
        node_id: the node.
        values: values by field name, as text or JSON.

    Raises:
        EditError: there is no such node, or a field or value is not valid; every fault is named.
    """
    del catalogue
    node = _node(flow, node_id)
    if node.is_note:
        message = f"{node_id} is a note and has no settings."
        raise EditError(Fault(code="not_a_component", message=message, fix="Name a component.", node=node_id))
    outcome = settings(node, values)
    if outcome.faults:
        raise EditError(*outcome.faults)
    gone = set(outcome.removed_variables) - set(outcome.node.template)
    actions: list[FlowAction] = [
        Disconnect(edge.raw, index)
        for index, edge in reversed(list(enumerate(flow.edges)))
        if edge.target == node_id and edge.target_port in gone and not edge.is_feedback
    ]
    actions += outcome.actions
    return Edit(apply_all(flow, actions), tuple(actions))


def _node(flow: Flow, node_id: str) -> Node:
    node = flow.node(node_id)
    if node is None:
        names = [other.id for other in flow.nodes if not other.is_note]
        message = f"There is no node {node_id!r} in the flow."
        fix = did_you_mean(node_id, names, otherwise="the nodes are") if names else "The flow is empty."
        raise EditError(Fault(code="unknown_node", message=message, fix=fix, node=node_id))
    return node
