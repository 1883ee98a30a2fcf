"""Components that grow with a table, a list or a count: the fields and outputs for each row."""

from __future__ import annotations

from collections.abc import Callable

from flows.actions import NodeChange, field_path
from flows.document import Node
from flows.json_values import MISSING, Json, JsonObject, MaybeJson, as_list, as_object, as_text, get_at, same_json

ENTRY = "entry"


def row_changes(node: Node, name: str, before: MaybeJson, templates: JsonObject) -> list[NodeChange]:
    """Return what the rows in the field `name` change in the rest of the node.

    A field that remains keeps its value; the engine would clear it.

    Args:
        node: the node with the new rows.
        name: the field with the rows.
        before: its previous rows.
        templates: the fields and outputs for one row, from the catalogue.
    """
    wanted = {as_text(field["name"]): field for field in _members(node.value(name), templates, "fields")}
    had = [as_text(field["name"]) for field in _members(before, templates, "fields")] if before is not MISSING else []
    changes: list[NodeChange] = []
    for old_name in dict.fromkeys(had):
        held = get_at(node.raw, field_path(old_name))
        if old_name not in wanted and held is not MISSING:
            changes.append(NodeChange(field_path(old_name), held, MISSING))
    for new_name, field in wanted.items():
        held = get_at(node.raw, field_path(new_name))
        if held is MISSING or as_object(held).get("type") != field.get("type"):
            changes.append(NodeChange(field_path(new_name), held, field))
    if "outputs" in templates and not node.tool_mode:
        outputs: list[Json] = [*_members(node.value(name), templates, "outputs"), *as_list(templates.get("then"))]
        held = node.definition.get("outputs", MISSING)
        if not same_json(held, outputs):
            changes.append(NodeChange(("data", "node", "outputs"), held, outputs))
    return changes


def _members(value: MaybeJson, templates: JsonObject, kind: str) -> list[JsonObject]:
    """Return the fields or outputs for the rows, each name once."""
    variants = as_object(templates.get(kind))
    by = as_text(templates.get("by"))
    made: dict[str, JsonObject] = {}
    for number, row in enumerate(_rows(value), start=1):
        template = variants.get(as_text(row.get(by)) if by else "", next(iter(variants.values()), None))
        if not isinstance(template, dict):
            continue
        name = as_text(template.get("name"))
        if any(f"⟦{mark}{column}⟧" in name and not text.strip() for column, text in _cells(row) for mark in ("", "_:")):
            continue
        filled = as_object(_filled(template, _filler(row, number)))
        made.setdefault(as_text(filled.get("name")), filled)
    return list(made.values())


def _rows(value: MaybeJson) -> list[JsonObject]:
    if isinstance(value, int) and not isinstance(value, bool):
        return [{} for _ in range(max(0, min(value, 100)))]
    return [row if isinstance(row, dict) else {ENTRY: row} for row in as_list(value)]


def _cells(row: JsonObject) -> list[tuple[str, str]]:
    return [(column, as_text(cell)) for column, cell in row.items()]


def _filler(row: JsonObject, number: int) -> Callable[[str], str]:
    def fill(text: str) -> str:
        if "⟦" not in text:
            return text
        for column, cell in _cells(row):
            small = cell.strip().lower().replace(" ", "_")
            text = text.replace(f"⟦{column}⟧", cell).replace(f"⟦_:{column}⟧", small)
        return text.replace("⟦#⟧", str(number))

    return fill


def _filled(value: Json, fill: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return fill(value)
    if isinstance(value, dict):
        return {key: _filled(item, fill) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, fill) for item in value]
    return value
