"""Faults in a flow's wiring: an edge dropped, added, rewired or reversed, a node deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations, product
from typing import TypeAlias

from flows.catalogue import Catalogue
from flows.document import Edge, Flow, Node, edge_text
from flows.edits import EditError
from flows.edits.basic import connect, remove_component
from flows.edits.result import Edit
from flows.json_values import Json
from flows.ports import Port, input_ports, make_edge, output_ports

Fault: TypeAlias = tuple[str, Callable[[], Flow | None]]
"""A description, and a function that makes the faulty flow, or returns None if that is impossible."""


def edited(make: Callable[[], Edit]) -> Flow | None:
    """The flow after an edit, or None if the edit is refused."""
    try:
        return make().flow
    except EditError:
        return None


def drop_edge(flow: Flow, catalogue: Catalogue) -> Iterator[Fault]:
    """Each edge, removed."""
    del catalogue
    for edge in flow.edges:
        yield f"dropped {edge.text}", partial(_without, flow, edge)


def add_edge(flow: Flow, catalogue: Catalogue) -> Iterator[Fault]:
    """Each legal edge that is missing, added."""
    for source, leaving, target, entering in _possible(flow):
        if not _joined(flow, source.id, leaving.name, target.id, entering.name):
            ends = (source.id, leaving.name, target.id, entering.name)
            yield f"added {edge_text(*ends)}", partial(edited, partial(connect, flow, catalogue, *ends))


def rewire_edge(flow: Flow, catalogue: Catalogue) -> Iterator[Fault]:
    """Each edge, with another source or target that its types allow."""
    nodes = {node.id: node for node in flow.nodes}
    for edge in flow.edges:
        rest = _without(flow, edge)
        for source, leaving, target, entering in _possible(flow):
            same_start = (source.id, leaving.name) == (edge.source, edge.source_port)
            same_end = (target.id, entering.name) == (edge.target, edge.target_port)
            if same_start == same_end or edge.source not in nodes or edge.target not in nodes:
                continue
            ends = (source.id, leaving.name, target.id, entering.name)
            made = partial(edited, partial(connect, rest, catalogue, *ends))
            yield f"{edge.text} became {edge_text(*ends)}", made


def reverse_edge(flow: Flow, catalogue: Catalogue) -> Iterator[Fault]:
    """Each edge, reversed: from the first output of its target to the first input of its source, legal or not."""
    del catalogue
    nodes = {node.id: node for node in flow.nodes}
    for edge in flow.edges:
        source, target = nodes.get(edge.source), nodes.get(edge.target)
        if source is None or target is None:
            continue
        outputs, inputs = output_ports(target), input_ports(source)
        if not outputs or not inputs:
            continue
        turned = make_edge(target, outputs[0], source, inputs[0])
        edges: list[Json] = [turned if other is edge else other.raw for other in flow.edges]
        yield f"reversed {edge.text}", partial(flow.with_parts, edges=edges)


def delete_node(flow: Flow, catalogue: Catalogue) -> Iterator[Fault]:
    """Each component, removed with its edges."""
    del catalogue
    for node in flow.components:
        yield f"deleted {node.id}", partial(edited, partial(remove_component, flow, node.id))


def _possible(flow: Flow) -> Iterator[tuple[Node, Port, Node, Port]]:
    for source, target in permutations(flow.components, 2):
        for leaving, entering in product(output_ports(source), input_ports(target)):
            yield source, leaving, target, entering


def _joined(flow: Flow, source: str, output: str, target: str, entering: str) -> bool:
    return any(
        (edge.source, edge.source_port, edge.target, edge.target_port) == (source, output, target, entering)
        for edge in flow.edges
    )


def _without(flow: Flow, edge: Edge) -> Flow:
    return flow.with_parts(edges=[other.raw for other in flow.edges if other is not edge])
