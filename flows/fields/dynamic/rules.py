"""The catalogue's rules for choices: which rule applies, and which choice a field or an output needs.

`ComponentType.choices` has the rules of a component type by the name of the choosing field, in the order in which
choices are applied. A rule is `{"when", "base", "set", "keys", "each"}` or `{"when", "rows"}`, as the runner exports it
(`lfx_runner/introspect/options.py`, `rows.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from flows.document import Node
from flows.json_values import Json, JsonObject, as_list, as_object, as_text, texts

_Test: TypeAlias = Callable[[JsonObject], bool]


def keys_of(field: JsonObject, value: Json) -> list[str]:
    """Return the keys for a value in the rules: one, or one for each option of a field with several."""
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if field.get("type") == "file":
        paths = [path for path in (texts(value) if isinstance(value, list) else [as_text(value)]) if path]
        if len(paths) > 1:
            return ["many"]
        return [f".{paths[0].rpartition('.')[2].lower()}" if paths else ""]
    if isinstance(value, list):
        names = [as_text(item.get("name")) if isinstance(item, dict) else as_text(item) for item in value]
        return names or [""]
    return [as_text(value)]


def rule_for(choices: Mapping[str, Json], node: Node, name: str) -> JsonObject:
    """Return the rule of the choosing field `name` that matches the node's values best, or an empty one."""
    best: JsonObject = {}
    for rule in map(as_object, as_list(choices.get(name))):
        when = as_object(rule.get("when"))
        fits = all(
            as_text(key) in keys_of(as_object(node.field(other)), node.value(other)) for other, key in when.items()
        )
        if fits and (not best or len(when) > len(as_object(best.get("when")))):
            best = rule
    return best


def depends_on(choices: Mapping[str, Json], name: str, others: set[str]) -> bool:
    """Say whether a rule of the choosing field `name` depends on the value of one of `others`."""
    return any(others & set(as_object(as_object(rule).get("when"))) for rule in as_list(choices.get(name)))


def change_of(rule: JsonObject, keys: list[str]) -> JsonObject:
    """Return the changes of a rule for the selected options: the common ones, overridden by those of the options."""
    special = [as_object(as_object(rule.get("set")).get(key)) for key in keys]
    if not rule.get("each") and len(keys) != 1:
        special = [as_object(as_object(rule.get("set")).get(""))]
    base = as_object(rule.get("base"))
    fields: JsonObject = dict(as_object(base.get("fields")))
    outputs = base.get("outputs")
    for change in special:
        for name, entry in as_object(change.get("fields")).items():
            before = fields.get(name)
            partly = isinstance(entry, dict) and isinstance(before, dict) and "name" not in entry
            fields[name] = {**as_object(before), **as_object(entry)} if partly else entry
        outputs = change.get("outputs", outputs)
    return {"fields": fields, "outputs": outputs} if outputs is not None else {"fields": fields}


def choice_showing(choices: Mapping[str, Json], node: Node, field: str) -> tuple[str, list[str]] | None:
    """Return the choosing field and its options that show the field `field`; None if no choice affects it.

    The options are those that show it with the other choices as they are, or else with any.
    """
    return _found(choices, node, lambda change: _shows(change, field))


def choice_giving(choices: Mapping[str, Json], node: Node, output: str) -> tuple[str, list[str]] | None:
    """Return the choosing field and its options that add an output called `output`, or None."""
    return _found(
        choices,
        node,
        lambda change: any(as_object(made).get("name") == output for made in as_list(change.get("outputs"))),
    )


def choice_offering(choices: Mapping[str, Json], node: Node, field: str, option: str) -> tuple[str, list[str]] | None:
    """Return the choosing field and its options that offer `option` in the field `field`, or None."""

    def offers(change: JsonObject) -> bool:
        listed = as_list(as_object(as_object(change.get("fields")).get(field)).get("options"))
        return any(option == (item.get("name") if isinstance(item, dict) else item) for item in listed)

    return _found(choices, node, offers)


def condition(found: tuple[str, list[str]]) -> str:
    """Return the choice in words: `operation is 'Head' or 'Tail'`."""
    name, options = found
    shown = [repr(option) if option not in ("true", "false") else option for option in options[:4]]
    return f"{name} is {' or '.join(shown)}{' or another' if len(options) > 4 else ''}"


def _found(choices: Mapping[str, Json], node: Node, wanted: _Test) -> tuple[str, list[str]] | None:
    elsewhere: tuple[str, list[str]] | None = None
    for name in choices:
        current = rule_for(choices, node, name)
        for rule in map(as_object, as_list(choices[name])):
            options = [key for key, change in _changes(rule) if key and wanted(change)]
            if not options or len(options) == len(list(_changes(rule))):
                continue
            if rule is current:
                return name, options
            when = as_object(rule.get("when"))
            first = next(iter(when), None)
            elsewhere = elsewhere or ((first, [as_text(when[first])]) if first is not None else (name, options))
    return elsewhere


def _changes(rule: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for key in dict.fromkeys([*texts(rule.get("keys")), *as_object(rule.get("set"))]):
        yield key, change_of(rule, [key])


def _shows(change: JsonObject, field: str) -> bool:
    entry = as_object(change.get("fields")).get(field)
    return isinstance(entry, dict) and (entry.get("show") is True or "name" in entry)
