"""The smallest fix of a failed flow: the fewest changes towards the nearest right flow that make it pass."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from evals.oracles.matching import match
from evals.oracles.scored_flow import scored_flow
from flows.actions import Arrange, FlowAction, StaleAction, apply_all
from flows.catalogue import Catalogue
from flows.diff import diff
from flows.document import Flow
from flows.edits.node_ids import relabel
from flows.fingerprints import fingerprint

TRIES = 64
"""How many flows are tried at most; each may cost runs."""

Passes = Callable[[Flow], Awaitable[bool]]
"""Whether a flow is good enough, such as: every probe gives what it must."""


@dataclass(frozen=True, kw_only=True)
class MinimalFix:
    """The changes that would have made a flow pass.

    Attributes:
        whole: how many changes lead all the way to the right flow.
        proven: whether every smaller set was tried; otherwise only no single one of these changes can be left out.
    """

    actions: tuple[FlowAction, ...]
    flow: Flow
    whole: int
    tries: int
    proven: bool


async def minimal_fix(
    made: Flow, right: Sequence[Flow], catalogue: Catalogue, passes: Passes, *, tries: int = TRIES
) -> MinimalFix | None:
    """Find the fewest changes that make a flow pass.

    Sets of changes are tried by size, smallest first, until one passes or the tries are used up; then the whole
    difference is reduced by leaving out one change at a time (Zeller and Hildebrandt 2002, the last step of ddmin).

    Args:
        made: the flow that failed.
        right: the flows that are right; the nearest one, by number of changes, is the aim.
        passes: the test; asked once for each flow.

    Returns:
        The fix, or None when not even the right flow passes, or there is none.
    """
    ways = [_changes(made, flow, catalogue) for flow in right]
    if not ways:
        return None
    way = min(ways, key=len)
    tried = _CachedTest(passes)
    if not way or not await tried(_applied(made, way)):
        return None
    for size in range(1, len(way)):
        for chosen in combinations(range(len(way)), size):
            if tried.count >= tries:
                return await _reduced(made, way, tried)
            actions = [way[at] for at in chosen]
            if await tried(_applied(made, actions)):
                return _fix(made, actions, way, tried, proven=True)
    return _fix(made, way, way, tried, proven=True)


class _CachedTest:
    """The test, run once for each distinct flow."""

    def __init__(self, passes: Passes) -> None:
        self._passes = passes
        self._known: dict[str, bool] = {}

    @property
    def count(self) -> int:
        return len(self._known)

    async def __call__(self, flow: Flow | None) -> bool:
        if flow is None:
            return False
        name = fingerprint(flow)
        if name not in self._known:
            self._known[name] = await self._passes(flow)
        return self._known[name]


async def _reduced(made: Flow, way: Sequence[FlowAction], tried: _CachedTest) -> MinimalFix:
    kept = list(way)
    for action in list(reversed(way)):
        without = [other for other in kept if other is not action]
        if without and await tried(_applied(made, without)):
            kept = without
    return _fix(made, kept, way, tried, proven=False)


def _fix(
    made: Flow, actions: Sequence[FlowAction], way: Sequence[FlowAction], tried: _CachedTest, *, proven: bool
) -> MinimalFix:
    flow = apply_all(made, actions)
    return MinimalFix(actions=tuple(actions), flow=flow, whole=len(way), tries=tried.count, proven=proven)


def _applied(made: Flow, actions: Sequence[FlowAction]) -> Flow | None:
    """The flow with some of the changes, or None when one needs another that is left out."""
    try:
        flow = apply_all(made, actions)
    except StaleAction:
        return None
    nodes = {node.id for node in flow.nodes}
    return flow if all({edge.source, edge.target} <= nodes for edge in flow.edges) else None


def _changes(made: Flow, right: Flow, catalogue: Catalogue) -> list[FlowAction]:
    """The changes from one flow to the other, its components matched by what they hold; places do not count."""
    ids = match(scored_flow(right, catalogue), scored_flow(made, catalogue))
    aim = relabel(right, _new_ids(right, ids, {node.id for node in made.nodes}))
    aim = made.with_parts(nodes=[node.raw for node in aim.nodes], edges=[edge.raw for edge in aim.edges])
    return [action for action in diff(made, aim) if not isinstance(action, Arrange)]


def _new_ids(flow: Flow, ids: Mapping[str, str], taken: set[str]) -> dict[str, str]:
    """The id of each component: that of its match, or one that is free."""
    return {node.id: ids.get(node.id) or (node.id if node.id not in taken else f"{node.id}-new") for node in flow.nodes}
