"""Finds the best wirings: every slot gets one of its options or none, and wirings are compared by their cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flows.autowire.slots import Component, Option
from flows.checks.structure import reachable
from flows.component_type import TOOL_OUTPUT
from flows.document import Edge

UNUSED = 60
REUSE = 30
MAX_STEPS = 30_000
MAX_BEST = 32


class TooManyWirings(Exception):
    """There are more wirings than can be compared."""


@dataclass(frozen=True)
class Slot:
    """A decision: the options, and the cost of choosing none of them.

    `owner` is the component that has this need; used as a tool or a model it has none. A mode slot decides the role of
    a component: its options are edges that make it a tool or a model, or none for a step.
    """

    options: tuple[Option, ...]
    none: int
    owner: str = ""
    is_mode: bool = False


@dataclass
class Search:
    """One search over slots, given the existing edges.

    In a search for a `whole` wiring, every component should be used and every loop must close.
    """

    components: Mapping[str, Component]
    edges: Sequence[Edge]
    slots: Sequence[Slot]
    whole: bool
    best: int = 10_000
    steps: int = 0
    _choices: list[dict[int, Option | None]] = field(default_factory=list[dict[int, "Option | None"]])

    def run(self) -> list[tuple[Option | None, ...]]:
        """Return the best wirings, each with one option or None per slot.

        Raises:
            TooManyWirings: the search takes more than `MAX_STEPS` steps.
        """
        order = sorted(range(len(self.slots)), key=lambda at: (not self.slots[at].is_mode, len(self.slots[at].options)))
        least = [self._least(self.slots[at]) for at in order]
        rest = [sum(least[at:]) for at in range(len(least) + 1)]
        taken = {(edge.target, edge.target_port, edge.is_feedback) for edge in self.edges}
        given = [
            Option(edge.source, edge.source_port, edge.target, edge.target_port, edge.is_feedback)
            for edge in self.edges
        ]
        state = _State(self.components, list[Option](), taken, given)
        self._step(order, rest, 0, 0, state, {})
        return [tuple(choice.get(at) for at in range(len(self.slots))) for choice in self._choices]

    def _least(self, slot: Slot) -> int:
        # The needs of a component that may be a tool cost nothing.
        none = 0 if slot.owner in self._modes else slot.none
        return min(none, *(option.cost for option in slot.options)) if slot.options else none

    @property
    def _modes(self) -> set[str]:
        return {slot.owner for slot in self.slots if slot.is_mode}

    def _step(
        self, order: list[int], rest: list[int], at: int, cost: int, state: _State, chosen: dict[int, Option | None]
    ) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooManyWirings
        if cost + rest[at] > self.best:
            return
        if self.whole and cost + rest[at] + state.unused(fewer=len(order) - at) > self.best:
            return
        if at == len(order):
            if self.whole and not state.loops_close():
                return
            total = cost + (state.unused() if self.whole else 0)
            if total < self.best:
                self.best, self._choices = total, []
            if total == self.best and len(self._choices) < MAX_BEST:
                self._choices.append(dict(chosen))
            return
        slot = self.slots[order[at]]
        for option in sorted(slot.options, key=lambda option: option.cost):
            extra = state.add(option, is_mode=slot.is_mode, owner=slot.owner)
            if extra is None:
                continue
            chosen[order[at]] = option
            self._step(order, rest, at + 1, cost + option.cost + extra, state, chosen)
            state.remove(is_mode=slot.is_mode, owner=slot.owner)
        chosen[order[at]] = None
        spared = slot.owner in state.spent and not slot.is_mode
        self._step(order, rest, at + 1, cost + (0 if spared else slot.none), state, chosen)
        chosen.pop(order[at], None)


@dataclass
class _State:
    """The edges so far, and what they exclude."""

    components: Mapping[str, Component]
    added: list[Option]
    taken: set[tuple[str, str, bool]]
    given: list[Option]
    spent: set[str] = field(default_factory=set[str])

    def add(self, option: Option, *, is_mode: bool, owner: str) -> int | None:
        """Add an option and return its extra cost, or None if it conflicts with the edges so far."""
        if option.source in self.spent and not self._is_model_edge(option):
            return None
        if owner in self.spent and not is_mode:
            return None
        place = (option.target, option.input, option.feedback)
        single = not self._is_list(option)
        if single and place in self.taken:
            return None
        edges = [*self.given, *self.added]
        if any((edge.text, edge.feedback) == (option.text, option.feedback) for edge in edges):
            return None
        is_tool = option.output == TOOL_OUTPUT
        if any(edge.source == option.source and (edge.output == TOOL_OUTPUT) != is_tool for edge in edges):
            return None
        if not option.feedback and self._reaches(option.target, option.source, edges):
            return None
        extra = self._reuse(option, edges)
        self.added.append(option)
        if single:
            self.taken.add(place)
        if is_mode:
            self.spent.add(owner)
        return extra

    def remove(self, *, is_mode: bool, owner: str) -> None:
        """Remove the last option."""
        option = self.added.pop()
        if not self._is_list(option):
            self.taken.discard((option.target, option.input, option.feedback))
        if is_mode:
            self.spent.discard(owner)

    def unused(self, fewer: int = 0) -> int:
        """The cost of components or branches that lead nowhere, if `fewer` of them will still be connected."""
        used: dict[str, set[str]] = {}
        for edge in (*self.given, *self.added):
            used.setdefault(edge.source, set()).add(edge.output)
        count = 0
        for component in self.components.values():
            if component.is_sink or component.id in self.spent:
                continue
            outputs = used.get(component.id, set())
            count += (
                len(component.branches - outputs)
                if component.branches
                else int(not outputs and bool(component.outputs))
            )
        return UNUSED * max(0, count - fewer)

    def loops_close(self) -> bool:
        """Whether every feedback edge comes from a step of the loop that it closes."""
        edges = [*self.given, *self.added]
        for back in (edge for edge in self.added if edge.feedback):
            begins = [edge.target for edge in edges if (edge.source, edge.output) == (back.target, back.input)]
            if not any(begin == back.source or self._reaches(begin, back.source, edges) for begin in begins):
                return False
        return True

    def _reuse(self, option: Option, edges: list[Option]) -> int:
        if option.output == TOOL_OUTPUT or self._is_model_edge(option):
            return 0
        target, source = self.components[option.target], self.components[option.source]
        if not any(edge.source == option.source and self._same_branch(source, edge, option) for edge in edges):
            return 0
        return 5 if source.is_source and option.input in target.variables else REUSE

    def _same_branch(self, source: Component, one: Option, other: Option) -> bool:
        return one.output == other.output or not {one.output, other.output} <= source.separate

    def _is_model_edge(self, option: Option) -> bool:
        component = self.components.get(option.source)
        return component is not None and any(port.name == option.output for port in component.model_outputs)

    def _is_list(self, option: Option) -> bool:
        component = self.components.get(option.target)
        return component is not None and any(port.name == option.input and port.is_list for port in component.inputs)

    def _reaches(self, begin: str, end: str, edges: list[Option]) -> bool:
        return end in reachable([begin], ((edge.source, edge.target) for edge in edges if not edge.feedback))
