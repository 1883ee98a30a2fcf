"""The split of a set of scenarios into `dev` and `test`: of equal difficulty, and no cluster in both.

A prompt is worked on with one half and measured on the other. Both must ask the same of a player, or a difference says
nothing, and a scenario whose twin was worked on is not unseen. So whole clusters (`cluster_keys`) are
assigned, the largest first, each to the half in which it makes both more equal: in size, kinds and languages, in the
number of messages, in the size of canvases and reference flows, and in what takes part (models, services, files,
approvals). What has been assigned stays where it is: a scenario that was worked on is never unseen again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from evals.cluster_keys import Linked, cluster_keys
from evals.scenario import Scenario, Split
from evals.scenarios.coverage import kind_of, language_of

SPLITS: Final[tuple[Split, Split]] = ("dev", "test")

_SIZES: Final = ((4, "small"), (9, "medium"))
"""Components up to which a flow counts as small or medium; a larger one is large."""


def assign(scenarios: Sequence[Scenario], given: Mapping[str, Split] | None = None) -> dict[str, Split]:
    """The split of each scenario, by id.

    Args:
        scenarios: in any order.
        given: what is assigned already, by id; a cluster goes where the first of its scenarios by id was.
    """
    stated: Mapping[str, Split] = {} if given is None else given
    found: dict[str, Split] = {}
    balance = _Balance()

    def place(cluster: Sequence[Scenario], split: Split) -> None:
        balance.add(cluster, split)
        for one in cluster:
            found[one.id] = split

    new: list[list[Scenario]] = []
    for cluster in _clusters(scenarios):
        before: list[Split] = [stated[one.id] for one in cluster if one.id in stated]
        if before:
            place(cluster, before[0])
        else:
            new.append(cluster)
    for cluster in sorted(new, key=_order):
        place(cluster, balance.better_half(cluster))
    return found


def features(scenario: Scenario) -> tuple[str, ...]:
    """What of a scenario should be equally frequent in both halves, as it makes it easier or harder."""
    parts = {
        "model": bool(scenario.models),
        "service": bool(scenario.services),
        "file": bool(scenario.files),
        "approvals": scenario.approvals != "approve",
        "own": bool(scenario.components),
        "run": any(turn.run is not None for turn in scenario.turns),
    }
    kind, language = kind_of(scenario), language_of(scenario)
    return (
        "all",
        f"kind {kind}",
        f"language {language}",
        f"{kind} in {'English' if language == 'en' else 'another language'}",
        f"{min(len(scenario.turns), 3)} messages",
        f"canvas {_size(scenario.canvas)}",
        f"reference {_size(scenario.reference)}",
        f"{kind} {_size(scenario.reference)}",
        *(name for name, there in parts.items() if there),
    )


class _Balance:
    """How much of each feature both halves hold."""

    def __init__(self) -> None:
        self._held: dict[Split, Counter[str]] = {split: Counter() for split in SPLITS}

    def add(self, cluster: Iterable[Scenario], split: Split) -> None:
        for one in cluster:
            self._held[split].update(features(one))

    def better_half(self, cluster: Sequence[Scenario]) -> Split:
        """The half whose choice leaves the smaller sum of squared differences; equal ones are chosen by a hash."""
        added = Counter(feature for one in cluster for feature in features(one))
        dev, test = (self._held[split] for split in SPLITS)
        change = sum(4 * count * (dev[feature] - test[feature]) for feature, count in added.items())
        if change == 0:
            return SPLITS[int(_hash(cluster[0].id), 16) % 2]
        return "test" if change > 0 else "dev"


def _clusters(scenarios: Iterable[Scenario]) -> list[list[Scenario]]:
    """The clusters, each by id."""
    linked = Linked()
    by_id = {one.id: one for one in sorted(scenarios, key=lambda one: one.id)}
    for one in by_id.values():
        linked.add(one.id)
        for key in cluster_keys(one):
            linked.link(one.id, key)
    found: dict[str, list[Scenario]] = {}
    for name, root in linked.names().items():
        found.setdefault(root, []).append(by_id[name])
    return list(found.values())


def _order(cluster: Sequence[Scenario]) -> tuple[int, str]:
    return -len(cluster), _hash(cluster[0].id)


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def _size(flow: str | None) -> str:
    """How large a flow is, by the components that its text lists; a flow in JSON counts as medium."""
    if flow is None:
        return "none"
    if flow.lstrip().startswith("{"):
        return "medium"
    body = flow.partition("nodes:\n")[2].partition("edges:\n")[0]
    count = sum(1 for line in body.splitlines() if line.strip())
    return next((name for most, name in _SIZES if count <= most), "large")
