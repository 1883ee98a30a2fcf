"""Flow actions as JSON documents and back."""

from __future__ import annotations

from dataclasses import fields
from typing import cast

from flows.actions import (
    AddComponent,
    Amend,
    Arrange,
    Configure,
    Connect,
    Disconnect,
    FlowAction,
    IndexedEdge,
    NodeAction,
    NodeChange,
    RemoveComponent,
    SelectOutput,
    SetConnectionMode,
    SetDetail,
    SetFlow,
    SetToolMode,
)
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
    as_text,
    copy_json,
)


class ActionFormatError(ValueError):
    """A document that is no flow action."""


def action_to_json(action: FlowAction) -> JsonObject:
    """Return the action as a fresh JSON object; an `old` or `new` that is missing has no key."""
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
    """Return the action that `obj` holds.

    Raises:
        ActionFormatError: `obj` is no action.
    """
    try:
        raw = as_object(copy_json(obj))
    except NotJsonError as error:
        raise ActionFormatError(f"The action is not JSON: {error}") from None
    old, new = raw.get("old", MISSING), raw.get("new", MISSING)
    match raw.get("kind"):
        case "add_component":
            index = raw.get("index")
            return AddComponent(_object(raw, "node"), None if index is None else _index(raw), _edges(raw))
        case "remove_component":
            return RemoveComponent(_object(raw, "node"), _index(raw), _edges(raw))
        case "connect":
            return Connect(_object(raw, "edge"), None if raw.get("index") is None else _index(raw))
        case "disconnect":
            return Disconnect(_object(raw, "edge"), _index(raw))
        case "set_detail":
            return SetDetail(_path(raw), old, new)
        case "set_flow":
            return SetFlow(_object(raw, "old"), _object(raw, "new"))
        case _:
            return _node_action(raw, old, new)


def _node_action(raw: JsonObject, old: MaybeJson, new: MaybeJson) -> NodeAction:
    match raw.get("kind"):
        case "configure":
            return Configure(_text(raw, "node"), _text(raw, "field"), old, new, _changes(raw))
        case "arrange":
            return Arrange(_text(raw, "node"), _text(raw, "key"), old, new)
        case "select_output":
            return SelectOutput(_text(raw, "node"), old, new, _changes(raw))
        case "set_connection_mode":
            return SetConnectionMode(_text(raw, "node"), _text(raw, "field"), old, new)
        case "set_tool_mode":
            return SetToolMode(_text(raw, "node"), raw.get("enabled") is True, _changes(raw))
        case "amend":
            return Amend(_text(raw, "node"), _changes(raw))
        case other:
            raise ActionFormatError(f"There is no action of the kind {other!r}.")


def _change_to_json(change: NodeChange) -> JsonObject:
    written: JsonObject = {"path": list(change.path)}
    for key, value in (("old", change.old), ("new", change.new)):
        if not isinstance(value, Missing):
            written[key] = copy_json(value)
    return written


def _changes(raw: JsonObject) -> tuple[NodeChange, ...]:
    changes: list[NodeChange] = []
    for entry in as_list(raw.get("also")):
        change = as_object(entry)
        old: MaybeJson = change.get("old", MISSING)
        changes.append(NodeChange(_path(change), old, change.get("new", MISSING)))
    return tuple(changes)


def _path(raw: JsonObject) -> JsonPath:
    steps = as_list(raw.get("path"))
    path: JsonPath = tuple(step for step in steps if isinstance(step, str | int) and not isinstance(step, bool))
    if not path or len(path) != len(steps):
        raise ActionFormatError("A change needs a path of names and numbers.")
    return path


def _edges(raw: JsonObject) -> tuple[IndexedEdge, ...]:
    pairs: list[IndexedEdge] = []
    for entry in as_list(raw.get("edges")):
        match entry:
            case [int(index), dict(edge)]:
                pairs.append((index, edge))
            case _:
                raise ActionFormatError("An action's edges are pairs of a number and an edge.")
    return tuple(pairs)


def _object(raw: JsonObject, key: str) -> JsonObject:
    value: Json = raw.get(key)
    if not isinstance(value, dict):
        raise ActionFormatError(f"The action's {key!r} must be an object.")
    return value


def _text(raw: JsonObject, key: str) -> str:
    if not isinstance(raw.get(key), str):
        raise ActionFormatError(f"The action's {key!r} must be text.")
    return as_text(raw[key])


def _index(raw: JsonObject) -> int:
    index = raw.get("index")
    if not isinstance(index, int) or isinstance(index, bool):
        raise ActionFormatError("The action's 'index' must be a number.")
    return index
