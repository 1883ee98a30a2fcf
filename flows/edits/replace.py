"""Replacing a component by a new one of the same or another type, keeping what still fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flows.actions import AddComponent, FlowAction, NodeChange, apply, field_path
from flows.catalogue import Catalogue
from flows.component_type import TOOL_OUTPUT, ComponentType
from flows.document import Edge, Flow, Node
from flows.edits.basic import configured, connect, known_type, remove_component
from flows.edits.fitting import accepted_types, fitting_inputs, fitting_outputs, given_types
from flows.edits.new_nodes import new_node
from flows.edits.node_ids import new_node_id
from flows.edits.result import Edit, EditError, component_of
from flows.fields.assignment import settings
from flows.fields.model_values import CONNECTED
from flows.json_values import EMPTY, MISSING, Json, JsonObject, as_object, same_json
from flows.ports import find_input, find_output, input_ports, types_compatible, with_changes

_PLACE_KEYS = ("position", "positionAbsolute", "dragging", "selected")


def replace_component(
    flow: Flow, catalogue: Catalogue, node_id: str, type: str, *, values: Mapping[str, Json] | None = None
) -> Edit:
    """Replace a component by a new one at the same position, keeping what still fits.

    Values that were set are kept if the new type has a field of the same name that accepts them. Edges are kept on
    ports of the same name, or on the first free port with a matching type. `Edit.lost` lists what cannot be kept.
    With the same type the id stays, too, so this also updates a component whose code is stale.

    Args:
        flow: the flow.
        catalogue: the component types.
        node_id: the component to replace.
        type: the type of the new component.
        values: field values of the new component, as text or JSON; they take precedence over kept ones.

    Raises:
        EditError: there is no such component or type, or one of `values` is not valid.
    """
    old = component_of(flow, node_id)
    component = known_type(catalogue, type)
    taken = {node.id for node in flow.nodes}
    same = old.type in (type, component.type)
    fresh_id = node_id if same else new_node_id(component.type, f"{node_id}\0{len(flow.nodes)}", taken)
    chosen = dict(values or {})
    node, lost = _with_kept_values(
        new_node(component, fresh_id), old, _changed_values(old, catalogue), chosen, component
    )
    node = _with_display_name(node, old, catalogue)
    removal = remove_component(flow, node_id)
    index = next(at for at, other in enumerate(flow.nodes) if other is old)
    placed: JsonObject = {**node.raw, **{key: old.raw[key] for key in _PLACE_KEYS if key in old.raw}}
    addition = AddComponent(placed, index)
    current = apply(removal.flow, addition)
    actions: list[FlowAction] = [*removal.actions, addition]
    for edge in (edge for edge in flow.edges if node_id in (edge.source, edge.target)):
        reconnected = _reconnect(current, catalogue, edge, node_id, fresh_id)
        if reconnected is None:
            lost.append(edge.text)
        else:
            current = reconnected.flow
            actions += reconnected.actions
    return Edit(current, tuple(actions), tuple(lost))


def _changed_values(old: Node, catalogue: Catalogue) -> dict[str, Json]:
    """Return the values that differ from the type's defaults."""
    component = catalogue.get(old.type)
    kept: dict[str, Json] = {}
    for name, field in old.template.items():
        value = field.get("value")
        default = as_object(component.template.get(name)).get("value") if component is not None else None
        if name != "code" and value not in EMPTY and value != CONNECTED and not same_json(value, default):
            kept[name] = value
    return kept


def _with_kept_values(
    node: Node, old: Node, kept: Mapping[str, Json], chosen: Mapping[str, Json], component: ComponentType
) -> tuple[Node, list[str]]:
    node = configured(node, chosen, component)
    lost: list[str] = []
    first = list(component.choices or {})  # options first, then templates, because other fields depend on them
    prompts = [name for name in kept if as_object(old.field(name)).get("type") in ("prompt", "mustache")]
    order = sorted(kept, key=lambda name: [*first, *prompts, name].index(name))
    for name in order:
        if name in chosen:
            continue
        outcome = settings(node, {name: kept[name]}, component) if node.field(name) is not None else None
        if outcome is None or outcome.faults:
            lost.append(f"{old.id}.{name}")
            continue
        node = outcome.node
        if as_object(old.field(name)).get("load_from_db") is True:
            node = _from_variable(node, name)
    return node, lost


def _from_variable(node: Node, name: str) -> Node:
    """Return the node with a field that names a stored variable."""
    old = as_object(node.field(name)).get("load_from_db", MISSING)
    return with_changes(node, [NodeChange((*field_path(name), "load_from_db"), old, new=True)])


def _with_display_name(node: Node, old: Node, catalogue: Catalogue) -> Node:
    """Return the node with the display name that someone gave the old one."""
    component = catalogue.get(old.type)
    if component is None or old.display_name in (component.display_name, old.type):
        return node
    name = node.definition.get("display_name", MISSING)
    return with_changes(node, [NodeChange(("data", "node", "display_name"), name, old.display_name)])


def _reconnect(flow: Flow, catalogue: Catalogue, edge: Edge, old_id: str, new_id: str) -> Edit | None:
    source = new_id if edge.source == old_id else edge.source
    target = new_id if edge.target == old_id else edge.target
    start, end = flow.node(source), flow.node(target)
    if start is None or end is None:
        return None
    outputs = [edge.source_port]
    inputs = [edge.target_port]
    renamed = all(output.get("name") != edge.source_port for output in start.outputs)
    if edge.source == old_id and edge.source_port != TOOL_OUTPUT and renamed:
        accepted = accepted_types(end, edge.target_port, feedback=edge.is_feedback)
        outputs = [port.name for port in fitting_outputs(start, accepted)]
    if edge.target == old_id and not _takes(end, edge.target_port, start, edge):
        given = ("Tool",) if edge.source_port == TOOL_OUTPUT else given_types(start, edge.source_port)
        inputs = _other_inputs(end, given, flow.edges)
    for output, entry in [(output, entry) for output in outputs for entry in inputs]:
        try:
            return connect(flow, catalogue, source, output, target, entry)
        except EditError:
            continue
    return None


def _other_inputs(node: Node, given: Sequence[str], edges: Sequence[Edge]) -> list[str]:
    """Return the inputs for an edge whose input no longer exists: the main ones, or any if there are no main ones."""
    main = [port.name for port in input_ports(node) if port.required or port.field_type == "other"]
    fitting = [port.name for port in fitting_inputs(node, given, edges)]
    return [name for name in fitting if name in main] if main else fitting


def _takes(end: Node, name: str, start: Node, edge: Edge) -> bool:
    try:
        arriving, leaving = find_input(end, name), find_output(start, edge.source_port)
    except ValueError:
        return False
    return arriving.is_feedback == edge.is_feedback and types_compatible(leaving.types, arriving.types)
