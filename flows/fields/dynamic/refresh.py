"""Refreshing a component after a value is set: its fields and outputs change as in the engine's refresh."""

from __future__ import annotations

from collections.abc import Mapping

from flows.actions import NodeChange, field_path
from flows.component_type import ComponentType
from flows.document import Node
from flows.fields.dynamic.rows import row_changes
from flows.fields.dynamic.rules import change_of, depends_on, keys_of, rule_for
from flows.json_values import MISSING, Json, JsonObject, MaybeJson, as_list, as_object, get_at, same_json
from flows.ports import with_changes

_OUTPUTS = ("data", "node", "outputs")


def choice_changes(node: Node, name: str, before: MaybeJson, choices: Mapping[str, Json]) -> tuple[NodeChange, ...]:
    """Return what the new value of the field `name` changes in the rest of its node.

    Choices that depend on this one are refreshed with their present values.

    Args:
        node: the node with the new value.
        name: the field that was set.
        before: its previous value.
        choices: the rules for the component type's choices in the catalogue.
    """
    if name not in choices:
        return ()
    changes: list[NodeChange] = []
    affected = {name}
    for chooser in list(choices)[list(choices).index(name) :]:
        reapplied = chooser != name
        if reapplied and not (chooser in affected or depends_on(choices, chooser, affected)):
            continue
        field = node.field(chooser)
        rule = rule_for(choices, node, chooser)
        if field is None or not rule:
            continue
        old = before if not reapplied else field.get("value", MISSING)
        step = _applied(node, chooser, rule, old, reapplied=reapplied)
        affected |= {
            chooser,
            *(str(change.path[3]) for change in step if len(change.path) == 5 and change.path[4] == "value"),
        }
        changes += step
        node = with_changes(node, step)
    return tuple(changes)


def first_choices(node: Node, component: ComponentType) -> Node:
    """Return a new node with the fields and outputs for the rows of its default values.

    The engine's definition does not contain them until a person edits the node.
    """
    for name, rules in (component.choices or {}).items():
        if any("rows" in as_object(rule) for rule in as_list(rules)):
            rule = rule_for(component.choices or {}, node, name)
            node = with_changes(node, _applied(node, name, rule, node.value(name), reapplied=True))
    return node


def _applied(node: Node, name: str, rule: JsonObject, before: MaybeJson, *, reapplied: bool) -> tuple[NodeChange, ...]:
    if "rows" in rule:
        return tuple(row_changes(node, name, before, as_object(rule["rows"])))
    change = change_of(rule, keys_of(as_object(node.field(name)), node.value(name)))
    changes: list[NodeChange] = []
    for other, entry in as_object(change.get("fields")).items():
        changes += _field_changes(node, other, entry, reapplied=reapplied)
    made = change.get("outputs")
    if made is not None and not node.tool_mode and not same_json(made, node.definition.get("outputs")):
        changes.append(NodeChange(_OUTPUTS, node.definition.get("outputs", MISSING), made))
    return tuple(changes)


def _field_changes(node: Node, name: str, entry: Json, *, reapplied: bool) -> list[NodeChange]:
    path = field_path(name)
    old = get_at(node.raw, path)
    if entry is None:
        return [] if old is MISSING else [NodeChange(path, old, MISSING)]
    wanted = as_object(entry)
    if "name" in wanted:
        return [NodeChange(path, MISSING, wanted)] if old is MISSING else []
    changes: list[NodeChange] = []
    for attribute, value in wanted.items():
        held = as_object(old).get(attribute, MISSING)
        skipped = old is MISSING or (attribute == "value" and reapplied) or (held is MISSING and value is None)
        if not skipped and not same_json(held, value):
            changes.append(NodeChange((*path, attribute), held, value))
    return changes
