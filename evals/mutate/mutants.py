"""Mutants: passing attempts with one fault each, chosen the same way every time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from evals.attempt import Attempt
from evals.mutate.contents import change_value, move_value, silent_edit, swap_type
from evals.mutate.wiring import add_edge, delete_node, drop_edge, reverse_edge, rewire_edge
from evals.mutate.words import false_claim, forged_output, ignored_instruction
from flows.catalogue import Catalogue
from flows.diff import diff, fingerprint
from flows.document import Flow

PER_OPERATOR = 2
"""How many mutants one operator makes of one attempt."""

_FLOWS: Mapping[str, Callable[[Flow, Catalogue], Iterator[tuple[str, Flow]]]] = {
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

T = TypeVar("T")


@dataclass(frozen=True)
class Mutant:
    """A passing attempt with one fault.

    Attributes:
        id: scenario, operator and number; the same every time.
        operator: what was done.
        what: where, in words.
        attempt: the attempt with the fault.
        flow_changed: whether the resulting flow is another, so that its probes must be run again.
    """

    id: str
    operator: str
    what: str
    attempt: Attempt
    flow_changed: bool


def mutants(attempt: Attempt, catalogue: Catalogue, *, per_operator: int = PER_OPERATOR) -> Iterator[Mutant]:
    """The mutants of an attempt; those whose flow has the fingerprint of the original are equivalent and left out.

    Args:
        attempt: one that passed.
        catalogue: the component types.
        per_operator: how many of each operator at most; which ones follows from the scenario's id.
    """
    flow = attempt.flow
    if flow is None:
        return
    if not flow.is_empty:
        yield from _of_flow(attempt, flow, catalogue, per_operator)
    for operator, alter in _WORDS.items():
        for number, (what, altered) in enumerate(_some(alter(attempt), f"{attempt.scenario} {operator}", per_operator)):
            changed = altered.flow is not None and fingerprint(altered.flow) != fingerprint(flow)
            yield Mutant(f"{attempt.scenario}/{operator}/{number}", operator, what, altered, flow_changed=changed)


def _of_flow(attempt: Attempt, flow: Flow, catalogue: Catalogue, per_operator: int) -> Iterator[Mutant]:
    same = fingerprint(flow)
    before = attempt.turns[0].before

    def silently(given: Flow, types: Catalogue) -> Iterator[tuple[str, Flow]]:
        return silent_edit(before, given, types)

    for operator, alter in {**_FLOWS, "silent_edit": silently}.items():
        found = ((what, other) for what, other in alter(flow, catalogue) if fingerprint(other) != same)
        for number, (what, other) in enumerate(_some(found, f"{attempt.scenario} {operator}", per_operator)):
            yield Mutant(
                f"{attempt.scenario}/{operator}/{number}", operator, what, _left(attempt, other), flow_changed=True
            )


def _left(attempt: Attempt, flow: Flow) -> Attempt:
    """The attempt as if the player had left this flow, by actions like any other."""
    last = attempt.turns[-1]
    if last.proposal is not None:
        turn = last.model_copy(update={"proposal": flow})
    else:
        turn = last.model_copy(update={"after": flow, "actions": [*last.actions, *diff(last.after, flow)]})
    return attempt.model_copy(update={"turns": [*attempt.turns[:-1], turn], "probes": []})


def _some(found: Iterable[T], seed: str, count: int) -> list[T]:
    """`count` of what was found, chosen by the seed and in the order found."""
    every = list(found)
    ranked = sorted(range(len(every)), key=lambda at: hashlib.sha256(f"{seed} {at}".encode()).digest())
    return [every[at] for at in sorted(ranked[:count])]
