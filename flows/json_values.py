"""JSON values: typed access, copies, and edits that share what does not change."""

from __future__ import annotations

import enum
import json
from collections.abc import Sequence
from math import isfinite
from typing import Final, TypeAlias, cast

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = "dict[str, Json]"
JsonPath: TypeAlias = tuple[str | int, ...]


class Missing(enum.Enum):
    """The type of `MISSING`, which stands for an absent key."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING
MaybeJson: TypeAlias = "Json | Missing"


_PLAIN: Final = (str, bool, int)

EMPTY: Final[tuple[Json, ...]] = (None, "", [], {})
"""The values of a field that nobody has set."""


class NotJsonError(ValueError):
    """A value that is not JSON; `path` says where it is."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


def as_object(value: MaybeJson) -> JsonObject:
    """Return `value` if it is a JSON object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: MaybeJson) -> list[Json]:
    """Return `value` if it is a JSON list, otherwise an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: MaybeJson) -> str:
    """Return `value` if it is a string, otherwise an empty one."""
    return value if isinstance(value, str) else ""


def texts(value: MaybeJson) -> list[str]:
    """Return the strings in a JSON list; an empty list for anything else."""
    return [item for item in as_list(value) if isinstance(item, str)]


def object_at(value: MaybeJson, *keys: str) -> JsonObject:
    """Return the object found by following `keys`, or an empty one if the path does not exist."""
    for key in keys:
        if not isinstance(value, dict):
            return {}
        value = value.get(key)
    return value if isinstance(value, dict) else {}


def is_short(value: Json, limit: int) -> bool:
    """Return whether a value has at most `limit` characters and entries in all; stops looking once it has more."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            limit -= len(each)
        elif isinstance(each, list):
            limit -= len(each)
            if limit >= 0:
                waiting.extend(each)
        elif isinstance(each, dict):
            limit -= len(each) + sum(map(len, each))
            if limit >= 0:
                waiting.extend(each.values())
        if limit < 0:
            return False
    return True


def read_json(text: str) -> Json:
    """Return the JSON value written in a text of a flow, whoever wrote it.

    Raises:
        ValueError: it is not JSON, or is nested too deeply to be read.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("is nested too deeply") from None


def copy_json(value: object, path: str = "$") -> Json:
    """Return a deep copy of `value`.

    Raises:
        NotJsonError: something inside is not JSON, or is nested too deeply.
    """
    try:
        return _copy(value)
    except (TypeError, RecursionError):
        _locate(value, path, 0)
        raise NotJsonError(path, "is nested too deeply") from None


def _copy(value: object) -> Json:
    if value is None or isinstance(value, _PLAIN) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, dict):
        entries = cast("dict[object, object]", value)
        copied: JsonObject = {}
        for key, item in entries.items():
            if not isinstance(key, str):
                raise TypeError
            copied[key] = _copy(item)
        return copied
    if isinstance(value, list):
        return [_copy(item) for item in cast("list[object]", value)]
    raise TypeError


def fresh_object(value: JsonObject) -> JsonObject:
    """Return a deep copy of a value that is known to be JSON; faster than `copy_json`."""
    copied = value.copy()
    for key, item in value.items():
        if item.__class__ is dict:
            copied[key] = fresh_object(cast("JsonObject", item))
        elif item.__class__ is list:
            copied[key] = _fresh_list(cast("list[Json]", item))
    return copied


def _fresh_list(value: list[Json]) -> list[Json]:
    copied = value.copy()
    for index, item in enumerate(value):
        if item.__class__ is dict:
            copied[index] = fresh_object(cast("JsonObject", item))
        elif item.__class__ is list:
            copied[index] = _fresh_list(cast("list[Json]", item))
    return copied


def _locate(value: object, path: str, depth: int) -> None:
    if depth > 200:  # deeper than any flow; the caller reports the nesting
        return
    if isinstance(value, dict):
        for key, item in cast("dict[object, object]", value).items():
            if not isinstance(key, str):
                raise NotJsonError(path, f"has a key that is not text: {key!r}")
            _locate(item, f"{path}.{key}", depth + 1)
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[object]", value)):
            _locate(item, f"{path}[{index}]", depth + 1)
    elif isinstance(value, float) and not isfinite(value):
        raise NotJsonError(path, "is a number too large for JSON, or none at all")
    elif not (value is None or isinstance(value, str | bool | int | float)):
        raise NotJsonError(path, f"is not a JSON value but a {type(value).__name__}")


def same_json(left: MaybeJson, right: MaybeJson) -> bool:
    """Say whether two values are the same JSON; unlike `==`, `true`, `1` and `1.0` differ."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        other = as_object(right)
        return left.keys() == other.keys() and all(same_json(item, other[key]) for key, item in left.items())
    if isinstance(left, list):
        others = as_list(right)
        return len(left) == len(others) and all(map(same_json, left, others))
    return left == right


def get_at(value: Json, path: Sequence[str | int]) -> MaybeJson:
    """Return the value at `path`, or `MISSING`."""
    found: Json = value
    for key in path:
        if isinstance(found, dict) and isinstance(key, str):
            if key not in found:
                return MISSING
            found = found[key]
        elif isinstance(found, list) and isinstance(key, int) and 0 <= key < len(found):
            found = found[key]
        else:
            return MISSING
    return found


def replace_at(value: Json, path: Sequence[str | int], new: MaybeJson) -> Json:
    """Return `value` with `new` at `path` (`MISSING` removes a key); only the containers on the path are copied.

    Raises:
        KeyError: the path does not exist up to its last step, or the last step cannot be written.
    """
    if not path:
        if isinstance(new, Missing):
            raise KeyError(path)
        return new
    key, rest = path[0], path[1:]
    if isinstance(value, dict) and isinstance(key, str):
        changed = dict(value)
        if rest:
            changed[key] = replace_at(value[key], rest, new)
        elif isinstance(new, Missing):
            changed.pop(key, None)
        else:
            changed[key] = new
        return changed
    removes = isinstance(new, Missing) and not rest
    if isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value) and not removes:
        items = list(value)
        items[key] = replace_at(value[key], rest, new)
        return items
    raise KeyError(key)
