"""Compound edits: insert between two connected nodes, rename, duplicate."""

from __future__ import annotations

from collections.abc import Mapping

from flows.actions import AddComponent, Amend, Disconnect, NodeChange, apply, apply_all
from flows.catalogue import Catalogue
from flows.component_type import TOOL_OUTPUT
from flows.document import Edge, Flow, Node
from flows.edits.basic import add_component, connect
from flows.edits.fitting import accepted_types, fitting_inputs, fitting_outputs, given_types
from flows.edits.node_ids import new_node_id
from flows.edits.result import Edit, EditError, component_of
from flows.faults import Fault
from flows.fields.model_values import CONNECTED
from flows.json_values import MISSING, Json, JsonObject, as_object, get_at, object_at
from flows.layout.layers import place_beside, place_between

_NAME_LIMIT = 120


def insert_between(
    flow: Flow,
    catalogue: Catalogue,
    type: str,
    source: str,
    target: str,
    *,
    source_port: str | None = None,
    target_port: str | None = None,
    values: Mapping[str, Json] | None = None,
) -> Edit:
    """Insert a new component between two connected nodes: two new edges replace the old one.

    The new component's ports are chosen by type, required inputs first; nothing else moves.

    Args:
        flow: the flow.
        catalogue: the component types.
        type: the type of the new component.
        source: the node that the edge leaves.
        target: the node that the edge enters.
        source_port: which output, if several edges connect the two.
        target_port: which input, if several edges connect the two.
        values: field values of the new component, as text or JSON.

    Raises:
        EditError: there is no such edge or more than one, the type or a value is invalid, or no port matches.
    """
    edge = _edge_between(flow, source, target, source_port, target_port)
    index = next(at for at, other in enumerate(flow.edges) if other is edge)
    removal = Disconnect(edge.raw, index)
    apart = apply(flow, removal)
    added = add_component(apart, catalogue, type, values=values)
    fresh = added.flow.nodes[-1]
    start, end = component_of(flow, source), component_of(flow, target)
    node = place_between(apart, fresh, start, end)
    addition = AddComponent(node.raw, len(apart.nodes))
    given = given_types(start, edge.source_port) if edge.source_port != TOOL_OUTPUT else ("Tool",)
    wanted = accepted_types(end, edge.target_port, feedback=edge.is_feedback)
    entry = [port.name for port in fitting_inputs(node, given)]
    exits = [port.name for port in fitting_outputs(node, wanted)]
    if not entry or not exits:
        raise EditError(_unfit(node, edge, given, wanted, enters=bool(entry)))
    before = connect(apply(apart, addition), catalogue, source, edge.source_port, node.id, entry[0])
    after = connect(before.flow, catalogue, node.id, exits[0], target, edge.target_port)
    return Edit(after.flow, (removal, addition, *before.actions, *after.actions))


def rename(flow: Flow, node_id: str, name: str) -> Edit:
    """Change the display name of a component; its id stays.

    Raises:
        EditError: there is no such component, or the name is empty, too long or more than one line.
    """
    node = component_of(flow, node_id)
    wanted = name.strip()
    if not wanted or len(wanted) > _NAME_LIMIT or not wanted.isprintable():
        message = f"{node_id} cannot be called {wanted[:40]!r}."
        fix = f"Give a name of one line, up to {_NAME_LIMIT} characters."
        raise EditError(Fault(code="bad_name", message=message, fix=fix, node=node_id))
    path = ("data", "node", "display_name")
    old = get_at(node.raw, path)
    if old == wanted:
        return Edit(flow, ())
    if get_at(node.raw, path[:2]) is MISSING:
        message = f"{node_id} has no definition, so it has no name to change."
        raise EditError(Fault(code="bad_name", message=message, fix="Replace it with a known component.", node=node_id))
    action = Amend(node_id, (NodeChange(path, old, wanted),))
    return Edit(apply(flow, action), (action,))


def duplicate(flow: Flow, node_id: str) -> Edit:
    """Add a copy of a component with the same settings and a new id, without edges; nothing else moves.

    A connected model is not set in the copy, because its edge is not copied.

    Raises:
        EditError: there is no such component.
    """
    node = component_of(flow, node_id)
    taken = {other.id for other in flow.nodes}
    copy_id = new_node_id(node.type, f"{node_id}\0copy\0{len(flow.nodes)}", taken)
    data: JsonObject = {**object_at(node.raw, "data"), "id": copy_id}
    template = object_at(node.raw, "data", "node", "template")
    lonely = [key for key, field in node.template.items() if field.get("value") == CONNECTED]
    if lonely:
        cleared: JsonObject = {key: {**as_object(template[key]), "value": ""} for key in lonely}
        data["node"] = {**object_at(node.raw, "data", "node"), "template": {**template, **cleared}}
    raw: JsonObject = {**node.raw, "id": copy_id, "data": data, "selected": False}
    raw.pop("positionAbsolute", None)
    action = AddComponent(place_beside(flow, Node(raw), node).raw, len(flow.nodes))
    return Edit(apply_all(flow, (action,)), (action,))


def _edge_between(flow: Flow, source: str, target: str, source_port: str | None, target_port: str | None) -> Edge:
    component_of(flow, source)
    component_of(flow, target)
    joining = [edge for edge in flow.edges if (edge.source, edge.target) == (source, target)]
    found = [
        edge for edge in joining if source_port in (None, edge.source_port) and target_port in (None, edge.target_port)
    ]
    if len(found) == 1:
        return found[0]
    if found:
        message = f"{len(found)} edges connect {source} and {target}."
        fix = f"Name the ports of one: {', '.join(edge.text for edge in found)}."
        raise EditError(Fault(code="ambiguous_edge", message=message, fix=fix, node=source))
    near = joining or [edge for edge in flow.edges if source in (edge.source, edge.target)]
    fix = f"There are: {', '.join(edge.text for edge in near)}." if near else f"{source} has no edges."
    message = f"No such edge connects {source} and {target}."
    raise EditError(Fault(code="unknown_edge", message=message, fix=fix, node=source))


def _unfit(node: Node, edge: Edge, given: tuple[str, ...], wanted: tuple[str, ...], *, enters: bool) -> Fault:
    if not enters:
        has_template = any(field.get("type") in ("prompt", "mustache") for field in node.template.values())
        fix = (
            "Give it a template with a {variable}, which becomes an input."
            if has_template
            else "Choose a component that accepts this, or put a converter before it."
        )
        message = f"{node.type} has no input for {'/'.join(given) or 'that'}, which {edge.source} provides."
    else:
        message = f"{node.type} has no output of {'/'.join(wanted) or 'that'}, which {edge.target} accepts."
        fix = "Choose a component that provides this, or put a converter after it."
    return Fault(code="type_mismatch", message=message, fix=fix, node=edge.source, port=edge.source_port)
