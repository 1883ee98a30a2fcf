"""The one place that decides whether what a call would do is covered by the mandate, or has to be asked."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from flows.document import Node
from tools.consent.hosts import is_asked_about, is_run_asked_about
from tools.mandate import Effect, best_named, name_words
from tools.workbench import Workbench

Kind: TypeAlias = Literal[
    "remove",
    "replace",
    "cut",
    "rewire",
    "set",
    "text",
    "secret",
    "overwrite",
    "component",
    "install",
    "undo",
    "send",
    "run",
]
"""What an act is: a component that goes, or whose type changes; a connection that goes, or gives way; a value, a text
or a secret that is replaced; a file that is overwritten; a component that is written; packages that are installed;
earlier turns that are taken back; something that is sent to a host."""


@dataclass(frozen=True)
class Act:
    """One thing that a call would do to what the user has, or with it.

    Attributes:
        kind: what it is.
        target: a component's id, a connection as text, a file's path, or the name of a host or of what is installed.
        ends: the components that a connection joins; for one that gives way, its old source before its new ends.
        field: the field of a value, text or secret.
        among: for a file, all files; for what is installed, its names.
    """

    kind: Kind
    target: str
    ends: tuple[str, ...] = ()
    field: str = ""
    among: tuple[str, ...] = ()


def uncovered(bench: Workbench, acts: Iterable[Act]) -> list[Act]:
    """The acts that the user has to be asked about, because their words do not ask for them.

    What the user means without naming it ("the last step") covers as many removals as there are such targets.

    Args:
        bench: has the mandate, and the canvas as it was when the turn began.
        acts: what a call would do.
    """
    decision = _Decision(bench)
    left = [act for act in acts if not decision.covers(act)]
    removals = [act for act in left if act.kind in {"remove", "replace", "cut"}]
    if removals and len(removals) <= decision.unnamed_removals():
        return [act for act in left if act not in removals]
    return left


_CHANGES: tuple[Effect, ...] = ("edit", "replace_text", "remove")
"""Kinds of effect that allow something to be changed."""

_PACKAGING = frozenset({"bundle", "lfx"})
"""Words in the names of packages that say nothing of what is in them."""


class _Decision:
    """What a turn's mandate covers on its canvas."""

    def __init__(self, bench: Workbench) -> None:
        self._bench, self._mandate = bench, bench.mandate
        nodes = bench.initial_flow.components
        self._names = {node.id: name_words([node.type, node.display_name, node.id]) for node in nodes}
        self._types = {node.id: name_words([node.type, self._shown(node)]) for node in nodes}
        self._meant = dict[str, set[str]]()

    def covers(self, act: Act) -> bool:
        """Whether the user's words ask for an act."""
        mandate = self._mandate
        match act.kind:
            case "remove":
                return self._covers(act.target, "remove")
            case "replace":
                return self._covers(act.target, "remove") or self._names_node(act.target, "edit")
            case "cut":
                return any(self._covers(end, "remove") for end in act.ends)
            case "rewire":
                given_way, *ends = act.ends
                return self._covers(given_way, "remove") or any(self._covers(end, *_CHANGES) for end in ends)
            case "set" | "text":
                return self._covers(act.target, *_CHANGES) or self._names_field(act) or self._leaves_open()
            case "secret":
                return self._names_node(act.target, *_CHANGES) or self._names_field(act)
            case "overwrite":
                return self._may_overwrite(act)
            case "component":
                return mandate.asks("write_components")
            case "install":
                known = {act.target: name_words([act.target, *act.among]) - _PACKAGING}
                return mandate.covers("install", act.target, known)
            case "undo":
                return mandate.asks("undo")
            case "send" | "run" as how:
                return not (is_run_asked_about if how == "run" else is_asked_about)(self._bench, act.target)

    def unnamed_removals(self) -> int:
        """How many further components the user wants removed that they do not name."""
        names = self._names
        gone = [one for one in names if self._bench.flow.node(one) is None and not self._names_node(one, "remove")]
        return self._mandate.unclear("remove", names) - len(gone)

    def _covers(self, node: str, *effects: Effect) -> bool:
        return any(self._mandate.is_open(one) for one in effects) or self._names_node(node, *effects)

    def _names_node(self, node: str, *effects: Effect) -> bool:
        """Whether the message names a component for an effect."""
        return any(node in self._nodes(one) for effect in effects for one in self._mandate.effects.get(effect, ()))

    def _nodes(self, target: str) -> set[str]:
        """The components that a target names; the name of a type comes before names that others may have given."""
        if target not in self._meant:
            named = best_named(target, self._names)
            self._meant[target] = (named & best_named(target, self._types)) or named
        return self._meant[target]

    def _names_field(self, act: Act) -> bool:
        """Whether a target names the field, and no other component than the field's own."""
        node = self._bench.initial_flow.node(act.target)
        field = None if node is None else node.field(act.field)
        if field is None:
            return False
        words = {act.field: name_words([act.field, str(field.get("display_name") or "")])}
        targets = (one for effect in _CHANGES for one in self._mandate.effects.get(effect, ()))
        return any(self._nodes(one) <= {act.target} for one in targets if best_named(one, words))

    def _leaves_open(self) -> bool:
        """Whether the message wants something edited that names neither a component nor a field ("a kinder tone")."""
        targets = (one for effect in ("edit", "replace_text") for one in self._mandate.effects.get(effect, ()))
        return any(not self._nodes(one) and not name_words([one]) & self._fields for one in targets)

    @cached_property
    def _fields(self) -> set[str]:
        """The names of fields in one word, such as `temperature`."""
        nodes = self._bench.initial_flow.components
        words = [name_words([name]) for node in nodes for name in node.template]
        return {word for some in words if len(some) == 1 for word in some}

    def _may_overwrite(self, act: Act) -> bool:
        """Whether the user's words ask for one of their files to be overwritten; there is no way back from that."""
        target, bench, mandate = act.target.casefold(), self._bench, self._mandate
        listed = {one.casefold() for one in act.among}
        if target not in listed or any(one.path.casefold() == target for one in bench.files):
            return True
        names = {one: name_words([one.rpartition(".")[0] or one]) for one in listed}
        named: tuple[Effect, ...] = ("write_files", "edit", "replace_text", "remove")
        if mandate.covers("overwrite_files", target, names) or any(mandate.names(one, target, names) for one in named):
            return True
        known = len(names) == 1 or target in {one.casefold() for one, _ in bench.attached}
        return known and bool(mandate.unclear("overwrite_files", names))

    def _shown(self, node: Node) -> str:
        known = self._bench.catalogue.get(node.type)
        return "" if known is None else known.display_name
