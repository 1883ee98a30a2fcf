"""A case: one attempt beside what was right, compared once for all evaluators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict

from evals.attempt import Attempt
from evals.expectation import Probe
from evals.oracles.facts import Comparison, Fact
from evals.oracles.matching import match
from evals.oracles.scored_flow import ScoredFlow, scored_flow
from evals.play.addresses import with_addresses
from evals.scenario import Scenario
from evals.scenarios.flows import read_flow, read_named
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.results import RunResult


class Score(BaseModel):
    """What one evaluator says of one attempt.

    Attributes:
        value: None is "not scored": never zero, and left out of every count.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    value: bool | float | None
    reason: str


@dataclass(frozen=True)
class Case:
    """What an evaluator is given.

    Attributes:
        scenario: as it was played: with the addresses of its services in place.
        attempt: what was played; it has at least one turn.
    """

    scenario: Scenario
    attempt: Attempt
    catalogue: Catalogue

    @classmethod
    def of(cls, scenario: Scenario, attempt: Attempt, catalogue: Catalogue) -> Case:
        """The case of an attempt at a scenario as its file says it.

        Args:
            catalogue: the built-in component types; the scenario's own come with the attempt.
        """
        return cls(with_addresses(scenario, attempt.services), attempt, attempt.catalogue(catalogue))

    @cached_property
    def before(self) -> Flow:
        """What the user made of the canvas last: the scenario's canvas, or the last edit that was played."""
        if self.edited is not None:
            text = self.scenario.turns[self.edited].edit or ""
            return read_named(f"the edit before message {self.edited + 1}", text, self.catalogue)
        text = self.scenario.canvas
        return Flow.empty() if text is None else read_named("the canvas", text, self.catalogue)

    @cached_property
    def edited(self) -> int | None:
        """The last message played, from 0, before which the user edited the canvas; None when there is none."""
        played = set(self.attempt.asked)
        edits = [number for number, turn in enumerate(self.scenario.turns) if turn.edit and number in played]
        return edits[-1] if edits else None

    @cached_property
    def after(self) -> Flow:
        """The flow that the user is left with."""
        return self.attempt.turns[-1].flow

    @cached_property
    def changes(self) -> bool:
        """Whether the scenario asks for another flow than there is, not only for runs and words."""
        if self.scenario.open:
            return True
        return not any(same(target, self.start) for target in self.targets)

    @cached_property
    def touched(self) -> bool:
        """Whether the player left another flow than there was."""
        return not same(self.made, self.start)

    @cached_property
    def start(self) -> ScoredFlow:
        """What is scored of the canvas at the start."""
        return scored_flow(self.before, self.catalogue)

    @cached_property
    def made(self) -> ScoredFlow:
        """What is scored of the flow at the end."""
        return scored_flow(self.after, self.catalogue)

    @cached_property
    def target_flows(self) -> tuple[Flow, ...]:
        """The flows that are right: the reference and its alternatives, or the canvas itself when it must stay."""
        return tuple(read_named(name, text, self.catalogue) for name, text in self.scenario.right) or (self.before,)

    @cached_property
    def targets(self) -> tuple[ScoredFlow, ...]:
        """What is scored of the flows that are right."""
        return tuple(scored_flow(flow, self.catalogue) for flow in self.target_flows)

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The flow at the end beside each right one."""
        return tuple(Comparison.of(self.start, self.made, target) for target in self.targets)

    @cached_property
    def asked_earlier(self) -> frozenset[Fact]:
        """What the messages before the last one asked to change of what was there, as facts that came or went.

        Messages before the user's last edit do not count: what they asked for was there when the user edited.
        """
        since = self.scenario.turns[self.edited or 0 :]
        steps = [turn.flow for turn in since if turn.flow is not None]
        flows = [scored_flow(read_flow(text, self.catalogue), self.catalogue) for text in steps]
        wanted = [Comparison.of(self.start, self.made, flow).wanted for flow in flows]
        return frozenset(fact for changes in wanted for _, fact in changes)

    def best(self, measure: Callable[[Comparison], float]) -> float:
        """The highest of a measure over all right flows."""
        return max(measure(comparison) for comparison in self.comparisons)

    @cached_property
    def probed(self) -> tuple[tuple[Probe, tuple[RunResult, ...]], ...]:
        """Each probe with its runs; fewer runs than inputs when it was not made."""
        runs = list(self.attempt.probes)
        found: list[tuple[Probe, tuple[RunResult, ...]]] = []
        for probe in self.scenario.probes:
            size = len(probe.inputs)
            found.append((probe, tuple(runs[:size])))
            runs = runs[size:]
        return tuple(found)


def same(left: ScoredFlow, right: ScoredFlow) -> bool:
    """Whether two flows agree in everything that is scored."""
    if len(left.links) != len(right.links) or _contents(left) != _contents(right):
        return False  # matching takes long, and most flows differ in what they hold
    ids = match(left, right)
    there = {part.id: (part.values, part.name) for part in right.parts}
    renamed = left.renamed(ids)
    return renamed.links == right.links and all((part.values, part.name) == there[part.id] for part in renamed.parts)


def _contents(flow: ScoredFlow) -> list[tuple[str, str, list[tuple[str, str]]]]:
    return sorted((part.type, part.name, sorted(part.values.items())) for part in flow.parts)


Evaluator: TypeAlias = Callable[[Case], Score]
