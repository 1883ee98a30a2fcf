"""Matching the components of two flows so that as much of both flows as possible agrees.

Ids and order never count, so relabelling a flow changes no score; types must be equal. Among components of one type,
the matching maximises the number of equal connections and values together.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, cast

from evals.oracles.scored_flow import ScoredEdge, ScoredFlow, ScoredNode

EXHAUSTIVE = 5_040
"""Up to this many assignments, all are tried; beyond it, the best one found by swapping pairs is taken."""
ROUNDS = 6
"""How far the surroundings of a component are compared, in connections."""

Quality: TypeAlias = tuple[int, int, int, int]
Neighbours: TypeAlias = Mapping[str, Sequence[tuple[str, str]]]
Group: TypeAlias = tuple[list[ScoredNode], list[ScoredNode]]
"""The components of one type in both flows."""


def match(left: ScoredFlow, right: ScoredFlow) -> dict[str, str]:
    """Match components of equal type, each used once; returns ids of `right` by ids of `left`.

    It starts from the assignment of least cost over equal neighbourhoods (Kuhn 1955, as in
    `scipy.optimize.linear_sum_assignment`; the neighbourhoods after Weisfeiler and Leman 1968). If that does not make
    everything agree, all assignments within the types are tried, provided they are few. Otherwise a matching is grown
    from every pair of components along their connections, and pairs are swapped in the best one as long as that helps.
    """
    groups = _groups(left, right)
    objective = _Objective(left, right)
    start = _assign(left, right, groups, objective)
    if objective.is_perfect(start):
        return start
    choices = math.prod(math.perm(max(len(a), len(b)), min(len(a), len(b))) for a, b in groups)
    if choices <= EXHAUSTIVE:
        return max(_all_assignments(groups), key=objective, default=start)
    around, others_around = _neighbours(left), _neighbours(right)
    grown = [
        _grow(objective, around, others_around, a.id, b.id) for nodes, others in groups for a in nodes for b in others
    ]
    distinct = {frozenset(ids.items()): ids for ids in grown}  # pairs of one matching all grow into it
    best = max([start, *(_complete(ids, left, right, objective) for ids in distinct.values())], key=objective)
    return best if objective.is_perfect(best) else _swap_pairs(best, groups, objective)


class _Objective:
    """How much of two flows agrees under a matching."""

    def __init__(self, left: ScoredFlow, right: ScoredFlow) -> None:
        self.left = {node.id: node for node in left.nodes}
        self.right = {node.id: node for node in right.nodes}
        self.edges = [_ports(edge) for edge in left.edges]
        self.others = {_ports(edge) for edge in right.edges}
        self._agreements: dict[tuple[str, str], tuple[int, int, int]] = {}

    def agreement(self, a: str, b: str) -> tuple[int, int, int]:
        """`_agreement` of two components by their ids."""
        pair = (a, b)
        if pair not in self._agreements:
            self._agreements[pair] = _agreement(self.left[a], self.right[b])
        return self._agreements[pair]

    def __call__(self, ids: Mapping[str, str]) -> Quality:
        edges = sum(
            (ids[source], output, ids[target], port) in self.others
            for source, output, target, port in self.edges
            if source in ids and target in ids
        )
        return _quality(edges, [self.agreement(a, b) for a, b in ids.items()])

    def is_perfect(self, ids: Mapping[str, str]) -> bool:
        """Whether no matching can be better."""
        whole = len(ids) == len(self.left) == len(self.right) and len(self.edges) == len(self.others)
        return whole and self(ids) >= _quality(len(self.edges), [_agreement(one, one) for one in self.left.values()])


def _ports(edge: ScoredEdge) -> tuple[str, str, str, str]:
    return edge.source, edge.output, edge.target, edge.input


def _quality(edges: int, agreements: Sequence[tuple[int, int, int]]) -> Quality:
    """Equal connections and values together first, then each by itself, so that ties are broken."""
    equal, both, names = (sum(counts) for counts in zip(*agreements, strict=True)) if agreements else (0, 0, 0)
    return edges + equal, edges, names, both


def _agreement(a: ScoredNode, b: ScoredNode) -> tuple[int, int, int]:
    """Of two components: equal values, fields that both set, and whether they share a name that is not the type's."""
    equal = sum(b.values.get(name) == value for name, value in a.values.items())
    return equal, len(a.values.keys() & b.values.keys()), int(bool(a.name) and a.name == b.name)


def _groups(left: ScoredFlow, right: ScoredFlow) -> list[Group]:
    types = sorted({node.type for node in left.nodes} & {node.type for node in right.nodes})
    return [
        ([node for node in left.nodes if node.type == kind], [node for node in right.nodes if node.type == kind])
        for kind in types
    ]


def _assign(left: ScoredFlow, right: ScoredFlow, groups: Sequence[Group], objective: _Objective) -> dict[str, str]:
    if all(len(nodes) == len(others) == 1 for nodes, others in groups):  # spares the import of scipy
        return {nodes[0].id: others[0].id for nodes, others in groups}
    from scipy.optimize import linear_sum_assignment  # pyright: ignore[reportUnknownVariableType]  (scipy has no stubs)

    rounds = min(max(len(left.nodes), len(right.nodes), 1), ROUNDS)
    connected = bool(left.edges or right.edges)
    around_left, around_right = (_neighbourhoods(flow, rounds, connected=connected) for flow in (left, right))
    ids: dict[str, str] = {}
    for nodes, others in groups:
        costs = [[-_similarity(a.id, b.id, around_left, around_right, objective) for b in others] for a in nodes]
        rows, columns = cast("tuple[Sequence[int], Sequence[int]]", linear_sum_assignment(costs))
        ids.update({nodes[row].id: others[column].id for row, column in zip(rows, columns, strict=True)})
    return ids


def _similarity(
    a: str, b: str, left: Mapping[str, Sequence[str]], right: Mapping[str, Sequence[str]], objective: _Objective
) -> float:
    depth = sum(map(operator.eq, left[a], right[b]))
    equal, both, name = objective.agreement(a, b)
    return depth + equal + 0.01 * both + 0.1 * name


def _neighbourhoods(flow: ScoredFlow, rounds: int, *, connected: bool) -> dict[str, list[str]]:
    """For each component, labels of its surroundings, from near to far; each its own where nothing is connected."""
    labels = {node.id: f"{node.type}|{sorted(node.values.items())}|{node.name}" for node in flow.nodes}
    if not connected:
        return {node_id: [label] * (rounds + 1) for node_id, label in labels.items()}
    history = {node_id: [label] for node_id, label in labels.items()}
    for _ in range(rounds):
        around: dict[str, list[str]] = {node_id: [] for node_id in labels}
        for edge in flow.edges:
            around[edge.source].append(f">{edge.output}|{edge.input}|{labels[edge.target]}")
            around[edge.target].append(f"<{edge.output}|{edge.input}|{labels[edge.source]}")
        labels = {node_id: _digest(f"{label}{sorted(around[node_id])}") for node_id, label in labels.items()}
        for node_id, label in labels.items():
            history[node_id].append(label)
    return history


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _all_assignments(groups: Sequence[Group]) -> Iterator[dict[str, str]]:
    options = [list(_pairings([a.id for a in nodes], [b.id for b in others])) for nodes, others in groups]
    for chosen in itertools.product(*options):
        yield dict(itertools.chain.from_iterable(chosen))


def _pairings(left: Sequence[str], right: Sequence[str]) -> Iterator[list[tuple[str, str]]]:
    if len(left) <= len(right):
        for chosen in itertools.permutations(right, len(left)):
            yield list(zip(left, chosen, strict=True))
    else:
        for chosen in itertools.permutations(left, len(right)):
            yield list(zip(chosen, right, strict=True))


def _grow(
    objective: _Objective, around: Neighbours, others_around: Neighbours, first: str, second: str
) -> dict[str, str]:
    """The components that follow from one pair: the ends of equal connections are matched."""
    ids, used = {first: second}, {second}
    queue = [first]
    while queue:
        here = queue.pop(0)
        for port, end in around[here]:
            if end in ids:
                continue
            kind = objective.left[end].type
            fitting = [
                other
                for other_port, other in others_around[ids[here]]
                if other_port == port and other not in used and objective.right[other].type == kind
            ]
            if fitting:
                ids[end] = max(fitting, key=lambda other, end=end: objective.agreement(end, other))
                used.add(ids[end])
                queue.append(end)
    return ids


def _neighbours(flow: ScoredFlow) -> Neighbours:
    """Of each component, its connections by their ports, with the components at their other ends."""
    around: dict[str, list[tuple[str, str]]] = {node.id: [] for node in flow.nodes}
    for edge in flow.edges:
        around[edge.source].append((f">{edge.output}|{edge.input}", edge.target))
        around[edge.target].append((f"<{edge.output}|{edge.input}", edge.source))
    return {node_id: sorted(ends) for node_id, ends in around.items()}


def _complete(ids: dict[str, str], left: ScoredFlow, right: ScoredFlow, objective: _Objective) -> dict[str, str]:
    """A partial matching, with the components that it leaves open assigned as well as possible."""
    rest, others = left.without(ids), right.without(set(ids.values()))
    return {**ids, **_assign(rest, others, _groups(rest, others), objective)}


def _swap_pairs(start: dict[str, str], groups: Sequence[Group], objective: _Objective) -> dict[str, str]:
    best, value = start, objective(start)
    better = True
    while better:
        better = False
        for nodes, _ in groups:
            for a, b in itertools.combinations([node.id for node in nodes if node.id in best], 2):
                swapped = {**best, a: best[b], b: best[a]}
                if (found := objective(swapped)) > value:
                    best, value, better = swapped, found, True
    return best
