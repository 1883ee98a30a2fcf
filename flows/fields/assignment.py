"""Setting values on a node: all values are validated before any of them is applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from flows.actions import Configure, NodeChange, field_path, node_changes
from flows.component_type import ComponentType
from flows.document import Node
from flows.faults import Fault, did_you_mean, display_name_hint
from flows.fields.curl import COMMAND, curl_changes
from flows.fields.dynamic.refresh import choice_changes
from flows.fields.dynamic.rules import choice_offering, choice_showing, condition
from flows.fields.prompts import BRACKETS_FIELD, PROMPT_TYPES, TemplateError, template_changes
from flows.fields.secrets import VARIABLE_NAME, is_secret
from flows.fields.values import FieldValueError, coerce, current_options
from flows.json_values import MISSING, Json, JsonObject, as_object, as_text, same_json
from flows.ports import with_changes


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The result of setting values on one node: the changed node, one action per field, and faults.

    `warnings` are about values that were set nevertheless.
    """

    node: Node
    actions: tuple[Configure, ...] = ()
    faults: tuple[Fault, ...] = ()
    warnings: tuple[Fault, ...] = ()


def settings(node: Node, values: Mapping[str, Json], component: ComponentType | None = None) -> Settings:
    """Return the result of setting `values` on a node; if there is a fault, nothing is changed.

    Options are set first, then templates, whatever the order of `values`, so that the fields that they add can be set
    in the same call.

    Args:
        node: the node as it is.
        values: values by field name, as text or JSON.
        component: the node's component type, which says how its options change fields and outputs.
    """
    start, faults, warnings, actions = node, list[Fault](), list[Fault](), list[Configure]()
    choices = (component.choices if component is not None else None) or {}
    for name in _ordered(node, values, choices):
        field = node.field(name)
        if field is None or name == "_type":
            faults.append(_unknown(node, name, choices))
            continue
        try:
            value = coerce(field, values[name], _sibling_values(node, field, name, values))
            action = _configure(node, name, field, value)
            pasted = curl_changes(with_changes(node, node_changes(action)), name) if action is not None else ()
        except FieldValueError as error:
            fix = _other_choice(node, name, values[name], choices) if error.code == "bad_option" else ""
            message = f"{node.id}.{name} {error}.".replace("..", ".")
            faults.append(_fault(error.code, message, fix or error.fix, node, name))
            continue
        except TemplateError as error:
            faults.append(_fault("bad_template", f"{node.id}.{name}: {error}", error.fix, node, name))
            continue
        inactive = _inactive_field(node, name, field, choices)
        if inactive is not None:
            (faults if inactive.is_error else warnings).append(inactive)
        if action is not None:
            node = with_changes(node, node_changes(action))
            more = (*choice_changes(node, name, action.old, choices), *pasted)
            node = with_changes(node, more)
            actions.append(replace(action, also=(*action.also, *more)) if more else action)
    if faults:
        return Settings(node=start, faults=tuple(faults))
    return Settings(node=node, actions=tuple(actions), warnings=tuple(warnings))


def _sibling_values(node: Node, field: JsonObject, name: str, values: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the values on which the options of a field depend; empty without conditional options."""
    if not field.get("conditional_options"):
        return {}
    held = {key: other.get("value") for key, other in node.template.items()}
    return {**values, **held, name: values[name]}


def _other_choice(node: Node, name: str, value: Json, choices: Mapping[str, Json]) -> str:
    """Return the choice that makes a refused option available, or an empty string."""
    found = choice_offering(choices, node, name, as_text(value))
    return f"It can be chosen when {condition(found)}: set {node.id}.{found[0]} too." if found else ""


def _inactive_field(node: Node, name: str, field: JsonObject, choices: Mapping[str, Json]) -> Fault | None:
    """Return the fault of a value that is only used with an option that is not selected.

    The values of an operation that is not selected are ignored, which is an error; other hidden fields may be used.
    """
    found = choice_showing(choices, node, name) if field.get("show") is False else None
    if found is None:
        return None
    is_operation = as_object(node.field(found[0])).get("type") == "sortableList"
    message = f"{node.id}.{name} only counts when {condition(found)}."
    fix = f"Set {node.id}.{found[0]}, or leave {name} out."
    fault = _fault("inactive_field", message, fix, node, name)
    return fault if is_operation else replace(fault, severity="warning")


def _configure(node: Node, name: str, field: JsonObject, value: Json) -> Configure | None:
    path = field_path(name)
    also: list[NodeChange] = []
    named = is_secret(field) and isinstance(value, str) and VARIABLE_NAME.fullmatch(value) is not None
    if named and field.get("load_from_db") is not True:
        also.append(NodeChange((*path, "load_from_db"), field.get("load_from_db", MISSING), new=True))
    elif field.get("load_from_db") and not named:
        # A given value is literal, not the name of a stored variable.
        also.append(NodeChange((*path, "load_from_db"), field["load_from_db"], new=False))
    if field.get("show") is False:
        # The engine ignores hidden fields, so a field with a value has to be shown.
        also.append(NodeChange((*path, "show"), old=False, new=True))
    if field.get("type") == "file" and not same_json(field.get("file_path", MISSING), value):
        # The engine reads the path of a file from here, not from the value.
        also.append(NodeChange((*path, "file_path"), field.get("file_path", MISSING), value))
    if field.get("conditional_options"):
        options: Json = list[Json](current_options(field, {key: node.value(key) for key in node.template}))
        if not same_json(options, field.get("options", MISSING)):
            also.append(NodeChange((*path, "options"), field.get("options", MISSING), options))
    if field.get("type") in PROMPT_TYPES:
        also += template_changes(node, name, as_text(value), mustache=node.value(BRACKETS_FIELD) is True)
    if name == BRACKETS_FIELD and value is not node.value(name):
        also += _switch_brackets(node, double=value is True)
    old = field.get("value", MISSING)
    if same_json(old, value) and not also:
        return None
    return Configure(node.id, name, old, value, tuple(also))


def _switch_brackets(node: Node, *, double: bool) -> list[NodeChange]:
    changes: list[NodeChange] = []
    for name, field in node.template.items():
        if field.get("type") in PROMPT_TYPES:
            kind = "mustache" if double else "prompt"
            if field.get("type") != kind:
                changes.append(NodeChange((*field_path(name), "type"), field.get("type"), kind))
            if field.get("value"):
                changes += template_changes(node, name, as_text(field.get("value")), mustache=double)
    return changes


def _ordered(node: Node, values: Mapping[str, Json], choices: Mapping[str, Json]) -> list[str]:
    if len(values) == 1:
        return list(values)
    first = [BRACKETS_FIELD, *choices, COMMAND]

    def rank(name: str) -> int:
        if name in first:
            return first.index(name)
        return len(first) + (0 if as_object(node.field(name)).get("type") in PROMPT_TYPES else 1)

    return sorted(values, key=rank)


def _unknown(node: Node, name: str, choices: Mapping[str, Json]) -> Fault:
    found = choice_showing(choices, node, name)
    if found is not None:
        message = f"{node.id} ({node.type}) has the field {name!r} only when {condition(found)}."
        return _fault("unknown_field", message, f"Set {node.id}.{found[0]}, or leave {name} out.", node, name)
    names = [key for key, field in node.template.items() if key != "code" and field.get("show", True) is not False]
    seen = display_name_hint(name, ((key, as_text(field.get("display_name"))) for key, field in node.template.items()))
    fix = seen or did_you_mean(name, list(node.template), otherwise="its fields are")
    if not seen and "Did you mean" not in fix:
        fix = did_you_mean(name, names, otherwise="its fields are")
    if any(field.get("type") in PROMPT_TYPES for field in node.template.values()):
        fix += f" To make {name!r} a variable, write {{{name}}} into the template."
    return _fault("unknown_field", f"{node.id} ({node.type}) has no field {name!r}.", fix, node, name)


def _fault(code: str, message: str, fix: str, node: Node, field: str) -> Fault:
    return Fault(code=code, message=message, fix=fix, node=node.id, field=field)
