"""The basic edits: add, remove, connect, disconnect, configure."""

from __future__ import annotations

from collections.abc import Mapping

from flows.actions import (
    AddComponent,
    Connect,
    Disconnect,
    FlowAction,
    NodeChange,
    RemoveComponent,
    SelectOutput,
    SetConnectionMode,
    SetToolMode,
    apply,
    apply_all,
    field_path,
)
from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.document import Flow, Node
from flows.edits.new_nodes import new_node, with_display_name
from flows.edits.node_ids import new_node_id
from flows.edits.result import Edit, EditError, component_of, node_of
from flows.faults import Fault, suggest
from flows.fields.assignment import settings
from flows.fields.model_values import CONNECTED
from flows.json_values import MISSING, Json, MaybeJson, as_list, as_object, get_at, same_json
from flows.layout.layers import place
from flows.ports import PortError, selected_output_changes, wire, with_changes


def add_component(
    flow: Flow,
    catalogue: Catalogue,
    type: str,
    *,
    node_id: str | None = None,
    values: Mapping[str, Json] | None = None,
    name: str | None = None,
) -> Edit:
    """Add a component, with values if given; nothing else moves.

    Args:
        flow: the flow to add to.
        catalogue: the component types.
        type: the component type.
        node_id: the new node's id; by default one is derived from the type and the flow.
        values: field values, as text or JSON.
        name: its display name; by default that of the type.

    Raises:
        EditError: the type or a value is not valid, or the id is taken.
    """
    component = known_type(catalogue, type)
    taken = {node.id for node in flow.nodes}
    if node_id is not None and node_id in taken:
        message = f"There is already a node {node_id!r}."
        raise EditError(Fault(code="duplicate_id", message=message, fix="Choose another id.", node=node_id))
    fresh = new_node(component, node_id or new_node_id(component.type, str(len(flow.nodes)), taken))
    fresh = fresh if name is None else with_display_name(fresh, name)
    node = configured(fresh, values or {}, component)
    action = AddComponent(place(flow, node).raw, len(flow.nodes))
    return Edit(apply(flow, action), (action,))


def remove_component(flow: Flow, node_id: str) -> Edit:
    """Remove a node and all of its edges.

    Raises:
        EditError: there is no such node.
    """
    node = node_of(flow, node_id)
    index = next(index for index, other in enumerate(flow.nodes) if other is node)
    edges = tuple((at, edge.raw) for at, edge in enumerate(flow.edges) if node_id in (edge.source, edge.target))
    action = RemoveComponent(node.raw, index, edges)
    return Edit(apply(flow, action), (action,))


def connect(flow: Flow, catalogue: Catalogue, source: str, source_port: str, target: str, target_port: str) -> Edit:
    """Connect an output to an input; the types must match, and a single-value input accepts one edge.

    `component_as_tool` as the output makes the source a tool, and an output as the target port closes a loop. A node
    that was a tool and is no longer used by an agent becomes a step again when one of its outputs is connected.

    Raises:
        EditError: the connection is not allowed; the fault names the ports or the converter to use instead.
    """
    start, end = node_of(flow, source), node_of(flow, target)
    actions: list[FlowAction] = []
    step = _step_again(flow, catalogue, start, source_port)
    if step is not None:
        actions.append(step)
        start = with_changes(start, step.also)
    try:
        made = wire(start, source_port, end, target_port, flow.edges, catalogue)
    except PortError as error:
        raise EditError(error.fault) from None
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
    node_of(flow, source)
    if target is not None:
        node_of(flow, target)
    actions: list[FlowAction] = []
    for index, edge in reversed(list(enumerate(flow.edges))):
        fits = edge.source == source and target in (None, edge.target)
        if fits and source_port in (None, edge.source_port) and target_port in (None, edge.target_port):
            actions.append(Disconnect(edge.raw, index))
    if not actions:
        wanted = f"{source}.{source_port or '*'} -> {target or '*'}.{target_port or '*'}"
        existing = [edge.text for edge in flow.edges if source in (edge.source, edge.target)]
        fix = f"The edges of {source}: {', '.join(existing)}." if existing else f"{source} has no edges."
        raise EditError(Fault(code="unknown_edge", message=f"There is no edge {wanted}.", fix=fix, node=source))
    return Edit(apply_all(flow, actions), tuple(actions))


def configure(
    flow: Flow,
    catalogue: Catalogue,
    node_id: str,
    values: Mapping[str, Json],
    *,
    expected: Mapping[str, MaybeJson] | None = None,
) -> Edit:
    """Set field values on a node; all of them, or none if one is invalid.

    A changed template adds and removes variables, and a selected option may add and remove ports; edges of removed
    ports are removed as well and listed in `Edit.lost`.

    Args:
        flow: the flow.
        catalogue: the component types.
        node_id: the node.
        values: values by field name, as text or JSON.
        expected: the values that the caller has seen, by field name; if the flow has others, nothing is set.

    Raises:
        EditError: there is no such node, a field or value is not valid, or an expected value is stale; every fault is
            named.
    """
    node = component_of(flow, node_id)
    stale = [
        Fault(
            code="stale_value",
            message=f"{node_id}.{name} has changed since it was read.",
            fix="Read its value again, then decide.",
            node=node_id,
            field=name,
        )
        for name, value in (expected or {}).items()
        if not same_json(get_at(node.raw, (*field_path(name), "value")), value)
    ]
    if stale:
        raise EditError(*stale)
    outcome = settings(node, values, catalogue.get(node.type))
    if outcome.faults:
        raise EditError(*outcome.faults)
    entered, left = _lost_ports(node, outcome.node)
    gone = [
        (index, edge)
        for index, edge in enumerate(flow.edges)
        if (edge.target == node_id and edge.target_port in (left if edge.is_feedback else entered))
        or (edge.source == node_id and edge.source_port in left)
    ]
    actions: list[FlowAction] = [Disconnect(edge.raw, index) for index, edge in reversed(gone)]
    actions += outcome.actions
    return Edit(apply_all(flow, actions), tuple(actions), tuple(edge.text for _, edge in gone))


def known_type(catalogue: Catalogue, type: str) -> ComponentType:
    """Return the component type of this name.

    Raises:
        EditError: there is none; the fault suggests similar ones.
    """
    component = catalogue.find(type)
    if component is None:
        fix = suggest(catalogue.nearest(type)) or "Search for a suitable one."
        raise EditError(Fault(code="unknown_type", message=f"There is no component type {type!r}.", fix=fix))
    return component


def configured(node: Node, values: Mapping[str, Json], component: ComponentType | None = None) -> Node:
    """Return a new node with values set; `component` says how options change its fields and outputs.

    Raises:
        EditError: a field or value is not valid; every fault is named.
    """
    if not values:
        return node
    outcome = settings(node, values, component)
    if outcome.faults:
        raise EditError(*outcome.faults)
    return outcome.node


def _step_again(flow: Flow, catalogue: Catalogue, node: Node, output: str) -> SetToolMode | None:
    """Return what turns an unused tool back into a step, if `output` is an output of its type."""
    component = catalogue.get(node.type)
    if component is None or not node.tool_mode or any(edge.source == node.id for edge in flow.edges):
        return None
    outputs = as_list(component.definition.get("outputs"))
    if not any(as_object(member).get("name") == output for member in outputs):
        return None
    changes = (
        NodeChange(("data", "node", "tool_mode"), old=True, new=component.definition.get("tool_mode", MISSING)),
        NodeChange(("data", "node", "outputs"), node.definition.get("outputs", MISSING), outputs),
    )
    return SetToolMode(node.id, enabled=False, also=changes)


def _lost_ports(before: Node, after: Node) -> tuple[set[str], set[str]]:
    """Return the fields and the outputs that a node no longer has or shows."""
    outputs = [{str(output.get("name")) for output in node.outputs} for node in (before, after)]
    return _shown_fields(before) - _shown_fields(after), outputs[0] - outputs[1]


def _shown_fields(node: Node) -> set[str]:
    return {name for name, field in node.template.items() if field.get("show") is not False}
