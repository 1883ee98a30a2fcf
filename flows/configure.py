"""Setting values on a node: every value is judged first, and only then is any of them applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flows.actions import Configure, NodeChange, field_path
from flows.document import Node
from flows.faults import Fault, did_you_mean
from flows.fields import FieldValueError, coerce, current_options
from flows.jsonvalues import MISSING, Json, JsonObject, as_object, as_text, same_json
from flows.ports import with_changes
from flows.prompts import BRACKETS_FIELD, PROMPT_TYPES, TemplateError, template_change


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The outcome of setting values on one node: the node after them, one action a field, and what was wrong."""

    node: Node
    actions: tuple[Configure, ...] = ()
    faults: tuple[Fault, ...] = ()
    removed_variables: tuple[str, ...] = ()


def settings(node: Node, values: Mapping[str, Json]) -> Settings:
    """Return what setting `values` does to a node; with any fault nothing is changed.

    Templates come first, whatever the order, so that the variables they bring can be set in the same call.

    Args:
        node: the node as it is.
        values: values by field name, as text or JSON.
    """
    start, faults, actions, removed = node, list[Fault](), list[Configure](), list[str]()
    siblings = {name: field.get("value") for name, field in node.template.items()}
    for name in _ordered(node, values):
        field = node.field(name)
        if field is None or name == "_type":
            faults.append(_unknown(node, name))
            continue
        try:
            value = coerce(field, values[name], {**siblings, **values})
            action, gone = _configure(node, name, field, value)
        except FieldValueError as error:
            faults.append(_fault(error.code, f"{node.id}.{name} {error}.".replace("..", "."), error.fix, node, name))
            continue
        except TemplateError as error:
            faults.append(_fault("bad_template", f"{node.id}.{name}: {error}", error.fix, node, name))
            continue
        removed += gone
        siblings[name] = value
        if action is not None:
            actions.append(action)
            node = with_changes(node, (NodeChange((*field_path(name), "value"), action.old, action.new), *action.also))
    if faults:
        return Settings(node=start, faults=tuple(faults))
    return Settings(node=node, actions=tuple(actions), removed_variables=tuple(removed))


def _configure(node: Node, name: str, field: JsonObject, value: Json) -> tuple[Configure | None, tuple[str, ...]]:
    path = field_path(name)
    also: list[NodeChange] = []
    gone: tuple[str, ...] = ()
    if field.get("load_from_db"):
        # A value that is given is meant literally, not as the name of a stored variable.
        also.append(NodeChange((*path, "load_from_db"), field["load_from_db"], new=False))
    if field.get("show") is False:
        # The engine ignores hidden fields, so a field that is set has to be shown.
        also.append(NodeChange((*path, "show"), old=False, new=True))
    if field.get("type") == "file" and not same_json(field.get("file_path", MISSING), value):
        # The engine reads a file's place from here, not from the value.
        also.append(NodeChange((*path, "file_path"), field.get("file_path", MISSING), value))
    if field.get("conditional_options"):
        options: Json = list[Json](current_options(field, {key: node.value(key) for key in node.template}))
        if not same_json(options, field.get("options", MISSING)):
            also.append(NodeChange((*path, "options"), field.get("options", MISSING), options))
    if field.get("type") in PROMPT_TYPES:
        change = template_change(node, name, as_text(value), mustache=node.value(BRACKETS_FIELD) is True)
        also += change.changes
        gone = change.removed
    if name == BRACKETS_FIELD and value is not node.value(name):
        changes, gone = _switch_brackets(node, double=value is True)
        also += changes
    old = field.get("value", MISSING)
    if same_json(old, value) and not also:
        return None, gone
    return Configure(node.id, name, old, value, tuple(also)), gone


def _switch_brackets(node: Node, *, double: bool) -> tuple[list[NodeChange], tuple[str, ...]]:
    changes: list[NodeChange] = []
    gone: tuple[str, ...] = ()
    for name, field in node.template.items():
        if field.get("type") in PROMPT_TYPES:
            kind = "mustache" if double else "prompt"
            if field.get("type") != kind:
                changes.append(NodeChange((*field_path(name), "type"), field.get("type"), kind))
            if field.get("value"):
                change = template_change(node, name, as_text(field.get("value")), mustache=double)
                changes += change.changes
                gone += change.removed
    return changes, gone


def _ordered(node: Node, values: Mapping[str, Json]) -> list[str]:
    def rank(name: str) -> int:
        if name == BRACKETS_FIELD:
            return 0
        return 1 if as_object(node.field(name)).get("type") in PROMPT_TYPES else 2

    return sorted(values, key=rank)


def _unknown(node: Node, name: str) -> Fault:
    names = [key for key, field in node.template.items() if key != "code" and field.get("show", True) is not False]
    fix = did_you_mean(name, list(node.template), otherwise="its fields are")
    if "Did you mean" not in fix:
        fix = did_you_mean(name, names, otherwise="its fields are")
    if any(field.get("type") in PROMPT_TYPES for field in node.template.values()):
        fix += f" To make {name!r} a variable, write {{{name}}} into the template."
    return _fault("unknown_field", f"{node.id} ({node.type}) has no field {name!r}.", fix, node, name)


def _fault(code: str, message: str, fix: str, node: Node, field: str) -> Fault:
    return Fault(code=code, message=message, fix=fix, node=node.id, field=field)
