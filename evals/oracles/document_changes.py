"""What a player changed in the document of a flow beside its components' values and connections, and nobody asked for.

Everything counts that the document holds: places, ids, descriptions, how fields are shown, notes, the flow's own name
and settings. What a right flow changes too, what follows from a change that was asked for, and what the scenario lets
change (`expect.may_change`) do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from evals.case import Case
from evals.oracles.room import moved_unasked
from evals.oracles.scored_flow import same_value
from evals.scenarios.flows import read_flow, spec_ids
from flows.actions import (
    AddComponent,
    Connect,
    Disconnect,
    FlowAction,
    NodeChange,
    RemoveComponent,
    SetDetail,
    SetFlow,
    node_changes,
)
from flows.diff import diff
from flows.document import Flow, Node
from flows.edits import EditError, configure
from flows.json_values import MISSING, JsonPath, get_at, same_json

_SHOWN: Final = frozenset(
    {"selected", "dragging", "resizing", "measured", "width", "height", "positionAbsolute", "zIndex"}
)
"""What the canvas itself writes into a node when it shows it."""
_STAMPS: Final = frozenset({"last_updated", "updated_at", "last_tested_version"})
"""What a save writes."""
_TEMPLATE: Final = ("data", "node", "template")
_PORTS: Final = frozenset({("data", "selected_output"), ("data", "node", "tool_mode"), ("data", "node", "outputs")})
"""What connecting a component may change in it."""


def unasked_changes(case: Case) -> list[str]:
    """Each change of the document that nobody asked for, by its place; for the nearest right flow, sorted."""
    return min((_Changes(case, target).unasked() for target in case.target_flows), key=len)


@dataclass(frozen=True)
class _Place:
    """A changed place: as it is shown, and as `may_change` may name it."""

    shown: str
    names: tuple[str, ...]

    def fits(self, pattern: str) -> bool:
        return any(fnmatchcase(name, pattern) for name in self.names)


class _Changes:
    """The changes of one attempt, beside one right flow."""

    def __init__(self, case: Case, target: Flow) -> None:
        self.case, self.target = case, target
        self.before, self.after = case.before, case.after
        since = case.scenario.turns[case.last_edit or 0 :]
        self.rights = (target, *(read_flow(turn.flow, case.catalogue) for turn in since if turn.flow))
        self.names: Mapping[str, str] = _names(case) if case.scenario.expect.may_change else dict[str, str]()

    def unasked(self) -> list[str]:
        allowed = self.case.scenario.expect.may_change
        found = {place.shown for place in self._places() if not any(place.fits(pattern) for pattern in allowed)}
        return sorted(found)

    def _places(self) -> Iterator[_Place]:
        for action in diff(self.before, self.after):
            yield from self._of_action(action)
        for node_id in moved_unasked(self.before, self.after):
            node = self.before.node(node_id)
            yield self._place(node_id, "position", f"moved: {node.display_name if node else node_id}")

    def _of_action(self, action: FlowAction) -> Iterator[_Place]:
        match action:
            case Connect() | Disconnect():
                return  # connections are compared by what they join
            case AddComponent(node=raw) if Node(raw).is_note:
                yield self._place(Node(raw).id, "added", "a sticky note was added")
            case RemoveComponent(node=raw) if Node(raw).is_note:
                yield self._place(Node(raw).id, "removed", "a sticky note is gone")
            case RemoveComponent(node=raw):
                if all(_has(right, Node(raw)) for right in self.rights):
                    name = Node(raw).display_name
                    yield self._place(Node(raw).id, "id", f"gone, or under another id: {name}")
            case AddComponent():
                return  # new components are judged by what they do
            case SetDetail():
                yield from self._detail(action)
            case SetFlow():
                yield _Place("the document as a whole (components share an id, or connections lead nowhere)", ("flow",))
            case _:
                yield from self._of_node(action.node, node_changes(action))

    def _detail(self, action: SetDetail) -> Iterator[_Place]:
        name = ".".join(map(str, action.path[1:] if action.path[0] == "data" else action.path))
        if not name.startswith("viewport") and name not in _STAMPS:
            yield _Place(f"the flow's {name}", (name,))

    def _of_node(self, node_id: str, changes: tuple[NodeChange, ...]) -> Iterator[_Place]:
        node, now = self.before.node(node_id), self.after.node(node_id)
        if node is None or now is None:
            return
        if node.is_note:
            kept = [each for each in changes if str(each.path[0]) not in _SHOWN]
            if kept:
                yield self._place(node_id, ".".join(map(str, kept[0].path)), f"a sticky note: {kept[0].path[-1]}")
            return
        follows = self._replayed(node, now)
        for change in changes:
            if not self._asked(node, change, follows):
                what = _what(change.path)
                yield self._place(node_id, what, f"{node.display_name}: {what}")

    def _asked(self, node: Node, change: NodeChange, follows: Node) -> bool:
        path = change.path
        if path[0] in _SHOWN or path[0] == "position" or path[-1] in _STAMPS:
            return True  # places are judged together
        if same_json(get_at(follows.raw, path), change.new):
            return True
        rights = [right for each in self.rights if (right := each.node(node.id)) is not None]
        if path[:3] == _TEMPLATE and len(path) == 5 and path[4] == "value":
            name = str(path[3])
            if name == "code":
                return str(change.old).split() == str(change.new).split()
            same = same_value(node.value(name), None if change.new is MISSING else change.new)
            return same or name in self._fields(node) or self._joined(node.id, name)
        if path == ("data", "node", "display_name"):
            return any(right.display_name != node.display_name for right in rights)
        return path in _PORTS and self._joined(node.id, None)

    def _fields(self, node: Node) -> set[str]:
        """The fields of a component that right flows set to something else."""
        return {
            name
            for each in self.rights
            if (right := each.node(node.id)) is not None
            for name in {*node.template, *right.template}
            if not same_value(node.value(name), right.value(name))
        }

    def _joined(self, node_id: str, field: str | None) -> bool:
        """Whether a connection of a component, or of one of its fields, came or went."""
        ends = [
            {edge.text for edge in flow.edges if _touches(edge.source, edge.target, edge.target_port, node_id, field)}
            for flow in (self.before, self.after)
        ]
        return ends[0] != ends[1]

    def _replayed(self, node: Node, now: Node) -> Node:
        """The component as the flow layer makes it when the fields that were asked for get what they got."""
        values = {
            name: value
            for name in sorted(self._fields(node) & set(now.template), key=lambda name: name != "template")
            if not same_value(node.value(name), value := now.value(name))
        }
        try:
            flow = configure(self.before, self.case.catalogue, node.id, values).flow if values else self.before
        except EditError:  # the flow layer does not know the component, or refuses the value
            return node
        return flow.node(node.id) or node

    def _place(self, node_id: str, what: str, shown: str) -> _Place:
        node = self.before.node(node_id) or self.after.node(node_id)
        names = [node_id, self.names.get(node_id, node_id)]
        return _Place(shown, (*(f"{name}.{what}" for name in names), *(["notes"] if node and node.is_note else [])))


def _names(case: Case) -> Mapping[str, str]:
    """The ids in the text of the canvas, by those of its components."""
    canvas = case.scenario.canvas if case.last_edit is None else case.scenario.turns[case.last_edit].edit
    return {} if canvas is None else {node_id: name for name, node_id in spec_ids(canvas, case.catalogue).items()}


def _has(flow: Flow, node: Node) -> bool:
    there = flow.node(node.id)
    return there is not None and there.type == node.type


def _touches(source: str, target: str, port: str, node_id: str, field: str | None) -> bool:
    return (target == node_id and field in {None, port}) or (field is None and source == node_id)


def _what(path: JsonPath) -> str:
    """A place in a component, without what all places have."""
    prefix = _TEMPLATE if path[:3] == _TEMPLATE else ("data", "node") if path[:2] == ("data", "node") else ("data",)
    return ".".join(map(str, path[len(prefix) :] if path[: len(prefix)] == prefix else path))
