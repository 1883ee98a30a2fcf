"""The nearest reference flow next to the resulting one: same layout, differences marked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from evals.case import Case
from evals.oracles.facts import Comparison, Fact
from evals.oracles.scored_flow import ScoredFlow
from evals.report.clipping import line
from evals.report.svg.canvas import Gallery, Mark, Marks, Picture
from evals.report.svg.layout import Board, ScoredFlows, Wire
from flows.document import Flow
from flows.edits.node_ids import relabel
from flows.fields.secrets import REDACTED, is_secret
from flows.json_values import Json, as_object, object_at

_KINDS = ("node", "edge", "value", "name")


@dataclass(frozen=True)
class Difference:
    """One difference between the flow and the expected one.

    Attributes:
        mark: `removed` for what is missing, `added` for what is superfluous, `changed` for a different value.
        text: the difference in words.
    """

    mark: Mark
    text: str


@dataclass(frozen=True)
class FlowComparison:
    """A reference flow and the resulting one.

    Attributes:
        expected: the nearest reference flow.
        built: the resulting flow.
        others: how many other reference flows there are.
    """

    expected: Picture
    built: Picture
    differences: tuple[Difference, ...]
    others: int


def compare_with_expected(case: Case, gallery: Gallery) -> FlowComparison:
    """Draw the nearest reference flow next to the resulting one."""
    comparisons = case.comparisons
    nearest = max(range(len(comparisons)), key=lambda number: (_shared(comparisons[number]), -number))
    comparison = comparisons[nearest]
    expected = _relabelled(case.target_flows[nearest], _ids(case.targets[nearest], comparison.target))
    built = _relabelled(case.after, _ids(case.result, comparison.result))
    shapes = ScoredFlows(case.catalogue)
    board = Board.of([built, expected], shapes)
    missing = comparison.target_facts - comparison.result_facts
    extra = comparison.result_facts - comparison.target_facts
    names = _names(expected, built)
    return FlowComparison(
        expected=gallery.picture(expected, board, shapes, _marks(missing, extra, "removed", expected)),
        built=gallery.picture(built, board, shapes, _marks(extra, missing, "added", built)),
        differences=_differences(missing, extra, names, _secrets(expected) | _secrets(built)),
        others=len(comparisons) - 1,
    )


def _shared(comparison: Comparison) -> float:
    return sum(comparison.agreement(kind) for kind in _KINDS)


def _ids(before: ScoredFlow, after: ScoredFlow) -> dict[str, str]:
    return {one.id: other.id for one, other in zip(before.nodes, after.nodes, strict=True)}


def _relabelled(flow: Flow, ids: Mapping[str, str]) -> Flow:
    """The listed components and their connections with new ids, so that equal components of two flows share a place."""
    nodes: list[Json] = [node.raw for node in flow.nodes if node.id in ids]
    edges: list[Json] = [edge.raw for edge in flow.edges if edge.source in ids and edge.target in ids]
    return relabel(Flow({"data": {"nodes": nodes, "edges": edges}}), ids)


def _marks(mine: frozenset[Fact], theirs: frozenset[Fact], alone: Mark, flow: Flow) -> Marks:
    unmatched = {fact.nodes[0] for fact in mine if fact.kind == "node"}
    nodes: dict[str, Mark] = dict.fromkeys(sorted(unmatched), alone)
    fields: dict[str, frozenset[str]] = {}
    there = {node.id for node in flow.nodes}
    for fact in (*mine, *theirs):
        node_id = fact.nodes[0]
        if fact.kind in {"value", "name"} and node_id in there and node_id not in unmatched:
            nodes[node_id] = "changed"
            fields[node_id] = fields.get(node_id, frozenset()) | {fact.what}
    marked: dict[Wire, Mark] = {}
    for fact in mine:
        if fact.kind == "edge":
            output, _, given = fact.what.partition(" -> ")
            marked[fact.nodes[0], output, fact.nodes[1], given] = alone
    return Marks(nodes, marked, fields)


def _differences(
    missing: frozenset[Fact], extra: frozenset[Fact], names: Mapping[str, str], secrets: frozenset[tuple[str, str]]
) -> tuple[Difference, ...]:
    others = {fact.place: fact for fact in extra if fact.kind in {"value", "name"}}
    absent = {fact.nodes[0] for fact in missing if fact.kind == "node"}
    surplus = {fact.nodes[0] for fact in extra if fact.kind == "node"}
    found: list[Difference] = []
    for fact in sorted(missing, key=_order):
        other = others.pop(fact.place, None)
        if fact.kind in {"value", "name"} and fact.nodes[0] in absent:
            continue
        if other is not None:
            wanted, got = _value(fact, secrets), _value(other, secrets)
            found.append(Difference("changed", f"{_place(fact, names)} should be {wanted}, but is {got}"))
        else:
            found.append(Difference("removed", f"{_place(fact, names)}{_equal(fact, secrets)} is missing"))
    for fact in sorted(extra, key=_order):
        if fact.kind in {"value", "name"} and (fact.nodes[0] in surplus or fact.place not in others):
            continue
        found.append(Difference("added", f"{_place(fact, names)}{_equal(fact, secrets)} is superfluous"))
    return tuple(found)


def _order(fact: Fact) -> tuple[int, Fact]:
    return _KINDS.index(fact.kind), fact


def _place(fact: Fact, names: Mapping[str, str]) -> str:
    first = names.get(fact.nodes[0], fact.nodes[0])
    match fact.kind:
        case "node":
            return f"the component {first}"
        case "edge":
            output, _, given = fact.what.partition(" -> ")
            second = names.get(fact.nodes[1], fact.nodes[1])
            return f"the connection {first}.{line(output, 40)} → {second}.{line(given, 40)}"
        case "value":
            return f"{line(fact.what, 40)} of {first}"
        case _:
            return f"the name of {first}"


def _equal(fact: Fact, secrets: frozenset[tuple[str, str]]) -> str:
    return f" = {_value(fact, secrets)}" if fact.kind in {"value", "name"} else ""


def _value(fact: Fact, secrets: frozenset[tuple[str, str]]) -> str:
    if (fact.nodes[0], fact.what) in secrets:
        return REDACTED
    try:
        value: object = json.loads(fact.value) if fact.kind == "value" else fact.value
    except ValueError:
        value = fact.value
    return line(f"“{value}”" if isinstance(value, str) else fact.value, 300)


def _secrets(flow: Flow) -> frozenset[tuple[str, str]]:
    return frozenset(
        (node.id, name)
        for node in flow.nodes
        for name, field in object_at(node.raw, "data", "node", "template").items()
        if is_secret(as_object(field))
    )


def _names(expected: Flow, built: Flow) -> dict[str, str]:
    """The names of components, numbered if two of them share a name."""
    shown = {node.id: line(node.display_name, 40) for flow in (built, expected) for node in flow.nodes}
    counts = list(shown.values())
    ordinals: dict[str, int] = {}
    found: dict[str, str] = {}
    for node_id, name in shown.items():
        ordinals[name] = ordinals.get(name, 0) + 1
        found[node_id] = f"{name} ({ordinals[name]})" if counts.count(name) > 1 else name
    return found
