"""Finds which fields and outputs a component gets for each row of a table, entry of a list or unit of a count.

The templates of a rule are {"fields": {variant: field}, "outputs": {variant: output}, "then": [outputs], "by": column}:
what one row adds, by the text in the column `by` (an empty text without one), and the outputs after those of all rows.
In the texts of a template, `⟦column⟧` stands for the row's text, `⟦_:column⟧` for the same in lower case with `_`
for spaces, and `⟦#⟧` for the row's number from 1.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lfx_runner.introspect.refresh import Refresher, State

Json = Any
ENTRY = "entry"
"""The column of a list that has no columns."""


@dataclass(frozen=True)
class RowRules:
    """The rules of a field of rows, and whether they determine the outputs."""

    rules: list[Json]
    outputs: bool


class _Unclear(Exception):
    """The rows follow no pattern that a rule can express."""


def is_rows(entry: Mapping[str, Json]) -> bool:
    """Whether a field holds rows: a table, a free list of texts, or a count."""
    if entry.get("type") in ("table", "int"):
        return True
    return bool(entry.get("list")) and not entry.get("options") and entry.get("type") in ("str", "actionPicker")


def row_rule(refresher: Refresher, start: State, name: str, switches: list[str]) -> RowRules | None:
    """The rules of the rows in `name`, alone and with each of `switches` on; None when rows add nothing."""
    rules: list[Json] = []
    outputs = False
    for switch in (None, *switches):
        try:
            state = start if switch is None else refresher.refresh(start, switch, value=True)
            found = _templates(refresher, state, name)
        except Exception:  # noqa: BLE001, S112 - raised by the component's code: no rule is found
            continue
        if found:
            outputs = outputs or "outputs" in found
            rule = {"rows": found}
            rules.append(rule if switch is None else {"when": {switch: "true"}, **rule})
    return RowRules(rules, outputs) if rules else None


def _templates(refresher: Refresher, state: State, name: str) -> Json:
    entry = state.fields[name]
    columns = [column["name"] for column in entry.get("table_schema") or []] or [ENTRY]
    by = next((column for column in entry.get("table_schema") or [] if column.get("options")), None)
    variants = list(by["options"]) if by else [""]
    empty = refresher.refresh(state, name, _value(entry, columns, 0, by, ""))
    templates: dict[str, Json] = {"fields": {}, "outputs": {}}
    for variant in variants:
        two = refresher.refresh(state, name, _value(entry, columns, 2, by, variant))
        new = [dict(two.fields[key]) for key in two.fields if key not in empty.fields]
        added = len(two.outputs) - len(empty.outputs)
        if len(new) == 2:
            templates["fields"][variant] = _pattern(new[0], new[1], columns)
        elif new:
            raise _Unclear
        if added == 2 and two.outputs[2:] == empty.outputs:
            templates["outputs"][variant] = _pattern(two.outputs[0], two.outputs[1], columns)
        elif added:
            raise _Unclear
    found = {key: part for key, part in templates.items() if part}
    if not found:
        return None
    if "outputs" in found:
        found["then"] = empty.outputs
    return {**found, "by": by["name"]} if by else found


def _value(entry: Mapping[str, Json], columns: list[str], count: int, by: Json, variant: str) -> Json:
    if entry.get("type") == "int":
        return count
    rows = [{column: _mark(column, number) for column in columns} for number in range(1, count + 1)]
    if entry.get("type") != "table":
        return [row[ENTRY] for row in rows]
    return [{**row, by["name"]: variant} for row in rows] if by else rows


def _mark(column: str, number: int) -> str:
    return f"Zq {'AB'[number - 1]} {column} Q"


def _pattern(first: Json, second: Json, columns: list[str]) -> Json:
    """The template of two rows: what they have in common, with placeholders where they differ."""
    texts = []
    for number, row in ((1, first), (2, second)):
        text = json.dumps(row, ensure_ascii=False)
        for column in columns:
            mark = _mark(column, number)
            text = text.replace(mark, f"⟦{column}⟧").replace(mark.lower().replace(" ", "_"), f"⟦_:{column}⟧")
        texts.append(text)
    one, two = texts
    if len(one) != len(two):
        raise _Unclear
    pairs = list(zip(one, two, strict=True))
    if any(a != b and (a, b) != ("1", "2") for a, b in pairs):
        raise _Unclear
    return json.loads("".join("⟦#⟧" if pair == ("1", "2") else pair[0] for pair in pairs))
