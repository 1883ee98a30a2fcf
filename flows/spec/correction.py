"""Corrections: a spec with some of its lines changed, so that a mended spec need not be written again as a whole."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from flows.faults import Fault, did_you_mean
from flows.spec.fragment import Fragment
from flows.spec.parse import Spec, SpecEdge

_LINES = 10_000
"""Lines of a correction are counted from here on, so that they differ from those of the spec."""


def corrected(spec: Spec, fragment: Fragment, faulty: Collection[int] = ()) -> tuple[Spec, tuple[Fault, ...]]:
    """Return a spec with the lines of a fragment in it.

    Nodes and values replace those of the same id. An edge replaces a faulty one between the same two nodes, and a value
    replaces faulty ones of the same node, and one of the same field whose node the spec does not have.

    Args:
        spec: the spec.
        fragment: what changes; `names` cannot be corrected, since ids are the names of a spec.
        faulty: the lines of the spec that have errors.

    Returns:
        The corrected spec, and a fault for each line that removes what the spec does not have.
    """
    base = 1 + max((part.line for part in (*spec.nodes, *spec.edges, *spec.values)), default=0) // _LINES
    offset = base * _LINES
    nodes = {node.id: node for node in spec.nodes}
    values = {(value.node, value.field): value for value in spec.values}
    edges = list(spec.edges)
    faults: list[Fault] = []
    for gone in fragment.removed:
        value = tuple(gone.node.rsplit(".", 1))
        if gone.node not in nodes and len(value) == 2 and value in values:
            del values[value]
            continue
        if nodes.pop(gone.node, None) is None:
            faults.append(_unknown(f"no node {gone.node!r}", gone.node, list(nodes), gone.line))
        edges = [edge for edge in edges if gone.node not in (edge.source, edge.target)]
        values = {key: value for key, value in values.items() if key[0] != gone.node}
    for cut in fragment.cut:
        kept = [edge for edge in edges if not _covers(cut, edge)]
        if len(kept) == len(edges):
            faults.append(_unknown(f"no edge {_text(cut)}", cut.source, [_text(edge) for edge in edges], cut.line))
        edges = kept
    set_again = {value.node for value in fragment.spec.values}
    values = {key: value for key, value in values.items() if key[0] not in set_again or value.line not in faulty}
    nodes.update((node.id, replace(node, line=offset + node.line)) for node in fragment.spec.nodes)
    fields = {value.field for value in fragment.spec.values}
    values = {key: value for key, value in values.items() if key[0] in nodes or key[1] not in fields}
    values.update(((one.node, one.field), replace(one, line=offset + one.line)) for one in fragment.spec.values)
    unchecked = {node.id for node in spec.nodes if node.line in faulty}
    for edge in fragment.spec.edges:
        edges = [old for old in edges if not _replaces(edge, old, faulty, unchecked)]
        if not any(_text(old) == _text(edge) for old in edges):
            edges.append(replace(edge, line=offset + edge.line))
    result = Spec(
        name=fragment.spec.name or spec.name,
        description=fragment.spec.description or spec.description,
        nodes=tuple(nodes.values()),
        edges=tuple(edges),
        values=tuple(values.values()),
    )
    return result, tuple(faults)


def _replaces(new: SpecEdge, old: SpecEdge, faulty: Collection[int], unchecked: Collection[str]) -> bool:
    """Whether an edge stands for an old one: that is faulty, or could not be checked and shares a port with it."""
    if (new.source, new.target) != (old.source, old.target):
        return False
    shares = new.source_port == old.source_port or new.target_port == old.target_port
    return old.line in faulty or (shares and not {old.source, old.target}.isdisjoint(unchecked))


def _covers(cut: SpecEdge, edge: SpecEdge) -> bool:
    return (
        (cut.source, cut.target) == (edge.source, edge.target)
        and cut.source_port in (None, edge.source_port)
        and cut.target_port in (None, edge.target_port)
    )


def _text(edge: SpecEdge) -> str:
    begin = ".".join(filter(None, (edge.source, edge.source_port)))
    return f"{begin} -> {'.'.join(filter(None, (edge.target, edge.target_port)))}"


def _unknown(what: str, node: str, known: list[str], line: int) -> Fault:
    fix = did_you_mean(node, known, otherwise="there are") if known else "Leave this line out."
    return Fault(code="unknown_node", message=f"The spec has {what}.", fix=fix, node=node, line=line)
