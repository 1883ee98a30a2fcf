"""The smallest fix of a failed flow: the fewest changes towards the nearest reference flow that make it pass."""

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
"""The most flows that are tried; each may cost runs."""

Passes = Callable[[Flow], Awaitable[bool]]
"""Whether a flow passes, such as: every probe gives the expected output."""


@dataclass(frozen=True, kw_only=True)
class MinimalFix:
    """The changes that would have made a flow pass.

    Attributes:
        whole: how many changes lead all the way to the reference flow.
        proven: whether every smaller set was tried; otherwise, no single one of these changes can be left out.
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
        right: the reference flows; the nearest one, by number of changes, is the target.
        passes: the test; called once for each distinct flow.

    Returns:
        The fix, or None if there is no reference flow or even the nearest one does not pass.
    """
    changes = min((_changes(made, flow, catalogue) for flow in right), key=len, default=list[FlowAction]())
    search = _Search(made, changes, passes)
    if not changes or not await search.passes_with(changes):
        return None
    for size in range(1, len(changes)):
        for actions in combinations(changes, size):
            if len(search.known) >= tries:
                return await search.reduce()
            if await search.passes_with(actions):
                return search.fix(actions, proven=True)
    return search.fix(changes, proven=True)


class _Search:
    """Sets of changes, with the test run once for each distinct flow."""

    def __init__(self, made: Flow, changes: Sequence[FlowAction], passes: Passes) -> None:
        self._made = made
        self._changes = changes
        self._passes = passes
        self.known: dict[str, bool] = {}

    async def passes_with(self, actions: Sequence[FlowAction]) -> bool:
        """Whether the flow passes with some of the changes; not if one needs another that is left out."""
        try:
            flow = apply_all(self._made, actions)
        except StaleAction:
            return False
        nodes = {node.id for node in flow.nodes}
        if not all({edge.source, edge.target} <= nodes for edge in flow.edges):
            return False
        name = fingerprint(flow)
        if name not in self.known:
            self.known[name] = await self._passes(flow)
        return self.known[name]

    async def reduce(self) -> MinimalFix:
        """All changes without those that can be left out one by one."""
        kept = list(self._changes)
        for action in reversed(self._changes):
            without = [other for other in kept if other is not action]
            if without and await self.passes_with(without):
                kept = without
        return self.fix(kept, proven=False)

    def fix(self, actions: Sequence[FlowAction], *, proven: bool) -> MinimalFix:
        """The fix of these changes."""
        flow, whole = apply_all(self._made, actions), len(self._changes)
        return MinimalFix(actions=tuple(actions), flow=flow, whole=whole, tries=len(self.known), proven=proven)


def _changes(made: Flow, right: Flow, catalogue: Catalogue) -> list[FlowAction]:
    """The changes from one flow to the other, with components matched by content; positions do not count."""
    ids = match(scored_flow(right, catalogue), scored_flow(made, catalogue))
    target = relabel(right, _new_ids(right, ids, {node.id for node in made.nodes}))
    target = made.with_parts(nodes=[node.raw for node in target.nodes], edges=[edge.raw for edge in target.edges])
    return [action for action in diff(made, target) if not isinstance(action, Arrange)]


def _new_ids(flow: Flow, ids: Mapping[str, str], taken: set[str]) -> dict[str, str]:
    """The id of each component: that of its match, or an unused one."""
    return {node.id: ids.get(node.id) or (node.id if node.id not in taken else f"{node.id}-new") for node in flow.nodes}
