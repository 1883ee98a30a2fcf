"""The one place that compares what a call would do with what the user's words ask for."""

import re
from collections.abc import Collection, Mapping

from tools.consent.losses import Losses, Rewired
from tools.mandate import Effect, Mandate, allows_removal, name_words, node_names, taken_out
from tools.workbench import Workbench

_BACK = re.compile(r"\b(?:again|back|before|redo|restore|revert|undo|undone)\b", re.IGNORECASE)
"""Words that ask to go back."""


def unasked_losses(bench: Workbench, lost: Losses) -> Losses:
    """What the user would lose without having asked for it.

    With a mandate, it decides. Before the turn has read others' text, wanting something edited allows removing it;
    afterwards only wanting it removed does. What the user means without naming it ("the last step") allows as many
    removals as there are such words. Without a mandate, nothing is asked before others' text was read, and afterwards
    the words of the message decide.

    Args:
        bench: the workbench.
        lost: what an edit takes.
    """
    names = node_names(bench.initial_flow)
    if not bench.mandate.is_read:
        return _by_words(bench, lost, names)
    allowed = _Allowed(bench, names)
    found = Losses(
        removed=tuple(node for node in lost.removed if not allowed.removal(node)),
        replaced=tuple(node for node in lost.replaced if not allowed.replacement(node)),
        cut=tuple(edge for edge in lost.cut if not (allowed.removal(edge.source) or allowed.removal(edge.target))),
        rewired=tuple(one for one in lost.rewired if not allowed.rewiring(one)),
    )
    gone = [node for node in names if bench.flow.node(node) is None and not allowed.removal(node)]
    meant = bench.mandate.unclear("remove", names) - len(gone)
    if found.replaced:
        meant += bench.mandate.unclear("edit", names)
    if len(found.removed) + len(found.replaced) + len(found.cut) <= meant:
        return Losses(rewired=found.rewired)
    return found


class _Allowed:
    """What a mandate allows on a canvas."""

    def __init__(self, bench: Workbench, names: Mapping[str, Collection[str]]) -> None:
        self._mandate: Mandate = bench.mandate
        self._names = names
        self._tainted = bench.tainted
        self._said = taken_out(bench.request_text, names)
        self._words = bench.request_text

    def removal(self, node: str) -> bool:
        if self._covers("remove", node) or node in self._said:
            return True
        return not self._tainted and (
            self._covers("edit", node)
            or bool(self._mandate.unclear("edit", self._names))
            or allows_removal([node], self._words, self._names)
        )

    def replacement(self, node: str) -> bool:
        named = self._covers("edit", node) and not self._mandate.is_open("edit")
        return named or self.removal(node)

    def rewiring(self, one: Rewired) -> bool:
        ends = (one.source, one.edge.target)
        wanted = (
            any(self._covers("edit", end) for end in ends) or self.removal(one.edge.source) or self.removal(ends[1])
        )
        return wanted or bool(self._mandate.unclear("edit", self._names))

    def _covers(self, effect: Effect, node: str) -> bool:
        return self._mandate.covers(effect, node, self._names)


def _by_words(bench: Workbench, lost: Losses, names: Mapping[str, Collection[str]]) -> Losses:
    if not bench.tainted:
        return Losses()

    def refused(*nodes: str) -> bool:
        known = [node for node in nodes if node in names]
        return bool(known) and not allows_removal(known, bench.request_text, names)

    return Losses(
        removed=tuple(node for node in lost.removed if refused(node)),
        replaced=tuple(node for node in lost.replaced if refused(node)),
        cut=tuple(edge for edge in lost.cut if refused(edge.source, edge.target)),
        rewired=tuple(one for one in lost.rewired if refused(one.edge.source, one.edge.target)),
    )


def may_overwrite(bench: Workbench, path: str, listed: Collection[str]) -> bool:
    """Whether the user's words ask for one of their files to be overwritten; there is no way back from that.

    Args:
        bench: the workbench.
        path: the file.
        listed: all files of the user's.
    """
    target = path.casefold()
    if target not in {one.casefold() for one in listed} or any(one.path.casefold() == target for one in bench.files):
        return True
    names = {one.casefold(): name_words([one.rpartition(".")[0]]) for one in listed}
    mandate = bench.mandate
    if not mandate.is_read:
        return not bench.tainted or allows_removal([target], bench.request_text, names)
    named: tuple[Effect, ...] = ("write_files", "edit", "replace_text", "remove")
    if mandate.covers("overwrite_files", target, names) or target in taken_out(bench.request_text, names):
        return True
    if any(not mandate.is_open(one) and mandate.covers(one, target, names) for one in named):
        return True
    known = len(names) == 1 or target in {one.casefold() for one, _ in bench.attached}
    return bool(mandate.unclear("overwrite_files", names)) and (known or not bench.tainted)


def may_undo(bench: Workbench) -> bool:
    """Whether the user's words ask to go back: they want something edited or removed that has no name of its own."""
    if not bench.tainted:
        return True
    names = node_names(bench.initial_flow)
    kinds: tuple[Effect, ...] = ("edit", "remove")
    if _BACK.search(bench.request_text):
        return True
    return any(bench.mandate.is_open(kind) or bench.mandate.unclear(kind, names) for kind in kinds)
