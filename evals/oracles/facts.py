"""Comparing flows as sets of facts: which components, values, names and connections they have, and which changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from evals.oracles.matching import match
from evals.oracles.scored_flow import ScoredFlow


class Fact(NamedTuple):
    """One thing that is true of a flow.

    Attributes:
        kind: `node`, `value`, `name` or `edge`.
        nodes: the ids of the components that it is about.
        what: the type; the field; empty; the two ports.
        value: the field's value, or the name.
    """

    kind: str
    nodes: tuple[str, ...]
    what: str
    value: str = ""

    @property
    def place(self) -> tuple[str, tuple[str, ...], str]:
        """The fact without its value: two values of the same field are at the same place."""
        return self.kind, self.nodes, self.what


def facts(flow: ScoredFlow) -> frozenset[Fact]:
    """Everything that is true of a flow."""
    found: set[Fact] = set()
    for node in flow.nodes:
        found.add(Fact("node", (node.id,), node.type))
        found.update(Fact("value", (node.id,), name, value) for name, value in node.values.items())
        if node.name:
            found.add(Fact("name", (node.id,), "", node.name))
    found.update(Fact("edge", (edge.source, edge.target), f"{edge.output} -> {edge.input}") for edge in flow.edges)
    return frozenset(found)


def f1(correct: int, actual: int, expected: int) -> float:
    """The harmonic mean of precision (correct/actual) and recall (correct/expected); 1 if both are empty.

    Source: van Rijsbergen, Information Retrieval (1979), chapter 7, with equal weights: 2·correct/(actual+expected).
    """
    return 2 * correct / (actual + expected) if actual + expected else 1.0


@dataclass(frozen=True)
class Comparison:
    """The flow at the start, the resulting one and a right one, brought to the same ids."""

    start: ScoredFlow
    result: ScoredFlow
    target: ScoredFlow

    @classmethod
    def of(cls, start: ScoredFlow, result: ScoredFlow, target: ScoredFlow) -> Comparison:
        """Bring three flows to the same ids.

        The reference flow is the scenario's: what it keeps of the start has the ids of the start. The resulting flow is
        matched by its content, never by its ids.
        """
        result = _without_new_names(result, start, target)
        types = {node.id: node.type for node in start.nodes}
        kept = {node.id: node.id for node in target.nodes if types.get(node.id) == node.type}
        target = _relabelled(target, kept, "t:")
        ids = match(result, target)
        ids.update(match(result.without(ids), start.without(set(ids.values()))))
        return cls(start, _relabelled(result, ids, "m:"), target)

    @cached_property
    def result_facts(self) -> frozenset[Fact]:
        """What is true of the resulting flow."""
        return facts(self.result)

    @cached_property
    def target_facts(self) -> frozenset[Fact]:
        """What is true of the reference flow."""
        return facts(self.target)

    @cached_property
    def changes(self) -> frozenset[tuple[str, Fact]]:
        """What was changed: facts that were added (`+`) and facts that were removed (`-`)."""
        return _changes(facts(self.start), self.result_facts)

    @cached_property
    def expected_changes(self) -> frozenset[tuple[str, Fact]]:
        """What had to be changed."""
        return _changes(facts(self.start), self.target_facts)

    def agreement(self, kind: str) -> float:
        """The F1 of one kind of fact."""
        correct = _count(kind, self.result_facts & self.target_facts)
        return f1(correct, _count(kind, self.result_facts), _count(kind, self.target_facts))


def _without_new_names(result: ScoredFlow, start: ScoredFlow, target: ScoredFlow) -> ScoredFlow:
    """The resulting flow without names of new components that the reference has not: a player may choose them."""
    old = {node.id for node in start.nodes}
    wanted = {node.name for node in target.nodes}
    nodes = tuple(node if node.id in old or node.name in wanted else replace(node, name="") for node in result.nodes)
    return ScoredFlow(nodes, result.edges)


def _count(kind: str, found: Collection[Fact]) -> int:
    return sum(fact.kind == kind for fact in found)


def _changes(before: frozenset[Fact], after: frozenset[Fact]) -> frozenset[tuple[str, Fact]]:
    return frozenset({("+", fact) for fact in after - before} | {("-", fact) for fact in before - after})


def _relabelled(flow: ScoredFlow, ids: Mapping[str, str], prefix: str) -> ScoredFlow:
    """A flow with the ids that it was matched with; its other components get ids that no other flow has."""
    return flow.relabelled({node.id: ids.get(node.id, f"{prefix}{node.id}") for node in flow.nodes})
