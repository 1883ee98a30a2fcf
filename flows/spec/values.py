"""Values of a spec as a node takes them: comments are left out where a field holds no free text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from flows.component_type import ComponentType
from flows.document import Node
from flows.fields.assignment import Settings, settings
from flows.json_values import Json, as_object, as_text
from flows.spec.parse import SpecValue, without_comment

_FREE_TEXT = frozenset({"", "str", "prompt", "mustache", "code", "query", "link"})


def with_values(node: Node, values: Mapping[str, SpecValue], component: ComponentType | None) -> Settings:
    """Set the values of one node of a spec; valid ones are set even when others are not.

    Args:
        node: the node.
        values: its values by field name.
        component: its type, if it is known.
    """
    texts: dict[str, Json] = {name: value_text(node, value) for name, value in values.items()}
    outcome = settings(node, texts, component)
    for fault in outcome.faults:
        value = values.get(fault.field or "")
        if value is not None and not value.literal and without_comment(value.text) != value.text:
            texts[value.field] = without_comment(value.text)
    if outcome.faults and any(texts[name] != value_text(node, value) for name, value in values.items()):
        outcome = settings(node, texts, component)
    if outcome.faults:
        # Valid values are set nevertheless, so that edges are checked against the variables of templates.
        bad = {fault.field for fault in outcome.faults}
        rest = settings(node, {name: text for name, text in texts.items() if name not in bad}, component)
        return replace(outcome, node=rest.node)
    return outcome


def value_text(node: Node, value: SpecValue) -> str:
    """Return a value as it was written, without a trailing comment unless the field holds free text."""
    field = as_object(node.field(value.field))
    is_free = not field or (as_text(field.get("type")) in _FREE_TEXT and not field.get("options"))
    return value.text if value.literal or is_free else without_comment(value.text)
