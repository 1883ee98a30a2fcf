"""A case: one attempt and what would have been right, compared once for all evaluators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TypeAlias

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

Grade: TypeAlias = tuple[bool | float | None, str]
"""What an evaluator returns: the value of its score, and the reason."""


@dataclass(frozen=True)
class Case:
    """What an evaluator reads.

    Attributes:
        scenario: the scenario as it was played, with the addresses of its services.
        attempt: the attempt; it has at least one turn.
    """

    scenario: Scenario
    attempt: Attempt
    catalogue: Catalogue

    @classmethod
    def of(cls, scenario: Scenario, attempt: Attempt, catalogue: Catalogue) -> Case:
        """The case of an attempt at a scenario as its file defines it.

        Args:
            catalogue: the built-in component types; the scenario's own come with the attempt.
        """
        return cls(with_addresses(scenario, attempt.services), attempt, attempt.catalogue(catalogue))

    @cached_property
    def before(self) -> Flow:
        """The canvas as the user last left it: the scenario's canvas, or the last edit that was played."""
        if self.last_edit is not None:
            text = self.scenario.turns[self.last_edit].edit or ""
            return read_named(f"the edit before message {self.last_edit + 1}", text, self.catalogue)
        text = self.scenario.canvas
        return Flow.empty() if text is None else read_named("the canvas", text, self.catalogue)

    @cached_property
    def last_edit(self) -> int | None:
        """The last message played, from 0, before which the user edited the canvas; None without an edit."""
        played = set(self.attempt.asked)
        edits = [number for number, turn in enumerate(self.scenario.turns) if turn.edit and number in played]
        return edits[-1] if edits else None

    @property
    def after(self) -> Flow:
        """The resulting flow."""
        return self.attempt.turns[-1].flow

    @cached_property
    def change_expected(self) -> bool:
        """Whether the scenario asks for a change of the flow, not only for runs and words."""
        return self.scenario.open or not any(same(target, self.start) for target in self.targets)

    @cached_property
    def changed(self) -> bool:
        """Whether the player changed the flow."""
        return not same(self.result, self.start)

    @cached_property
    def start(self) -> ScoredFlow:
        """The canvas at the start, as it is scored."""
        return scored_flow(self.before, self.catalogue)

    @cached_property
    def result(self) -> ScoredFlow:
        """The resulting flow, as it is scored."""
        return scored_flow(self.after, self.catalogue)

    @cached_property
    def target_flows(self) -> tuple[Flow, ...]:
        """The reference flows: the reference and its alternatives, or the canvas itself if it must stay as it is."""
        return tuple(read_named(name, text, self.catalogue) for name, text in self.scenario.right) or (self.before,)

    @cached_property
    def targets(self) -> tuple[ScoredFlow, ...]:
        """The reference flows, as they are scored."""
        return tuple(scored_flow(flow, self.catalogue) for flow in self.target_flows)

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The resulting flow compared with each right one."""
        return tuple(Comparison.of(self.start, self.result, target) for target in self.targets)

    @cached_property
    def requested_earlier(self) -> frozenset[Fact]:
        """The facts that messages before the last one asked to add or remove.

        Messages before the user's last edit do not count: the user edited what had come of them.
        """
        since = self.scenario.turns[self.last_edit or 0 :]
        steps = [scored_flow(read_flow(turn.flow, self.catalogue), self.catalogue) for turn in since if turn.flow]
        return frozenset(
            fact for step in steps for _, fact in Comparison.of(self.start, self.result, step).expected_changes
        )

    @cached_property
    def nearest(self) -> Comparison:
        """The comparison with the nearest right flow: the one of which most components, edges and values agree.

        All grades are measured on it: a flow that has the components of one right flow and the values of another is
        neither.
        """
        return max(self.comparisons, key=lambda one: sum(one.agreement(kind) for kind in ("node", "edge", "value")))

    def best(self, measure: Callable[[Comparison], float]) -> float:
        """The value of a measure for the nearest reference flow."""
        return measure(self.nearest)

    def agreement(self, kind: str) -> float:
        """The F1 of one kind of fact for the nearest reference flow."""
        return self.nearest.agreement(kind)

    @property
    def ungraded(self) -> Grade | None:
        """The grade without comparing flows: not scored if no change was expected, zero if none was made."""
        if not self.change_expected:
            return None, "no other flow was asked for"
        return None if self.changed else (0.0, "nothing was changed")

    @property
    def unset(self) -> Grade | None:
        """The grade of fields where none is set in any of the flows: not scored."""
        set_somewhere = any(node.values for flow in (self.result, *self.targets) for node in flow.nodes)
        return None if set_somewhere else (None, "no field is set")

    @cached_property
    def probed(self) -> tuple[tuple[Probe, tuple[RunResult, ...]], ...]:
        """Each probe with its runs; fewer runs than inputs if they were not made."""
        runs = iter(self.attempt.probes)
        return tuple((probe, tuple(islice(runs, len(probe.inputs)))) for probe in self.scenario.probes)

    @cached_property
    def probe_files(self) -> tuple[Mapping[str, str], ...]:
        """What the run of each probe wrote into the user's files, without those of its counterfactual."""
        written = iter(self.attempt.written)
        each = (list(islice(written, len(probe.inputs))) for probe in self.scenario.probes)
        return tuple(files[0] if files else {} for files in each)


def same(left: ScoredFlow, right: ScoredFlow) -> bool:
    """Whether two flows agree in everything that is scored."""
    if len(left.edges) != len(right.edges) or _contents(left) != _contents(right):
        return False  # matching is slow, and most flows differ in their components
    relabelled = left.relabelled(match(left, right))
    others = {node.id: node for node in right.nodes}
    return relabelled.edges == right.edges and all(node == others[node.id] for node in relabelled.nodes)


def _contents(flow: ScoredFlow) -> list[tuple[str, str, list[tuple[str, str]]]]:
    return sorted((node.type, node.name, sorted(node.values.items())) for node in flow.nodes)


Evaluator: TypeAlias = Callable[[Case], Grade]
