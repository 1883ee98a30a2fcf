"""Describing the options of a component: the fields, values and outputs of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from flows.component_type import TYPE_MIGRATIONS, ComponentType
from flows.fields.dynamic.rules import change_of
from flows.fields.values import option_names
from flows.json_values import Json, JsonObject, as_list, as_object, as_text, texts

_MARK = re.compile("⟦(?:_:)?(.+?)⟧")


def choice_lines(
    component: ComponentType, brief: Callable[[str, JsonObject], str], options: int
) -> list[tuple[str, str]]:
    """Return a field and a line for each rule about a field whose options change the component.

    Args:
        component: the component type.
        brief: describes a field of this name and definition in a word or two.
        options: the maximum number of options to list for a field.
    """
    found: list[tuple[str, str]] = []
    for name, rules in (component.choices or {}).items():
        for rule in map(as_object, as_list(rules)):
            when = [f"{other}={as_text(key) or 'none'}" for other, key in as_object(rule.get("when")).items()]
            lines = "; ".join(_rows(rule) if "rows" in rule else _effects(component, rule, brief, options))
            if lines:
                found.append((name, f"{name}{' (when ' + ', '.join(when) + ')' if when else ''}: {lines}"))
    return found


def type_names(value: Json) -> str:
    """Return port types in words, without the old names of types that are also listed under their new names."""
    names = texts(value)
    return " | ".join(name for name in names if TYPE_MIGRATIONS.get(name) not in names) or "nothing yet"


def conditional_fields(component: ComponentType) -> frozenset[str]:
    """Return the fields that are shown only for some option."""
    return frozenset(
        field
        for rules in (component.choices or {}).values()
        for rule in map(as_object, as_list(rules))
        for key in _keys(rule)
        for field in _shown(change_of(rule, [key]))
    )


def _effects(
    component: ComponentType, rule: JsonObject, brief: Callable[[str, JsonObject], str], options: int
) -> Iterator[str]:
    changes = {key: change_of(rule, [key]) for key in _keys(rule)}
    shown = {key: _shown(change) for key, change in changes.items()}
    always = set[str].intersection(*map(set, shown.values())) if shown else set[str]()
    offers = {key: _offers(component, change, options) for key, change in changes.items()}
    gives = {key: _outputs(change.get("outputs")) for key, change in changes.items()}
    lines: dict[str, list[str]] = {}
    for key in changes:
        effects = [brief(name, as_object(component.template.get(name))) for name in shown[key] if name not in always]
        effects += [text for text in offers[key] if any(text not in other for other in offers.values())]
        if "outputs" in changes[key] and any(gives[key] != other for other in gives.values()):
            effects.append(f"gives {gives[key] or 'no output'}")
        if key:
            lines.setdefault(", ".join(effects), []).append(key)
    plain = lines.pop("", [])
    for effect, keys in lines.items():
        yield f"{_options(keys, options)} -> {effect}"
    if lines and plain and not {"true", "false"} & {*plain}:
        yield f"{_options(plain, options)} -> nothing more"


def _rows(rule: JsonObject) -> Iterator[str]:
    rows = as_object(rule.get("rows"))
    each = [output for output in as_object(rows.get("outputs")).values() if isinstance(output, dict)]
    if made := _outputs(list[Json](each)):
        yield f"each row gives the output {made}"
    fields = [as_text(as_object(field).get("name")) for field in as_object(rows.get("fields")).values()]
    if named := list(dict.fromkeys(_named(name) for name in fields if name)):
        yield f"each row gives the field {' or '.join(named)}"
    if then := _outputs(rows.get("then")):
        yield f"also the output {then}"


def _keys(rule: JsonObject) -> list[str]:
    return list(dict.fromkeys([*texts(rule.get("keys")), *as_object(rule.get("set"))]))


def _shown(change: JsonObject) -> list[str]:
    fields = as_object(change.get("fields")).items()
    return [
        name for name, entry in fields if isinstance(entry, dict) and (entry.get("show") is True or "name" in entry)
    ]


def _offers(component: ComponentType, change: JsonObject, options: int) -> list[str]:
    """Return the options of other fields, except fields whose options are described separately."""
    found: list[str] = []
    for name, entry in as_object(change.get("fields")).items():
        names = option_names(as_object(entry)) if as_object(entry).get("options") else []
        if names and name not in (component.choices or {}):
            more = " | …" if len(names) > options else ""
            found.append(f"{name} is one of {' | '.join(names[:options])}{more}")
    return found


def _outputs(value: Json | None) -> str:
    made = [
        f"{_named(as_text(output.get('name')))}: {type_names(output.get('types'))}"
        for output in map(as_object, as_list(value))
        if output.get("name")
    ]
    return ", ".join(made)


def _named(name: str) -> str:
    return _MARK.sub(lambda found: "<number>" if found[1] == "#" else f"<{found[1]}>", name)


def _options(keys: list[str], options: int) -> str:
    return f"{' or '.join(keys[:options])}{' or …' if len(keys) > options else ''}"
