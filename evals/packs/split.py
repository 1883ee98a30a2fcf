"""Dividing scenarios into dev and test, so that neither gives the other away and both are alike."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from evals.analysis.clusters import linked
from evals.cluster_keys import cluster_keys
from evals.scenario import Scenario, Split
from evals.scenarios.coverage import kind_of
from evals.scenarios.splits import features

SHARE = 0.5
"""The share of the scenarios that is kept for test."""


def divide(scenarios: Sequence[Scenario], share: float = SHARE, seed: str = "") -> dict[str, Split]:
    """The split of each scenario, by id; the same scenarios, share and seed give the same split.

    What shares its canvas, its wording or its reference is a cluster and stays together. A cluster goes where its kinds
    are furthest from their share, the large ones first; where they are equally far, what makes scenarios easier or
    harder decides (`features`), and then the seed. A scenario whose file says its split keeps it, and its cluster too.

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
    given: dict[str, Split | None] = {name: _given(found) for name, found in groups.items()}
    balance = _Balance(share)
    found: dict[str, Split] = {}
    for name in sorted(groups, key=lambda name: (given[name] is None, -len(groups[name]), _order(seed, groups[name]))):
        split: Split = given[name] or balance.side(groups[name], _order(seed, groups[name]))
        balance.add(groups[name], split)
        for one in groups[name]:
            found[one.id] = split
    return {one.id: found[one.id] for one in scenarios}


class SplitError(ValueError):
    """Scenarios that belong together are in different splits; `ids` are theirs."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__(f"{', '.join(ids)} share a canvas, wording or reference, and are in different splits")
        self.ids = tuple(ids)


def _given(cluster: Sequence[Scenario]) -> Split | None:
    said: list[Split] = [one.split for one in cluster if "split" in one.model_fields_set]
    if len(set(said)) > 1:
        raise SplitError([one.id for one in cluster])
    return said[0] if said else None


class _Balance:
    """How many scenarios of each kind, and with each feature, were divided so far."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._seen: Counter[str] = Counter()
        self._test: Counter[str] = Counter()

    def side(self, cluster: Sequence[Scenario], order: str) -> Split:
        """Where a cluster should go: by its kinds, then by its difficulty, then by chance that the seed decides."""
        gain = self._gains(_kinds(cluster)) or self._gains(_difficulty(cluster))
        chance = int(order[:8], 16) / 16**8 < self._share
        return "test" if gain > 0 or (gain == 0 and chance) else "dev"

    def add(self, cluster: Sequence[Scenario], split: Split) -> None:
        """Count a cluster that was divided."""
        counted = _kinds(cluster) + _difficulty(cluster)
        self._seen.update(counted)
        if split == "test":
            self._test.update(counted)

    def _gains(self, counted: Counter[str]) -> float:
        return round(sum(self._gain(name, count) for name, count in sorted(counted.items())), 9)

    def _gain(self, name: str, count: int) -> float:
        """How much nearer test comes to its share of something when so many more go there rather than to dev."""
        wanted, there = self._share * (self._seen[name] + count), self._test[name]
        return abs(there - wanted) - abs(there + count - wanted)


def _kinds(cluster: Sequence[Scenario]) -> Counter[str]:
    return Counter(f"of kind {kind_of(one)}" for one in cluster)


def _difficulty(cluster: Sequence[Scenario]) -> Counter[str]:
    return Counter(feature for one in cluster for feature in features(one))


def _order(seed: str, cluster: Sequence[Scenario]) -> str:
    ids = ",".join(sorted(one.id for one in cluster))
    return hashlib.sha256(f"{seed}\n{ids}".encode()).hexdigest()
