"""Field values: converting a value to the type, options and range of its field."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import cast

from flows.component_type import TYPE_MIGRATIONS
from flows.faults import nearest, suggest
from flows.fields.model_values import canonical_model
from flows.fields.yaml_text import read_yaml
from flows.json_values import Json, JsonObject, as_list, as_object, as_text, read_json, same_json, texts

_TEXT_TYPES = frozenset({"str", "prompt", "mustache", "code", "query", "link", "tab", "auth", "actionPicker"})
_DIGITS = "Write digits, such as 5 or 0.5."
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_TRUE, _FALSE = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})


class FieldValueError(ValueError):
    """A value that is invalid for its field; `code` is the kind of fault, and `fix` says what to write instead."""

    def __init__(self, code: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.code = code
        self.fix = fix


def coerce(field: JsonObject, value: Json, siblings: Mapping[str, Json] | None = None) -> Json:
    """Return `value` converted to the type of the field.

    Text stays text in a text field (`007` stays `007`); in other fields it is parsed as a number, a boolean, or a list,
    table or object in JSON or YAML. The present value of the field is always accepted.

    Args:
        field: the field's definition.
        value: text, or a JSON value.
        siblings: the values that the node's other fields will have, on which the options may depend.

    Raises:
        FieldValueError: the value is invalid for the field.
    """
    if same_json(value, field.get("value")) and not field.get("conditional_options"):
        return value
    kind = as_text(field.get("type")) or "str"
    if kind in _TEXT_TYPES:
        return _text_field(field, value, siblings or {})
    reader = _READERS.get(kind)
    return value if reader is None else reader(field, value)


def option_names(field: JsonObject) -> list[str]:
    """Return the options of a field as strings; empty if any value is allowed or the options are unknown."""
    names: list[str] = []
    for option in as_list(field.get("options")):
        name = as_object(option).get("name") if isinstance(option, dict) else option
        if name is not None and not isinstance(name, dict | list):
            names.append(name if isinstance(name, str) else json.dumps(name))
    return names


def current_options(field: JsonObject, siblings: Mapping[str, Json]) -> list[str]:
    """Return the options while the node's other fields have these values; the first matching rule decides."""
    for rule in as_list(field.get("conditional_options")):
        conditions = as_object(as_object(rule).get("when"))
        if all(siblings.get(name) == expected for name, expected in conditions.items()):
            return texts(as_object(rule).get("options"))
    return option_names(field)


def _text_field(field: JsonObject, value: Json, siblings: Mapping[str, Json]) -> Json:
    options = current_options(field, siblings)
    if field.get("list"):
        items = _items(value, options)
        return [_choice(field, _as_text(item), options) for item in items]
    if value is None:
        return None if field.get("options") is not None else ""
    return _choice(field, _as_text(value), options)


def _as_text(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise FieldValueError("bad_value", f"takes text, not {_kind(value)}", "Write it as one text.")


def _items(value: Json, options: list[str]) -> list[Json]:
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        parsed = _parsed(value, plain=True)
        if isinstance(parsed, list):
            return parsed
        parts = [part.strip() for part in value.split(",")]
        if options and len(parts) > 1 and value not in options:
            return list(parts)
        return [value] if value else []
    return [] if value is None else [value]


def _choice(field: JsonObject, text: str, options: list[str]) -> str:
    if not options or field.get("combobox") or text in options:
        return text
    if field.get("type") == "tab" and (text == "" or TYPE_MIGRATIONS.get(text) in options):
        return TYPE_MIGRATIONS.get(text, text)  # former names of types are still accepted
    if text == field.get("value"):
        return text
    same = [option for option in options if option.casefold() == text.strip().casefold()]
    if len(same) == 1:
        return same[0]
    raise FieldValueError("bad_option", f"cannot be {text!r}", _options_fix(text, options))


def _options_fix(text: str, options: list[str]) -> str:
    shown = ", ".join(options[:15]) + (", …" if len(options) > 15 else "")
    return f"{suggest(nearest(text, options))} It must be one of: {shown}.".lstrip()


def _number(field: JsonObject, value: Json) -> Json:
    if value is None or value == "":
        return value
    number: int | float
    if isinstance(value, str):
        text = value.strip()
        if not _NUMBER.fullmatch(text):
            raise FieldValueError("bad_number", f"takes a number, not {value[:60]!r}", _DIGITS)
        number = int(text) if re.fullmatch(r"[+-]?\d+", text) and len(text) < 300 else float(text)
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise FieldValueError("bad_number", f"takes a number, not {_kind(value)}", _DIGITS)
    else:
        number = value
    if isinstance(number, float) and not math.isfinite(number):
        raise FieldValueError("bad_number", "takes a finite number", _DIGITS)
    ranges = as_object(field.get("range_spec"))
    if field.get("type") == "int" or ranges.get("step_type") == "int":
        if number != int(number):
            raise FieldValueError("bad_number", f"takes a whole number, not {number}", f"Write {round(number)}.")
        number = int(number)
    elif isinstance(number, int):
        number = float(number) if abs(number) < 2**53 else number
    if number == 0 and field.get("name") == "max_tokens":
        return number
    low, high = ranges.get("min"), ranges.get("max")
    below = isinstance(low, int | float) and number < low
    if below or (isinstance(high, int | float) and number > high):
        bounds = (
            f"between {low:g} and {high:g}" if isinstance(low, int | float) and isinstance(high, int | float) else ""
        )
        raise FieldValueError("out_of_range", f"cannot be {number}", f"Choose a number {bounds or 'in its range'}.")
    return number


def _bool(_field: JsonObject, value: Json) -> Json:
    if isinstance(value, bool):
        return value
    word = json.dumps(value) if isinstance(value, int) else value.strip().lower() if isinstance(value, str) else ""
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise FieldValueError("bad_value", f"takes true or false, not {_show(value)}", "Write true or false.")


def _dict(_field: JsonObject, value: Json) -> Json:
    if isinstance(value, str):
        value = _parsed(value) if value.strip() else {}
    if isinstance(value, dict) or (isinstance(value, list) and all(isinstance(item, dict) for item in value)):
        return value
    raise FieldValueError("bad_value", f"takes an object, not {_kind(value)}", 'Write it as JSON: {"key": "value"}.')


def _table(field: JsonObject, value: Json) -> Json:
    schema = field.get("table_schema")
    columns = as_list(as_object(schema).get("columns")) if isinstance(schema, dict) else as_list(schema)
    names = [as_text(as_object(column).get("name")) for column in columns]
    example = f"Write it as a JSON list of rows with the columns {', '.join(names)}." if names else "Write a JSON list."
    if isinstance(value, str):
        value = _parsed(value) if value.strip() else []
    rows: Json = [value] if isinstance(value, dict) else value
    if rows is None:
        return []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FieldValueError("bad_table", "takes a table: a list of rows", example)
    for number, row in enumerate(rows, start=1):
        for column in as_object(row):
            if names and column not in names:
                fix = f"{suggest(nearest(column, names))} {example}".lstrip()
                raise FieldValueError("bad_table", f"has no column {column!r} (row {number})", fix)
    return rows


def _sortable(field: JsonObject, value: Json) -> Json:
    if isinstance(value, str):
        parsed = _parsed(value)
        value = parsed if isinstance(parsed, list | dict) else value
    entries = value if isinstance(value, list) else [] if value in (None, "") else [value]
    known = {as_text(as_object(option).get("name")): option for option in as_list(field.get("options"))}
    chosen: list[Json] = []
    for entry in entries:
        name = as_object(entry).get("name") if isinstance(entry, dict) else entry
        if not isinstance(name, str):
            raise FieldValueError("bad_option", f"takes names, not {_kind(name)}", _options_fix("", list(known)))
        real = next((option for option in known if option.casefold() == name.strip().casefold()), None)
        if real is None and known:
            raise FieldValueError("bad_option", f"cannot be {name!r}", _options_fix(name, list(known)))
        chosen.append({"name": name} if real is None else {**as_object(known[real]), **as_object(entry), "name": real})
    limit = field.get("limit")
    if isinstance(limit, int) and len(chosen) > limit:
        raise FieldValueError("bad_value", f"takes at most {limit}", f"Choose {limit}.")
    return chosen


def _duration(field: JsonObject, value: Json) -> Json:
    units = option_names(field)
    fix = f'Write it as {{"value": 5, "unit": "{units[0] if units else "Minutes"}"}}.'
    if isinstance(value, str):
        words = value.split()
        value = (
            {"value": words[0], "unit": words[1]} if len(words) == 2 and not value.startswith("{") else _parsed(value)
        )
    given = as_object(value)
    unit = next((name for name in units if name.casefold() == str(given.get("unit", "")).casefold()), None)
    if unit is None and units:
        raise FieldValueError("bad_value", "takes a number and a unit", fix)
    return {**given, "value": _number({"type": "int"}, given.get("value")), "unit": unit or given.get("unit")}


def _file(field: JsonObject, value: Json) -> Json:
    items = _items(value, [])
    if not all(isinstance(item, str) for item in items):
        raise FieldValueError("bad_value", "takes file paths", "Write the path as text.")
    kinds = texts(field.get("fileTypes"))
    for path in texts(items):
        ending = path.rpartition(".")[2].lower()
        if kinds and "." in path.rpartition("/")[2] and ending not in kinds:
            raise FieldValueError("bad_value", f"does not read .{ending} files", f"It reads: {', '.join(kinds)}.")
    if field.get("list"):
        return items
    if len(items) > 1:
        raise FieldValueError("bad_value", "takes one file", "Name one path.")
    return items[0] if items else ""


def _model(field: JsonObject, value: Json) -> Json:
    fix = "Leave it empty for the assistant's own model, or write provider:name."
    try:
        model = canonical_model(value)
    except ValueError as error:
        raise FieldValueError("bad_model", str(error), fix) from None
    return field.get("value") if model == [] and field.get("value") in ("", None) else model


def _mcp(field: JsonObject, value: Json) -> Json:
    return {"name": value} if isinstance(value, str) and _parsed(value) is None else _dict(field, value)


def _no_setting(_field: JsonObject, _value: Json) -> Json:
    raise FieldValueError(
        "not_a_setting", "takes an edge, not a value", "Connect an output to it, such as that of a ChatInput."
    )


def _parsed(text: str, *, plain: bool = False) -> Json:
    """Return the list or object written in `text` as JSON or YAML, or None; with `plain`, YAML scalars stay strings."""
    stripped = text.strip()
    if stripped.startswith(("[", "{")):
        try:
            found: object = read_json(stripped)
        except ValueError:
            found = _yaml(stripped, plain=plain)
    elif stripped.startswith("- ") or stripped == "-" or re.match(r"[\w\"'][^\n]*?:(?:\s|$)", stripped):
        found = _yaml(stripped, plain=plain)
    else:
        return None
    return cast("list[Json] | JsonObject", found) if isinstance(found, list | dict) else None


def _yaml(text: str, *, plain: bool) -> object:
    try:
        found = read_yaml(text, plain=plain)
        json.dumps(found, allow_nan=False)
    except (TypeError, ValueError):
        return None
    return found


def _kind(value: Json) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    return "nothing" if value is None else "text"


def _show(value: Json) -> str:
    return repr(value[:60]) if isinstance(value, str) else _kind(value)


_READERS: dict[str, Callable[[JsonObject, Json], Json]] = {
    "model": _model,
    "int": _number,
    "float": _number,
    "slider": _number,
    "bool": _bool,
    "dict": _dict,
    "NestedDict": _dict,
    "table": _table,
    "sortableList": _sortable,
    "duration": _duration,
    "mcp": _mcp,
    "file": _file,
    "other": _no_setting,
    "data_display": _no_setting,
}
