"""Describing a component type for a model: inputs, outputs and settings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from flows.component_type import DESCRIPTION_BUDGET, TOOL_OUTPUT, ComponentType
from flows.describe.choices import choice_lines, conditional_fields, type_names
from flows.fields.prompts import PROMPT_TYPES
from flows.fields.secrets import is_secret
from flows.fields.values import option_names
from flows.json_values import EMPTY, Json, JsonObject, as_list, as_object, as_text, texts

KEPT, _CHOICE, _FIELD, _ADVANCED, _HIDDEN = 9, 3, 2, 1, 0
"""Priorities of lines."""
_SHARE_OF_CHOICES = 0.5
_DETAILS = ((70, 14), (0, 10), (0, 6))
"""The length of a field's hint and the number of options, from most to least detail."""
_UNCUT = 100_000
_FEW = 6
_MOST_OPTIONS = 20
_CUT = "\n(more left out for length)"


@dataclass(frozen=True)
class _Line:
    """One line with its priority: the higher, the later it is left out; `KEPT` never is."""

    text: str
    priority: int


def describe_component(component: ComponentType, budget: int | None = DESCRIPTION_BUDGET) -> str:
    """Return a compact description of a component type; cached for each budget.

    Args:
        component: the component type.
        budget: the length in characters; details that do not fit are left out, except ports and required fields. None
            leaves nothing out.
    """
    known = component.descriptions.get(budget)
    if known is None:
        known = component.descriptions[budget] = _described(component, budget)
    return known


def _described(component: ComponentType, budget: int | None) -> str:
    if budget is None:
        return _text(list(_lines(component, _UNCUT, _UNCUT)))
    lines: list[_Line] = []
    for info, options in _DETAILS:
        lines = list(_lines(component, info, options))
        if _length(lines) <= budget:
            return _text(lines)
    room = budget - len(_CUT)
    _shorten(lines, room, _SHARE_OF_CHOICES * budget)
    for priority in range(KEPT):
        while _length(lines) > room and any(line.priority == priority for line in lines):
            del lines[max(index for index, line in enumerate(lines) if line.priority == priority)]
    return _text(lines) + _CUT


def _shorten(lines: list[_Line], room: int, least: float) -> None:
    """Shorten the lines about options, the longest first, until everything fits or they take up at most `least`."""
    choices = [index for index, line in enumerate(lines) if line.priority == _CHOICE]
    while choices and _length(lines) > room and sum(len(lines[index].text) for index in choices) > least:
        longest = max(choices, key=lambda index: len(lines[index].text))
        before, cut, _ = lines[longest].text.removesuffix("; …").rpartition("; ")
        if not cut:
            break
        lines[longest] = _Line(f"{before}; …", _CHOICE)


def _text(lines: list[_Line]) -> str:
    """Return the lines as text, without empty headings."""
    following = [*(line.text for line in lines[1:]), ""]
    return "\n".join(
        line.text
        for line, after in zip(lines, following, strict=True)
        if line.text[-1] != ":" or after.startswith("  ")
    )


def _length(lines: list[_Line]) -> int:
    return sum(len(line.text) + 1 for line in lines) - 1


def _lines(component: ComponentType, info: int, options: int) -> Iterator[_Line]:
    marks = [mark for mark, is_set in (("legacy", component.legacy), ("beta", component.beta)) if is_set]
    suffix = f" ({', '.join(marks)})" if marks else ""
    title = (
        component.type if component.display_name == component.type else f'{component.type} "{component.display_name}"'
    )
    about = _cut(" ".join(component.description.split()), max(200, info))
    yield _Line(f"{title}, {component.category or 'component'}{suffix}: {about}", KEPT)
    if component.dead_end:
        yield _Line(component.dead_end, KEPT)
    yield _Line("outputs:", KEPT)
    for output in component.outputs:
        loop = "; takes a loop's feedback" if output.get("allows_loop") else ""
        yield _Line(f"  {as_text(output.get('name'))}: {type_names(output.get('types'))}{loop}", KEPT)
    if component.can_be_tool:
        yield _Line(f"  {TOOL_OUTPUT}: Tool (connect to an agent's tools; replaces the other outputs)", KEPT)
    if not component.outputs and not component.can_be_tool:
        yield _Line("  (they appear when its options are chosen)", KEPT)
    inputs = [(name, field) for name, field in component.template.items() if _is_input(field)]
    yield _Line("inputs:" if inputs else "inputs: none", KEPT)
    for name, field in inputs:
        yield _Line(f"  {_input(name, field, info)}", KEPT)
    yield from _settings(component, info, options)
    yield _Line("choices:", KEPT)
    for name, line in choice_lines(
        component, _whole if options == _UNCUT else _brief if options > _FEW else _bare, options
    ):
        yield _Line(f"  {line}", _ADVANCED if as_object(component.template.get(name)).get("advanced") else _CHOICE)


def _settings(component: ComponentType, info: int, options: int) -> Iterator[_Line]:
    shown = {name: field for name, field in component.template.items() if name != "code" and not _is_handle(field)}
    visible = {name: field for name, field in shown.items() if field.get("show") is not False}
    yield _Line("fields:", KEPT)
    for name, field in visible.items():
        if not field.get("advanced") or field.get("required"):
            yield _Line(f"  {_setting(name, field, info, options)}", KEPT if field.get("required") else _FIELD)
    if any(field.get("type") in PROMPT_TYPES for field in shown.values()):
        yield _Line("  each {name} in the template becomes an input `name` that takes Message", KEPT)
    advanced = [name for name, field in visible.items() if field.get("advanced") and not field.get("required")]
    if advanced:
        yield _Line(f"advanced: {', '.join(_brief(name, shown[name]) for name in advanced)}", _ADVANCED)
    conditional = conditional_fields(component)
    hidden = [name for name, field in shown.items() if field.get("show") is False and name not in conditional]
    if hidden:
        yield _Line(f"hidden: {', '.join(hidden)}", _HIDDEN)


def _bare(name: str, _field: JsonObject) -> str:
    return name


def _is_input(field: JsonObject) -> bool:
    return (
        bool(texts(field.get("input_types")))
        and field.get("show") is not False
        and (not field.get("advanced") or _is_handle(field))
    )


def _is_handle(field: JsonObject) -> bool:
    return field.get("type") == "other"


def _input(name: str, field: JsonObject, info: int) -> str:
    marks = [word for word, is_set in (("required", field.get("required")), ("several", field.get("list"))) if is_set]
    suffix = f" ({', '.join(marks)})" if marks else ""
    return f"{name}: {type_names(field.get('input_types'))}{suffix}{_info(field, info) if _is_handle(field) else ''}"


def _setting(name: str, field: JsonObject, info: int, options: int) -> str:
    kind = as_text(field.get("type")) or "str"
    kind = {"slider": "number", "prompt": "template", "NestedDict": "dict", "sortableList": "choice"}.get(kind, kind)
    parts = [f"list of {kind}" if field.get("list") else kind]
    names = option_names(field)
    if names:
        more = ", …" if len(names) > options else ""
        parts.append(f"one of {' | '.join(names[:options])}{more}")
    ranges = as_object(field.get("range_spec"))
    if ranges:
        parts.append(f"{_number(ranges.get('min'))}..{_number(ranges.get('max'))}")
    columns = [as_text(as_object(column).get("name")) for column in as_list(field.get("table_schema"))]
    if columns:
        parts.append(f"columns {' | '.join(columns)}")
    if kind == "model":
        parts.append("written provider:name; empty takes the assistant's model")
    elif field.get("options") == [] and (field.get("real_time_refresh") or field.get("refresh_button")):
        parts.append("one of what is there where it runs")
    if field.get("required") and kind != "model":
        parts.append("required")
    if is_secret(field):
        parts.append("secret")
    else:
        default = _default(field)
        if default:
            parts.append(f"default {default}")
    return f"{name}: {', '.join(parts)}{_info(field, info)}"


def _whole(name: str, field: JsonObject) -> str:
    return _brief(name, field, _MOST_OPTIONS)


def _brief(name: str, field: JsonObject, most: int = 4) -> str:
    names = option_names(field)
    if is_secret(field):
        return f"{name} (secret)"
    if 0 < len(names) <= most:
        return f"{name} ({' | '.join(names)})"
    default = field.get("value")
    is_plain = isinstance(default, bool | int | float) and not isinstance(default, str)
    return f"{name}={json.dumps(default)}" if is_plain else name


def _default(field: JsonObject) -> str:
    value: Json = field.get("value")
    if value in EMPTY:
        return ""
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        names = ", ".join(filter(None, (as_text(as_object(item).get("name")) for item in value)))
        return f"{len(value)} {'row' if len(value) == 1 else 'rows'}{f' ({names})' if names else ''}"
    return _cut(json.dumps(value, ensure_ascii=False), 40)


def _info(field: JsonObject, limit: int) -> str:
    words = " ".join(as_text(field.get("info")).split())
    return f" - {_cut(words, limit)}" if limit and words else ""


def _number(value: Json) -> str:
    return f"{value:g}" if isinstance(value, int | float) else ""


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
