"""Describing a component type to a model in few words: what goes in, what comes out, what can be set."""

from __future__ import annotations

import json

from flows.catalogue import ComponentType
from flows.fields import is_secret, option_names
from flows.jsonvalues import Json, JsonObject, as_list, as_object, as_text, texts
from flows.ports import TOOL_OUTPUT, TYPE_MIGRATIONS
from flows.prompts import PROMPT_TYPES

BUDGET = 1500
"""Characters that a description should not exceed."""
_SHORT_INFO = 70


def describe_component(part: ComponentType, budget: int = BUDGET) -> str:
    """Return a compact description of a component type.

    Args:
        part: the component type.
        budget: characters; details that do not fit are left out, names of ports never are.
    """
    for info, options in ((_SHORT_INFO, 14), (0, 10), (0, 6)):
        text = "\n".join(_lines(part, info, options))
        if len(text) <= budget:
            return text
    lines = text.split("\n")
    while len("\n".join(lines)) > budget and any(line.startswith("  ") for line in lines[2:]):
        last = max(index for index, line in enumerate(lines) if line.startswith("  "))
        if _is_port_line(lines, last):
            break
        del lines[last]
    return "\n".join(lines)


def _lines(part: ComponentType, info: int, options: int) -> list[str]:
    marks = [mark for mark, held in (("legacy", part.legacy), ("beta", part.beta)) if held]
    suffix = f" ({', '.join(marks)})" if marks else ""
    title = part.type if part.display_name == part.type else f'{part.type} "{part.display_name}"'
    summary = " ".join(part.description.split())
    lines = [f"{title}, {part.category or 'component'}{suffix}: {_cut(summary, 200)}", "outputs:"]
    for output in part.outputs:
        loop = "; takes a loop's feedback" if output.get("allows_loop") else ""
        lines.append(f"  {as_text(output.get('name'))}: {_types(output.get('types'))}{loop}")
    if part.can_be_tool:
        lines.append(f"  {TOOL_OUTPUT}: Tool (connect to an agent's tools; replaces the other outputs)")
    if not part.outputs and not part.can_be_tool:
        lines.append("  (they appear when its options are chosen)")
    inputs = [f"  {_input(name, field, info)}" for name, field in part.template.items() if _is_input(field)]
    lines += ["inputs:", *(inputs or ["  none"])]
    shown = {name: field for name, field in part.template.items() if name != "code" and not _is_handle(field)}
    plain = [name for name, field in shown.items() if not field.get("advanced") and field.get("show") is not False]
    settings = [f"  {_setting(name, shown[name], info, options)}" for name in plain]
    if settings:
        lines += ["fields:", *settings]
    if any(field.get("type") in PROMPT_TYPES for field in shown.values()):
        lines.append("  each {name} in the template becomes an input `name` that takes Message")
    advanced = [
        _brief(name, field) for name, field in shown.items() if field.get("advanced") and field.get("show") is not False
    ]
    if advanced:
        lines.append(f"advanced: {', '.join(advanced)}")
    hidden = [name for name, field in shown.items() if field.get("show") is False]
    if hidden:
        lines.append(f"only for some options: {', '.join(hidden)}")
    return lines


def _is_port_line(lines: list[str], index: int) -> bool:
    sections = [line for line in lines[:index] if not line.startswith("  ")]
    return bool(sections) and sections[-1] in ("outputs:", "inputs:")


def _is_input(field: JsonObject) -> bool:
    return (
        bool(texts(field.get("input_types")))
        and field.get("show") is not False
        and (not field.get("advanced") or _is_handle(field))
    )


def _is_handle(field: JsonObject) -> bool:
    return field.get("type") == "other"


def _input(name: str, field: JsonObject, info: int) -> str:
    marks = [word for word, held in (("required", field.get("required")), ("several", field.get("list"))) if held]
    suffix = f" ({', '.join(marks)})" if marks else ""
    return f"{name}: {_types(field.get('input_types'))}{suffix}{_info(field, info) if _is_handle(field) else ''}"


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
        parts.append(f"columns {', '.join(columns)}")
    if field.get("required"):
        parts.append("required")
    if is_secret(field):
        parts.append("secret")
    else:
        default = _default(field)
        if default:
            parts.append(f"default {default}")
    return f"{name}: {', '.join(parts)}{_info(field, info)}"


def _brief(name: str, field: JsonObject) -> str:
    names = option_names(field)
    if is_secret(field):
        return f"{name} (secret)"
    if 0 < len(names) <= 4:
        return f"{name} ({' | '.join(names)})"
    default = field.get("value")
    is_plain = isinstance(default, bool | int | float) and not isinstance(default, str)
    return f"{name}={json.dumps(default)}" if is_plain else name


def _default(field: JsonObject) -> str:
    value: Json = field.get("value")
    if value in (None, "", [], {}):
        return ""
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        names = [as_text(as_object(item).get("name")) for item in value]
        return ", ".join(name for name in names if name) or f"{len(value)} rows"
    return _cut(json.dumps(value, ensure_ascii=False), 40)


def _info(field: JsonObject, limit: int) -> str:
    words = " ".join(as_text(field.get("info")).split())
    return f" - {_cut(words, limit)}" if limit and words else ""


def _types(value: Json) -> str:
    names = texts(value)
    kept = [name for name in names if not any(TYPE_MIGRATIONS.get(name) == other for other in names)]
    return " | ".join(kept) or "nothing yet"


def _number(value: Json) -> str:
    return f"{value:g}" if isinstance(value, int | float) else ""


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
