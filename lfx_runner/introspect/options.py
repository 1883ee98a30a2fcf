"""Finds how each option of a component changes its fields and outputs, and states it as compact rules.

A component's rules are an object by the name of the choosing field, in the order in which choices are applied; None
means unknown. Each rule of a field is one of the forms

    {"when": {other field: key}, "base": change, "set": {key: change}, "each": true}
    {"when": {other field: key}, "rows": templates}                           (see rows.py)

and a change is {"fields": {name: {attribute: value} or null}, "outputs": [...]}, both optional. `base` is what every
option of the field sets, `set` what single options set instead; with `each`, several options add up. Of the rules of a
field, the one with the best matching `when` applies. `key_of` gives the key of a value.
"""

import contextlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lfx_runner.introspect.refresh import Refresher, State
from lfx_runner.introspect.rows import is_rows, row_rule

Json = Any
MAX_DEPTH = 3
MAX_OPTIONS = 40
MAX_PROBES = 160
_ABSENT = object()
_SILENT = frozenset({"dialog_inputs", "load_from_db", "placeholder", "table_schema"})
"""Attributes that affect neither runs nor choices nor wiring, or that depend on the machine."""
_FILE = "sample"


@dataclass
class Choice:
    """One refresh that was tried: its context, its option, and the states before and after."""

    context: tuple[tuple[str, str], ...]
    key: str
    before: State
    after: State


@dataclass
class Findings:
    """The refreshes of one component type; `again` has those of options that were already chosen."""

    choices: dict[str, list[Choice]] = field(default_factory=dict)
    again: dict[str, Choice] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    probes: int = 0


def key_of(entry: Mapping[str, Json], value: Json) -> str:
    """The key of a value in the rules: `true`, an option's name, a file suffix, `many`, or an empty text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if entry.get("type") == "file":
        paths = [path for path in (value if isinstance(value, list) else [value]) if path]
        if len(paths) > 1:
            return "many"
        return f".{str(paths[0]).rpartition('.')[2].lower()}" if paths else ""
    if isinstance(value, list):
        names = [item.get("name") if isinstance(item, dict) else item for item in value]
        return names[0] if len(names) == 1 and isinstance(names[0], str) else ""
    return value if isinstance(value, str) else ""


def rules_of(node: dict[str, Any], ignored: frozenset[str], deadline: float) -> dict[str, Json]:
    """The rules of one component type; empty when nothing depends on an option.

    `ignored` are the names of fields that depend on the accounts of a machine. Options that were not tried before
    `deadline` (of `time.monotonic`) are unknown.
    """
    choosers = [name for name, entry in node["template"].items() if _chooses(name, entry)]
    if not choosers:
        return {}
    refresher = Refresher(node)
    if not refresher.refreshes:
        return {}
    findings = Findings()
    start = refresher.start
    options = [name for name in choosers if not is_rows(start.fields[name])]
    _explore(refresher, _settled(refresher, start, options, findings), (), options, findings, deadline)
    rules = _written(findings, ignored)
    for name in choosers:
        if is_rows(start.fields[name]):
            switches = [other for other in choosers if start.fields[other].get("type") == "bool"]
            if found := row_rule(refresher, start, name, switches):
                rules = {key: _without_outputs(rule) if found.outputs else rule for key, rule in rules.items()}
                rules[name] = found.rules
    rules = {name: entry for name, entry in rules.items() if entry}
    return {**rules, **{name: None for name in sorted(findings.unknown) if name not in rules}}


def _settled(refresher: Refresher, state: State, names: list[str], findings: Findings) -> State:
    """The state after choosing again what is already chosen: a new component may be inconsistent."""
    new = state
    for name in names:
        entry = new.fields[name]
        if entry.get("show") is not False and options_of(entry):
            with contextlib.suppress(Exception):  # raised by the component's code: keep the state
                value = entry.get("value")
                findings.again[name] = Choice((), key_of(entry, value), new, refresher.refresh(new, name, value))
                state = refresher.refresh(state, name, value)
    return state


def _chooses(name: str, entry: Json) -> bool:
    return isinstance(entry, dict) and bool(entry.get("real_time_refresh")) and name != "code"


def options_of(entry: Mapping[str, Json]) -> list[Json]:
    """The values to try in a field; none when it may hold anything."""
    names = entry.get("options") or []
    match entry.get("type"):
        case "bool":
            return [True, False]
        case "sortableList":
            return [[], *([option] for option in names[:MAX_OPTIONS])]
        case "tab":
            return list(names)
        case "str" if names and len(names) <= MAX_OPTIONS:
            return [[], *([option] for option in names)] if entry.get("list") else list(names)
        case "file":
            kinds = list(entry.get("fileTypes") or [])[:MAX_OPTIONS]
            return [[], *([f"{_FILE}.{kind}"] for kind in kinds), [f"{_FILE}.txt", f"{_FILE}2.txt"]] if kinds else []
        case _:
            return []


def _explore(
    refresher: Refresher,
    state: State,
    context: tuple[tuple[str, str], ...],
    names: list[str],
    findings: Findings,
    deadline: float,
) -> None:
    """Try every option of `names` in `state`, then the fields that each of them reveals."""
    for name in names:
        for value in options_of(state.fields[name]):
            if findings.probes >= MAX_PROBES or time.monotonic() > deadline:
                findings.unknown.add(name)
                break
            findings.probes += 1
            try:
                after = refresher.refresh(state, name, value)
            except Exception:  # noqa: BLE001 - raised by the component's code: the rule is unknown
                findings.unknown.add(name)
                break
            key = key_of(state.fields[name], value)
            findings.choices.setdefault(name, []).append(Choice(context, key, state, after))
            if len(context) < MAX_DEPTH - 1:
                inner = list(_revealed(state, after, name))
                _explore(refresher, after, (*context, (name, key)), inner, findings, deadline)


def _revealed(before: State, after: State, chosen: str) -> Iterator[str]:
    """The choosing fields that a choice shows or gives other options, and files of a field that was turned on."""
    for name, entry in after.fields.items():
        if name == chosen or not _chooses(name, entry) or not options_of(entry) or entry.get("show") is False:
            continue
        old = before.fields.get(name, {})
        turned_on = after.fields.get(chosen, {}).get("value") is True
        if (
            old.get("show") is False
            or old.get("options") != entry.get("options")
            or (entry.get("type") == "file" and turned_on)
        ):
            yield name


def _written(findings: Findings, ignored: frozenset[str]) -> dict[str, Json]:
    depth = {name: max(len(choice.context) for choice in tried) for name, tried in findings.choices.items()}
    rules: dict[str, Json] = {}
    for name in sorted(findings.choices, key=lambda name: depth[name]):
        tried = findings.choices[name]
        seen = [*tried, *([findings.again[name]] if name in findings.again else [])]
        places = _places(name, seen, ignored)
        outputs = any(choice.after.outputs != choice.before.outputs for choice in seen)
        if places or outputs:
            contexts = dict.fromkeys(choice.context for choice in tried)
            found = [_rule(name, context, tried, places, outputs=outputs) for context in contexts]
            if len(found) > 1 or found[0]["set"]:  # otherwise every option sets the same
                rules[name] = found
    return rules


def _places(name: str, tried: list[Choice], ignored: frozenset[str]) -> list[tuple[str, str | None]]:
    """Every field attribute that some option changes; None for a field that is added or removed."""
    found: dict[tuple[str, str | None], None] = {}
    for choice in tried:
        before, after = choice.before.fields, choice.after.fields
        for other in {**before, **after}:
            if other in ignored or other == "code":
                continue
            if (other in before) != (other in after):
                found[other, None] = None
                continue
            for attribute in {**before[other], **after[other]}:
                chosen = other == name and attribute in ("value", "file_path")
                if attribute not in _SILENT and not chosen and not _same(before, after, other, attribute):
                    found[other, attribute] = None
    return [place for place in found if place[1] is None or (place[0], None) not in found]


def _same(before: Mapping[str, Any], after: Mapping[str, Any], name: str, attribute: str) -> bool:
    if before[name].get("password") and attribute == "value":
        return True  # a secret is never stored
    return before[name].get(attribute) == after[name].get(attribute)


def _rule(
    name: str,
    context: tuple[tuple[str, str], ...],
    tried: list[Choice],
    places: list[tuple[str, str | None]],
    *,
    outputs: bool,
) -> Json:
    here = [choice for choice in tried if choice.context == context]
    full = {choice.key: _change(choice, places, outputs=outputs) for choice in here}
    base = _most_common(list(full.values()))
    rule: dict[str, Json] = {"when": dict(context)} if context else {}
    rule["base"] = base
    rule["set"] = {key: less for key, change in full.items() if (less := _less(change, base))}
    rule["keys"] = [key for key in full if key not in rule["set"]]
    if here[0].before.fields[name].get("list") and here[0].before.fields[name].get("type") == "str":
        rule["each"] = True
    return rule


def _change(choice: Choice, places: list[tuple[str, str | None]], *, outputs: bool) -> Json:
    fields: dict[str, Any] = {}
    for name, attribute in places:
        entry = choice.after.fields.get(name)
        if entry is None:
            fields[name] = None
        elif attribute is None:
            fields[name] = dict(entry)
        else:
            fields.setdefault(name, {})[attribute] = entry.get(attribute)
    change: dict[str, Json] = {"fields": fields} if fields else {}
    if outputs:
        change["outputs"] = choice.after.outputs
    return change


def _most_common(changes: list[Json]) -> Json:
    """The most common value of each attribute that the options set."""
    base: dict[str, Json] = {}
    names = dict.fromkeys(name for change in changes for name in change.get("fields", {}))
    fields = {name: _commonest_field([change["fields"][name] for change in changes]) for name in names}
    if fields:
        base["fields"] = fields
    if any("outputs" in change for change in changes):
        base["outputs"] = _commonest([change["outputs"] for change in changes])
    return base


def _commonest_field(entries: list[Json]) -> Json:
    if any(entry is None or "name" in entry for entry in entries):
        return _commonest(entries)
    return {name: _commonest([entry[name] for entry in entries]) for name in entries[0]}


def _commonest(values: list[Json]) -> Json:
    texts = [json.dumps(value, sort_keys=True) for value in values]
    return values[texts.index(Counter(texts).most_common(1)[0][0])]


def _less(change: Json, base: Json) -> Json:
    """The part of `change` that differs from `base`."""
    less: dict[str, Json] = {}
    fields: dict[str, Json] = {}
    for name, entry in change.get("fields", {}).items():
        common = base["fields"][name]
        if entry is None or common is None or "name" in entry:
            if entry != common:
                fields[name] = entry
        elif rest := {key: value for key, value in entry.items() if common.get(key, _ABSENT) != value}:
            fields[name] = rest
    if fields:
        less["fields"] = fields
    if "outputs" in change and change["outputs"] != base["outputs"]:
        less["outputs"] = change["outputs"]
    return less


def _without_outputs(rules: Json) -> Json:
    """The rules of a field without outputs, which the rows of another field determine."""
    kept: list[Json] = []
    for rule in rules or []:
        base = {key: part for key, part in rule["base"].items() if key != "outputs"}
        options = {key: {k: p for k, p in change.items() if k != "outputs"} for key, change in rule["set"].items()}
        kept.append({**rule, "base": base, "set": {key: change for key, change in options.items() if change}})
    return kept if any(rule["base"] or rule["set"] for rule in kept) else [{"base": {}, "set": {}, "keys": []}]
