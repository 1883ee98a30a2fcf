"""Dividing scenarios into dev and test, so that neither gives the other away and both are alike."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence

from evals.analysis.clusters import linked
from evals.cluster_keys import cluster_keys
from evals.scenario import Scenario, Split

SHARE = 0.5
"""The share of the scenarios that is kept for test."""


def kind_of(scenario: Scenario) -> str:
    """What a scenario asks for: its first tag, or else the last reaction that is right."""
    return scenario.tags[0] if scenario.tags else scenario.turns[-1].should


def divide(scenarios: Sequence[Scenario], share: float = SHARE, seed: str = "") -> dict[str, Split]:
    """The split of each scenario, by id; the same scenarios, share and seed give the same split.

    What shares its canvas, its wording or its reference is a cluster and stays together. A cluster goes where its kinds
    are furthest from their share, the large ones first, and among equals in an order that the seed decides. A
    scenario whose file says its split keeps it, and so does its cluster.

    Args:
        scenarios: what is divided.
        share: of test, from 0 to 1.
        seed: another text gives another split.

    Raises:
        SplitError: the files of one cluster say different splits.
    """
    names = linked((one.id, cluster_keys(one)) for one in scenarios)
    groups: dict[str, list[Scenario]] = {}
    for one in scenarios:
        groups.setdefault(names[one.id], []).append(one)
    given = {name: _given(found) for name, found in groups.items()}
    total = Counter(kind_of(one) for one in scenarios)
    in_test: Counter[str] = Counter()
    for name, split in given.items():
        if split == "test":
            in_test.update(kind_of(one) for one in groups[name])
    seen = Counter(kind_of(one) for name, split in given.items() if split is not None for one in groups[name])
    found: dict[str, Split] = {one.id: split for name, split in given.items() if split for one in groups[name]}
    left = [name for name, split in given.items() if split is None]
    for name in sorted(left, key=lambda name: (-len(groups[name]), _order(seed, groups[name]))):
        kinds = Counter(kind_of(one) for one in groups[name])
        split: Split = "test" if _gain(kinds, in_test, seen, total, share) > 0 else "dev"
        if split == "test":
            in_test.update(kinds)
        seen.update(kinds)
        found |= {one.id: split for one in groups[name]}
    return {one.id: found[one.id] for one in scenarios}


class SplitError(ValueError):
    """Scenarios that belong together are in different splits; `ids` are theirs."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__(f"{', '.join(ids)} share a canvas, wording or reference, and are in different splits")
        self.ids = tuple(ids)


def _given(cluster: Sequence[Scenario]) -> Split | None:
    said = {one.split for one in cluster if "split" in one.model_fields_set}
    if len(said) > 1:
        raise SplitError([one.id for one in cluster])
    return next(iter(said), None)


def _gain(
    kinds: Mapping[str, int], in_test: Mapping[str, int], seen: Mapping[str, int], total: Mapping[str, int], share: float
) -> float:
    """How much closer test comes to its share of these kinds when a cluster goes there rather than to dev.

    The wanted number grows with what was divided so far, so that no order of the clusters favours a split.
    """
    gain = 0.0
    for kind, count in kinds.items():
        wanted = share * (seen.get(kind, 0) + count)
        there = in_test.get(kind, 0)
        gain += (abs(there - wanted) - abs(there + count - wanted)) * count / total[kind]
    return gain


def _order(seed: str, cluster: Sequence[Scenario]) -> str:
    ids = ",".join(sorted(one.id for one in cluster))
    return hashlib.sha256(f"{seed}\n{ids}".encode()).hexdigest()
