"""What differs between two states of one node, as the actions that a person would recognise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from flows.actions import (
    Amend,
    Arrange,
    Configure,
    NodeAction,
    NodeChange,
    SelectOutput,
    SetConnectionMode,
    SetToolMode,
    field_path,
)
from flows.document import Node
from flows.fields.model_values import CONNECTED
from flows.fields.prompts import PROMPT_TYPES
from flows.json_values import MISSING, JsonPath, MaybeJson, Missing, as_text, get_at, same_json

_Fits: TypeAlias = Callable[[JsonPath], bool]
_TEMPLATE = ("data", "node", "template")
_TOOL_MODE = ("data", "node", "tool_mode")
_OUTPUTS = ("data", "node", "outputs")
_SELECTED = ("data", "selected_output")


def changed_places(old: MaybeJson, new: MaybeJson, *, depth: int = 12, path: JsonPath = ()) -> list[NodeChange]:
    """Return the places where two JSON values differ: only objects are looked into, up to `depth` levels."""
    if same_json(old, new):
        return []
    if not (isinstance(old, dict) and isinstance(new, dict)) or len(path) >= depth:
        return [NodeChange(path, old, new)]
    found: list[NodeChange] = []
    for key in dict.fromkeys([*old, *new]):
        found += changed_places(old.get(key, MISSING), new.get(key, MISSING), depth=depth, path=(*path, key))
    return found


def node_actions(old: Node, new: Node) -> list[NodeAction]:
    """Return the actions that make `old` into `new`, a node of the same id; together they say every difference."""
    changes = _Changes(changed_places(old.raw, new.raw))
    actions: list[NodeAction] = []
    outer: dict[str, None] = {str(change.path[0]): None for change in changes.take(lambda path: path[0] != "data")}
    actions += [Arrange(old.id, key, old.raw.get(key, MISSING), new.raw.get(key, MISSING)) for key in outer]
    tool = changes.take(lambda path: path == _TOOL_MODE)
    if tool:
        also = (*tool, *changes.take(lambda path: path == _OUTPUTS))
        actions.append(SetToolMode(old.id, enabled=new.tool_mode, also=also))
    selected = changes.take(lambda path: path == _SELECTED)
    actions += [SelectOutput(old.id, change.old, change.new) for change in selected]
    actions += _field_actions(old, new, changes)
    if changes.left:
        actions.append(Amend(old.id, tuple(changes.left)))
    return actions


def _field_actions(old: Node, new: Node, changes: _Changes) -> list[NodeAction]:
    actions: list[NodeAction] = []
    valued = [
        name
        for name in new.template
        if name in old.template and any(change.path == (*field_path(name), "value") for change in changes.left)
    ]
    for name in sorted(valued, key=lambda name: as_text(new.template[name].get("type")) not in PROMPT_TYPES):
        path = field_path(name)
        (value,) = changes.take(lambda place, path=path: place == (*path, "value"))
        also = changes.take(lambda place, path=path: place[:4] == path)
        if as_text(new.template[name].get("type")) in PROMPT_TYPES:
            # Variables come and go with their template.
            also += changes.take(lambda place: _is_variable(place, old, new))
        kind = as_text(new.template[name].get("type"))
        if kind == "model" and not also and CONNECTED in (value.old, value.new):
            actions.append(SetConnectionMode(old.id, name, value.old, value.new))
        else:
            actions.append(Configure(old.id, name, value.old, value.new, tuple(also)))
    return actions


def _is_variable(place: JsonPath, old: Node, new: Node) -> bool:
    if place[:3] == ("data", "node", "custom_fields"):
        return True
    if place[:3] != _TEMPLATE or len(place) != 4:
        return False
    return isinstance(get_at(old.raw, place), Missing) or isinstance(get_at(new.raw, place), Missing)


class _Changes:
    """The changes that no action says yet."""

    def __init__(self, changes: Iterable[NodeChange]) -> None:
        self.left = list(changes)

    def take(self, fits: _Fits) -> list[NodeChange]:
        """Take out the changes whose path fits."""
        taken = [change for change in self.left if fits(change.path)]
        self.left = [change for change in self.left if not fits(change.path)]
        return taken
