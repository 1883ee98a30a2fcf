"""Mutants: passing attempts with one fault each, chosen deterministically."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from evals.attempt import Attempt
from evals.mutate.behaviour import false_claim, forged_output, ignored_instruction
from evals.mutate.content import change_value, move_value, silent_edit, swap_type
from evals.mutate.near_misses import NEAR_MISSES
from evals.mutate.wiring import Fault, add_edge, delete_node, drop_edge, reverse_edge, rewire_edge
from evals.play.probes import replace_final_flow
from evals.scenario import Scenario
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.fingerprints import fingerprint

PER_OPERATOR = 2
"""How many mutants one operator makes of an attempt."""

_FLOWS: Mapping[str, Callable[[Flow, Catalogue], Iterator[Fault]]] = {
    "drop_edge": drop_edge,
    "add_edge": add_edge,
    "rewire_edge": rewire_edge,
    "reverse_edge": reverse_edge,
    "swap_type": swap_type,
    "change_value": change_value,
    "move_value": move_value,
    "delete_node": delete_node,
}
_WORDS: Mapping[str, Callable[[Attempt], Iterator[tuple[str, Attempt]]]] = {
    "false_claim": false_claim,
    "ignored_instruction": ignored_instruction,
    "forged_output": forged_output,
}
OPERATORS = (*_FLOWS, "silent_edit", *_WORDS)
"""Every operator, in the order of reports."""

CONTROL = "control"
"""The operator that changes nothing: its mutants are treated alike, and none may be detected as a fault."""

T = TypeVar("T")


@dataclass(frozen=True)
class Mutant:
    """A passing attempt with one fault.

    Attributes:
        id: scenario, operator and number; the same every time.
        flow_changed: whether the resulting flow was changed, so that its probes must be run again.
    """

    id: str
    operator: str
    what: str
    attempt: Attempt
    flow_changed: bool


def generate_mutants(
    attempt: Attempt, catalogue: Catalogue, *, scenario: Scenario | None = None, per_operator: int = PER_OPERATOR
) -> Iterator[Mutant]:
    """The mutants of an attempt; those whose flow has the fingerprint of the original are equivalent and left out.

    Args:
        scenario: what was played, with the addresses of its services; without it there are no near misses.
        per_operator: the most mutants of each operator; the choice depends on the scenario's id only.
    """
    flow = attempt.flow
    if flow is None:
        return
    if not flow.is_empty:
        yield from _flow_mutants(attempt, flow, catalogue, scenario, per_operator)
    for operator, alter in _WORDS.items():
        chosen = _shuffled(alter(attempt), f"{attempt.scenario} {operator}")[:per_operator]
        for number, (what, altered) in enumerate(chosen):
            changed = altered.flow is not None and fingerprint(altered.flow) != fingerprint(flow)
            yield Mutant(f"{attempt.scenario}/{operator}/{number}", operator, what, altered, flow_changed=changed)


def control_mutant(attempt: Attempt) -> Mutant | None:
    """The unchanged attempt, with its probes to be run again; None if it has no flow to run."""
    flow = attempt.flow
    if flow is None or flow.is_empty:
        return None
    name = f"{attempt.scenario}/{CONTROL}/0"
    return Mutant(name, CONTROL, "nothing changed", replace_final_flow(attempt, flow), flow_changed=True)


def _flow_mutants(
    attempt: Attempt, flow: Flow, catalogue: Catalogue, scenario: Scenario | None, per_operator: int
) -> Iterator[Mutant]:
    same = fingerprint(flow)
    before = attempt.turns[0].before

    def silently(given: Flow, types: Catalogue) -> Iterator[Fault]:
        return silent_edit(before, given, types)

    faults = {name: alter(flow, catalogue) for name, alter in {**_FLOWS, "silent_edit": silently}.items()}
    if scenario is not None and scenario.reference is not None:
        faults |= {name: alter(flow, catalogue, scenario) for name, alter in NEAR_MISSES.items()}
    for operator, found in faults.items():
        number = 0
        for what, make in _shuffled(found, f"{attempt.scenario} {operator}"):
            other = make()
            if other is None or fingerprint(other) == same:
                continue
            name = f"{attempt.scenario}/{operator}/{number}"
            yield Mutant(name, operator, what, replace_final_flow(attempt, other), flow_changed=True)
            number += 1
            if number == per_operator:
                break


def _shuffled(found: Iterable[tuple[str, T]], seed: str) -> list[tuple[str, T]]:
    """The items in an order that depends on the seed only."""
    ordered = sorted(enumerate(found), key=lambda at: hashlib.sha256(f"{seed} {at[0]}".encode()).digest())
    return [item for _, item in ordered]
