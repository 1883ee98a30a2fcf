"""Checks of edges: each must connect ports that exist, match and are free."""

from __future__ import annotations

from dataclasses import replace

from flows.catalogue import Catalogue
from flows.document import Edge, Flow, Node
from flows.faults import Fault
from flows.json_values import object_at, texts
from flows.ports import PortError, find_input, find_output, mismatch_fault, types_compatible


def check_edges(flow: Flow, catalogue: Catalogue) -> list[Fault]:
    """Return the faults of every edge."""
    faults: list[Fault] = []
    entering: dict[tuple[str, str, bool], Edge] = {}
    for edge in flow.edges:
        source, target = flow.node(edge.source), flow.node(edge.target)
        if source is None or target is None:
            faults.append(_dangling(edge, edge.source if source is None else edge.target))
        elif source.id == target.id and not edge.is_feedback:
            message = f"{source.id} feeds itself, so it never starts."
            faults.append(_fault("self_edge", message, "Remove the edge, or repeat steps with a LoopComponent.", edge))
        elif not (source.is_note or target.is_note):
            found = _check_form(edge) or _check_ports(edge, source, target, catalogue)
            faults += found
            if not found:
                faults += _check_fan_in(edge, target, entering)
    return faults


def _check_form(edge: Edge) -> list[Fault]:
    """The engine reads an edge's ports only from its `data`; old versions and hand-written files omit it."""
    held = edge.raw.get("data")
    if isinstance(held, dict) and held.get("sourceHandle") and held.get("targetHandle") and edge.source_port:
        return []
    fix = "Disconnect the two and connect them again."
    missing = [key for key in ("sourceHandle", "targetHandle") if not object_at(edge.raw, "data", key)]
    if missing:
        message = f"The edge from {edge.source} to {edge.target} has no `data.{missing[0]}`, which the engine needs."
        return [_fault("bad_edge", message, fix, edge)]
    if not edge.source_port:
        message = f"The edge from {edge.source} to {edge.target} does not name its output."
        return [_fault("unknown_output", message, fix, edge)]
    return []


def _check_ports(edge: Edge, source: Node, target: Node, catalogue: Catalogue) -> list[Fault]:
    if _plainly_fits(edge, source, target):
        return []
    try:
        leaving = find_output(source, edge.source_port, catalogue)
        arriving = find_input(target, edge.target_port)
    except PortError as error:
        return [error.fault]
    # The engine uses the types stored in the edge, if there are any.
    handle = object_at(edge.raw, "data", "targetHandle")
    accepted = texts(handle.get("output_types" if edge.is_feedback else "inputTypes")) or arriving.types
    if types_compatible(leaving.types, accepted) or types_compatible(leaving.types, arriving.types):
        return []
    return [mismatch_fault(source, leaving, target, arriving)]


def _plainly_fits(edge: Edge, source: Node, target: Node) -> bool:
    """Say cheaply whether an edge is valid, as nearly all are; the others are examined in detail."""
    field = target.field(edge.target_port)
    if field is None or edge.is_feedback:
        return False
    taken = texts(field.get("input_types"))
    given = next((output.get("types") for output in source.outputs if output.get("name") == edge.source_port), None)
    return bool(taken) and not set(texts(given)).isdisjoint(taken)


def _check_fan_in(edge: Edge, target: Node, entering: dict[tuple[str, str, bool], Edge]) -> list[Fault]:
    key = (target.id, edge.target_port, edge.is_feedback)
    before = entering.setdefault(key, edge)
    if before is edge:
        return []
    place = f"{target.id}.{edge.target_port}"
    if (before.source, before.source_port) == (edge.source, edge.source_port):
        message = f"{edge.source}.{edge.source_port} is connected to {place} twice."
        return [replace(_fault("duplicate_edge", message, "Remove one of the edges.", edge), severity="warning")]
    if (target.field(edge.target_port) or {}).get("list") and not edge.is_feedback:
        return []
    message = f"{place} accepts one edge, but {before.source} and {edge.source} both feed it; one is ignored."
    return [_fault("input_taken", message, "Remove one, or combine both in a component with two inputs.", edge)]


def _dangling(edge: Edge, missing: str) -> Fault:
    message = f"The edge from {edge.source} to {edge.target} names {missing!r}, which is not in the flow."
    there = edge.target if missing == edge.source else edge.source
    return Fault(code="dangling_edge", message=message, fix="Remove the edge, or add the node.", node=there)


def _fault(code: str, message: str, fix: str, edge: Edge) -> Fault:
    return Fault(code=code, message=message, fix=fix, node=edge.target, port=edge.target_port)
