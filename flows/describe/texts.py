"""What someone set on a canvas, in short: values that differ from their defaults, without secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.fields.model_values import CONNECTED
from flows.fields.secrets import is_secret, shown_value
from flows.fields.values import option_names
from flows.json_values import EMPTY, Json, JsonObject, as_list, as_object, as_text, same_json

_TEXTS = frozenset({"", "str", "prompt", "mustache", "query"})
_SHORTEST = 40


def set_texts(flow: Flow, catalogue: Catalogue) -> dict[str, dict[str, str]]:
    """Return the texts, models, choices, tables and files that were set, by node id and field.

    Args:
        flow: the flow.
        catalogue: knows the defaults, which are left out.
    """
    found: dict[str, dict[str, str]] = {}
    for node in flow.components:
        component = catalogue.get(node.type)
        for name, field in node.template.items():
            default = None if component is None else as_object(component.template.get(name)).get("value")
            text = _text(field)
            if text and name != "code" and not same_json(field.get("value"), default):
                found.setdefault(node.id, {})[name] = text
    return found


def shortened(values: Mapping[str, Mapping[str, str]], room: int) -> dict[str, dict[str, str]]:
    """Return texts as quoted lines, the longest cut first and all alike, so that together they fit into a room.

    Args:
        values: texts by node id and field.
        room: how many characters there are, with the names of the fields and line ends.
    """
    quoted = {
        node: {name: json.dumps(text, ensure_ascii=False) for name, text in of.items()} for node, of in values.items()
    }
    sizes = sorted(len(text) for of in quoted.values() for text in of.values())
    room -= sum(len(name) + 7 for of in quoted.values() for name in of)
    limit = 0
    for at, size in enumerate(sizes):
        limit = max(room, 0) // (len(sizes) - at)
        if size > limit:
            break
        room -= size
        limit = size
    if limit < min(_SHORTEST, max(sizes, default=0)):
        return {}
    return {
        node: {name: text if len(text) <= limit else f'{text[: limit - 2]}…"' for name, text in of.items()}
        for node, of in quoted.items()
    }


def _text(field: JsonObject) -> str:
    value = field.get("value")
    if field.get("show") is False or value in EMPTY or value == CONNECTED or is_secret(field):
        return ""
    if field.get("type") == "model":
        return _model(value)
    if isinstance(value, str) and (field.get("type") or "") in _TEXTS:
        return as_text(shown_value(field))
    if field.get("type") == "table":
        return json.dumps(shown_value(field), ensure_ascii=False)
    if field.get("type") == "file":
        given = [value, *as_list(value), field.get("file_path"), *as_list(field.get("file_path"))]
        return ", ".join(dict.fromkeys(path for path in given if isinstance(path, str) and path))
    return ", ".join(_chosen(value)) if option_names(field) else ""


def _chosen(value: Json) -> list[str]:
    """The chosen options, which stand as names or as objects with a name."""
    many = value if isinstance(value, list) else [value]
    return [as_text(as_object(one).get("name")) if isinstance(one, dict) else as_text(one) for one in many]


def _model(value: Json) -> str:
    chosen = as_object(next(iter(as_list(value)), None))
    return ":".join(filter(None, (as_text(chosen.get("provider")), as_text(chosen.get("name")))))
