"""Comparing flows as sets of facts: which components, values, names and connections there are, and which changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from evals.oracles.matching import match
from evals.oracles.scored_flow import ScoredFlow


class Fact(NamedTuple):
    """One thing that is so in a flow.

    Attributes:
        kind: `part`, `value`, `name` or `link`.
        parts: the ids that it is about.
        what: the type; the field; nothing; the two ports.
        value: the field's value, or the name.
    """

    kind: str
    parts: tuple[str, ...]
    what: str
    value: str = ""

    @property
    def place(self) -> tuple[str, tuple[str, ...], str]:
        """The fact without its value: another value of the same field stands at the same place."""
        return self.kind, self.parts, self.what


def facts(flow: ScoredFlow) -> frozenset[Fact]:
    """Everything that is so in a flow."""
    found: set[Fact] = set()
    for part in flow.parts:
        found.add(Fact("part", (part.id,), part.type))
        found.update(Fact("value", (part.id,), name, value) for name, value in part.values.items())
        if part.name:
            found.add(Fact("name", (part.id,), "", part.name))
    found.update(Fact("link", (link.source, link.target), f"{link.output} -> {link.input}") for link in flow.links)
    return frozenset(found)


def f1(right: int, made: int, wanted: int) -> float:
    """The harmonic mean of precision (right/made) and recall (right/wanted): 2·right/(made+wanted), 1 for nothing.

    Source: van Rijsbergen, Information Retrieval (1979), chapter 7, with equal weights.
    """
    return 2 * right / (made + wanted) if made + wanted else 1.0


@dataclass(frozen=True)
class Comparison:
    """A flow beside a right one, both with the ids of the right one and of the start."""

    start: ScoredFlow
    made: ScoredFlow
    target: ScoredFlow

    @classmethod
    def of(cls, start: ScoredFlow, made: ScoredFlow, target: ScoredFlow) -> Comparison:
        """Bring three flows to the same ids.

        The right flow is the scenario's: what it keeps of the start has the ids of the start. The flow at the end is
        matched by what it holds, never by its ids.
        """
        types = {part.id: part.type for part in start.parts}
        kept = {part.id: part.id for part in target.parts if types.get(part.id) == part.type}
        target = _joined(target, kept, "t:")
        ids = match(made, target)
        rest = ScoredFlow(tuple(part for part in made.parts if part.id not in ids), frozenset())
        gone = {part.id for part in start.parts} - set(ids.values())
        left = ScoredFlow(tuple(part for part in start.parts if part.id in gone), frozenset())
        return cls(start, _joined(made, {**ids, **match(rest, left)}, "m:"), target)

    @cached_property
    def made_facts(self) -> frozenset[Fact]:
        """What is so at the end."""
        return facts(self.made)

    @cached_property
    def target_facts(self) -> frozenset[Fact]:
        """What is so in the right flow."""
        return facts(self.target)

    @cached_property
    def start_facts(self) -> frozenset[Fact]:
        """What was so at the start."""
        return facts(self.start)

    @cached_property
    def changes(self) -> frozenset[tuple[str, Fact]]:
        """What was changed: facts that came and facts that went."""
        return _changes(self.start_facts, self.made_facts)

    @cached_property
    def wanted(self) -> frozenset[tuple[str, Fact]]:
        """What had to be changed."""
        return _changes(self.start_facts, self.target_facts)

    def count(self, kind: str, found: Collection[Fact]) -> int:
        """How many facts of a kind there are."""
        return sum(fact.kind == kind for fact in found)

    def agreement(self, kind: str) -> float:
        """The F1 of one kind of fact."""
        right = self.count(kind, self.made_facts & self.target_facts)
        return f1(right, self.count(kind, self.made_facts), self.count(kind, self.target_facts))


def _changes(before: frozenset[Fact], after: frozenset[Fact]) -> frozenset[tuple[str, Fact]]:
    return frozenset({("+", fact) for fact in after - before} | {("-", fact) for fact in before - after})


def _joined(flow: ScoredFlow, ids: Mapping[str, str], prefix: str) -> ScoredFlow:
    """A flow under the ids that it was matched with; what is new in it gets ids that nothing else has."""
    return flow.renamed({part.id: ids.get(part.id, f"{prefix}{part.id}") for part in flow.parts})
