"""Which component of one flow is which of another: the assignment that lets most of both agree.

Ids and order never count, so relabelling a flow changes no score; types must be equal. Among components of one type the
assignment maximises the number of equal connections and values together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, cast

from evals.oracles.scored_flow import Link, Part, ScoredFlow

EXHAUSTIVE = 5_040
"""Up to how many assignments all are tried; beyond, the best found by exchanging pairs is taken."""

Worth: TypeAlias = tuple[int, int, int, int]


def match(left: ScoredFlow, right: ScoredFlow) -> dict[str, str]:
    """Return the ids of `left` with those of `right` that they are, each used once.

    It starts from the assignment of least cost over equal neighbourhoods (Kuhn 1955, as in
    `scipy.optimize.linear_sum_assignment`; the neighbourhoods after Weisfeiler and Leman 1968). If that does not make
    everything agree, all assignments within the types are tried where they are few. Else the matching is grown from
    every pair of components along their connections, and in the best one pairs are exchanged as long as that helps.
    """
    groups = _groups(left, right)
    objective = _Objective(left, right)
    start = _assigned(left, right, groups)
    if objective.is_perfect(start):
        return start
    choices = math.prod(math.perm(max(len(a), len(b)), min(len(a), len(b))) for a, b in groups)
    if choices <= EXHAUSTIVE:
        return max(_every(groups), key=objective, default=start)
    grown = [_grown(left, right, (a, b)) for mine, theirs in groups for a in mine for b in theirs]
    best = max([start, *(_filled(ids, left, right) for ids in grown)], key=objective)
    return best if objective.is_perfect(best) else _exchanged(best, groups, objective)


class _Objective:
    """How much of two flows agrees under an assignment."""

    def __init__(self, left: ScoredFlow, right: ScoredFlow) -> None:
        self.left = {part.id: part for part in left.parts}
        self.right = {part.id: part for part in right.parts}
        self.links = left.links
        self.others = right.links

    def __call__(self, ids: Mapping[str, str]) -> Worth:
        links = sum(
            Link(ids[link.source], link.output, ids[link.target], link.input) in self.others
            for link in self.links
            if link.source in ids and link.target in ids
        )
        found = [_agreement(self.left[a], self.right[b]) for a, b in ids.items()]
        return _worth(links, found)

    def is_perfect(self, ids: Mapping[str, str]) -> bool:
        """Whether no assignment can be better."""
        whole = len(ids) == len(self.left) == len(self.right) and len(self.links) == len(self.others)
        return whole and self(ids) >= _worth(len(self.links), [_agreement(part, part) for part in self.left.values()])


def _worth(links: int, found: Sequence[tuple[int, int, int]]) -> Worth:
    """How good an assignment is: equal connections and values first, then each for itself, so that no tie is left."""
    equal, both, names = (sum(counts) for counts in zip(*found, strict=True)) if found else (0, 0, 0)
    return links + equal, links, names, both


def _agreement(a: Part, b: Part) -> tuple[int, int, int]:
    """Of two components: equal values, fields that both set, whether they have the same name of their own."""
    equal = sum(b.values.get(name) == value for name, value in a.values.items())
    return equal, len(a.values.keys() & b.values.keys()), int(bool(a.name) and a.name == b.name)


def _groups(left: ScoredFlow, right: ScoredFlow) -> list[tuple[list[Part], list[Part]]]:
    types = sorted({part.type for part in left.parts} & {part.type for part in right.parts})
    return [
        ([part for part in left.parts if part.type == kind], [part for part in right.parts if part.type == kind])
        for kind in types
    ]


def _assigned(left: ScoredFlow, right: ScoredFlow, groups: Sequence[tuple[list[Part], list[Part]]]) -> dict[str, str]:
    from scipy.optimize import linear_sum_assignment  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]  (scipy has no stubs)

    rounds = max(len(left.parts), len(right.parts), 1)
    around_left, around_right = _neighbourhoods(left, min(rounds, 6)), _neighbourhoods(right, min(rounds, 6))
    found: dict[str, str] = {}
    for mine, theirs in groups:
        costs = [[-_alike(a, b, around_left, around_right) for b in theirs] for a in mine]
        rows, columns = cast("tuple[Sequence[int], Sequence[int]]", linear_sum_assignment(costs))
        found.update({mine[row].id: theirs[column].id for row, column in zip(rows, columns, strict=True)})
    return found


def _alike(a: Part, b: Part, left: Mapping[str, Sequence[str]], right: Mapping[str, Sequence[str]]) -> float:
    depth = sum(one == other for one, other in zip(left[a.id], right[b.id], strict=False))
    equal, both, name = _agreement(a, b)
    return depth + equal + 0.01 * both + 0.1 * name


def _neighbourhoods(flow: ScoredFlow, rounds: int) -> dict[str, list[str]]:
    """For each component, labels of its surroundings, from near to far."""
    labels = {part.id: f"{part.type}|{sorted(part.values.items())}|{part.name}" for part in flow.parts}
    history = {part_id: [label] for part_id, label in labels.items()}
    for _ in range(rounds):
        around: dict[str, list[str]] = {part_id: [] for part_id in labels}
        for link in flow.links:
            around[link.source].append(f">{link.output}|{link.input}|{labels[link.target]}")
            around[link.target].append(f"<{link.output}|{link.input}|{labels[link.source]}")
        labels = {part_id: _short(f"{label}{sorted(around[part_id])}") for part_id, label in labels.items()}
        for part_id, label in labels.items():
            history[part_id].append(label)
    return history


def _short(text: str) -> str:
    import hashlib

    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _every(groups: Sequence[tuple[list[Part], list[Part]]]) -> Iterator[dict[str, str]]:
    options = [list(_pairings([p.id for p in mine], [p.id for p in theirs])) for mine, theirs in groups]
    for chosen in itertools.product(*options):
        yield {a: b for pairing in chosen for a, b in pairing}


def _pairings(mine: Sequence[str], theirs: Sequence[str]) -> Iterator[list[tuple[str, str]]]:
    if len(mine) <= len(theirs):
        for chosen in itertools.permutations(theirs, len(mine)):
            yield list(zip(mine, chosen, strict=True))
    else:
        for chosen in itertools.permutations(mine, len(theirs)):
            yield list(zip(chosen, theirs, strict=True))


def _grown(left: ScoredFlow, right: ScoredFlow, anchor: tuple[Part, Part]) -> dict[str, str]:
    """The components that follow from one pair: ends of equal connections are each other."""
    first, second = anchor
    ids, used = {first.id: second.id}, {second.id}
    mine = {part.id: part for part in left.parts}
    theirs = {part.id: part for part in right.parts}
    ahead = [first.id]
    while ahead:
        here = ahead.pop(0)
        for port, end in _ends(left, here):
            if end in ids:
                continue
            fitting = [
                other
                for there, other in _ends(right, ids[here])
                if there == port and other not in used and theirs[other].type == mine[end].type
            ]
            if fitting:
                ids[end] = max(fitting, key=lambda other, end=end: _agreement(mine[end], theirs[other]))
                used.add(ids[end])
                ahead.append(end)
    return ids


def _ends(flow: ScoredFlow, part_id: str) -> list[tuple[str, str]]:
    """The connections of a component by their ports, and the components at their other ends."""
    out = [(f">{link.output}|{link.input}", link.target) for link in flow.links if link.source == part_id]
    return sorted(
        out + [(f"<{link.output}|{link.input}", link.source) for link in flow.links if link.target == part_id]
    )


def _filled(ids: dict[str, str], left: ScoredFlow, right: ScoredFlow) -> dict[str, str]:
    """A matching with what it leaves open assigned as well as can be."""
    rest = ScoredFlow(tuple(part for part in left.parts if part.id not in ids), frozenset())
    others = ScoredFlow(tuple(part for part in right.parts if part.id not in ids.values()), frozenset())
    return {**ids, **_assigned(rest, others, _groups(rest, others))}


def _exchanged(
    start: dict[str, str], groups: Sequence[tuple[list[Part], list[Part]]], objective: _Objective
) -> dict[str, str]:
    best, value = start, objective(start)
    better = True
    while better:
        better = False
        for mine, _ in groups:
            for a, b in itertools.combinations([part.id for part in mine if part.id in best], 2):
                swapped = {**best, a: best[b], b: best[a]}
                if (found := objective(swapped)) > value:
                    best, value, better = swapped, found, True
    return best
