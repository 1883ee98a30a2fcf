"""Flow actions as JSON documents and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, cast, get_args

from flows.actions import FlowAction, IndexedEdge, NodeChange
from flows.json_values import (
    MISSING,
    Json,
    JsonObject,
    JsonPath,
    MaybeJson,
    Missing,
    NotJsonError,
    as_list,
    as_object,
    copy_json,
)


class ActionFormatError(ValueError):
    """A document that is not a flow action."""


def action_to_json(action: FlowAction) -> JsonObject:
    """Return the action as a JSON object; a missing `old` or `new` has no key."""
    written: JsonObject = {"kind": action.kind}
    for entry in fields(action):
        value: object = getattr(action, entry.name)
        if entry.name == "edges":
            pairs = cast("tuple[IndexedEdge, ...]", value)
            written["edges"] = [[index, copy_json(edge)] for index, edge in pairs]
        elif entry.name == "also":
            written["also"] = [_change_to_json(change) for change in cast("tuple[NodeChange, ...]", value)]
        elif entry.name == "path":
            written["path"] = list(cast("JsonPath", value))
        elif not isinstance(value, Missing):
            written[entry.name] = copy_json(value)
    return written


def action_from_json(obj: object) -> FlowAction:
    """Return the action in `obj`.

    Raises:
        ActionFormatError: `obj` is not an action.
    """
    try:
        raw = as_object(copy_json(obj))
    except NotJsonError as error:
        raise ActionFormatError(f"The action is not JSON: {error}") from None
    kind = raw.get("kind")
    action_class = _CLASSES.get(kind) if isinstance(kind, str) else None
    if action_class is None:
        raise ActionFormatError(f"Unknown kind of action: {kind!r}.")
    read = {
        entry.name: _READERS[str(entry.type)](raw, entry.name) for entry in fields(action_class) if entry.name != "kind"
    }
    return action_class(**read)


def _change_to_json(change: NodeChange) -> JsonObject:
    written: JsonObject = {"path": list(change.path)}
    for key, value in (("old", change.old), ("new", change.new)):
        if not isinstance(value, Missing):
            written[key] = copy_json(value)
    return written


def _changes(raw: JsonObject, key: str) -> tuple[NodeChange, ...]:
    changes = map(as_object, as_list(raw.get(key)))
    return tuple(NodeChange(_path(change, "path"), _value(change, "old"), _value(change, "new")) for change in changes)


def _path(raw: JsonObject, key: str) -> JsonPath:
    steps = as_list(raw.get(key))
    path: JsonPath = tuple(step for step in steps if isinstance(step, str | int) and not isinstance(step, bool))
    if not path or len(path) != len(steps):
        raise ActionFormatError("A change needs a path of names and numbers.")
    return path


def _edges(raw: JsonObject, key: str) -> tuple[IndexedEdge, ...]:
    pairs: list[IndexedEdge] = []
    for entry in as_list(raw.get(key)):
        match entry:
            case [int(index), dict(edge)]:
                pairs.append((index, edge))
            case _:
                raise ActionFormatError("An action's edges are pairs of a number and an edge.")
    return tuple(pairs)


def _value(raw: JsonObject, key: str) -> MaybeJson:
    return raw.get(key, MISSING)


def _of_type(kind: type, name: str, *, optional: bool = False) -> Callable[[JsonObject, str], object]:
    def read(raw: JsonObject, key: str) -> Json:
        value = raw.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            if optional and value is None:
                return None
            raise ActionFormatError(f"The action's {key!r} must be {name}.")
        return value

    return read


_READERS: Mapping[str, Callable[[JsonObject, str], object]] = {
    "JsonObject": _of_type(dict, "an object"),
    "JsonPath": _path,
    "MaybeJson": _value,
    "bool": lambda raw, key: raw.get(key) is True,
    "int": _of_type(int, "a number"),
    "int | None": _of_type(int, "a number", optional=True),
    "str": _of_type(str, "text"),
    "tuple[IndexedEdge, ...]": _edges,
    "tuple[NodeChange, ...]": _changes,
}
"""How to read a field, by its annotation."""
_CLASSES: Mapping[str, type[Any]] = {action.kind: action for action in get_args(FlowAction)}
