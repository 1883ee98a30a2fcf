"""Faults in a flow's content: a wrong component type, a changed value, a value in the wrong field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from evals.mutate.wiring import Fault, edited
from evals.oracles.scored_flow import scored_flow
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits.basic import configure
from flows.edits.replace import replace_component
from flows.json_values import Json, JsonObject, as_object

OTHERS = 2
"""How many other types each component is replaced by."""


def swap_type(flow: Flow, catalogue: Catalogue) -> Iterator[Fault]:
    """Each component, replaced by one of the types that a search for its type finds next."""
    for node in flow.components:
        kind = catalogue.get(node.type)
        if kind is None:
            continue
        near = [match.type for match in catalogue.search(kind.display_name, OTHERS + 4) if match.type != node.type]
        for other in near[:OTHERS]:
            yield (
                f"{node.id} became {other}",
                partial(edited, partial(replace_component, flow, catalogue, node.id, other)),
            )


def change_value(flow: Flow, catalogue: Catalogue) -> Iterator[Fault]:
    """Each value that was set, changed."""
    for scored in scored_flow(flow, catalogue).nodes:
        node = flow.node(scored.id)
        for name in scored.values:
            other = None if node is None or name == "code" else _other_value(as_object(node.template.get(name)))
            if other is not None:
                yield f"{scored.id}.{name} changed", _set(flow, catalogue, scored.id, {name: other})


def move_value(flow: Flow, catalogue: Catalogue) -> Iterator[Fault]:
    """Each text that was set, moved to an empty text field of its component."""
    for scored in scored_flow(flow, catalogue).nodes:
        node = flow.node(scored.id)
        kind = catalogue.get(scored.type)
        if node is None or kind is None:
            continue
        for name in scored.values:
            value = node.value(name)
            default = as_object(kind.template.get(name)).get("value")
            if not isinstance(value, str) or name == "code":
                continue
            for target, field in node.template.items():
                empty = field.get("type") == "str" and field.get("value") in ("", None) and field.get("show", True)
                if target == name or not empty or field.get("options"):
                    continue
                emptied = default if isinstance(default, str) else ""
                yield (
                    f"{scored.id}.{name} moved to {target}",
                    _set(flow, catalogue, scored.id, {name: emptied, target: value}),
                )
                break


def silent_edit(before: Flow, flow: Flow, catalogue: Catalogue) -> Iterator[Fault]:
    """A value of each component at the start, changed unasked.

    Args:
        before: the canvas at the start; only its components are changed.
    """
    for node in flow.nodes:
        old = before.node(node.id)
        if node.is_note or old is None or old.type != node.type:
            continue
        for name, field in node.template.items():
            other = _other_value(field) if field.get("type") in ("bool", "int") and field.get("show", True) else None
            if other is None or field.get("value") != as_object(old.template.get(name)).get("value"):
                continue
            yield f"{node.id}.{name} changed unasked", _set(flow, catalogue, node.id, {name: other})
            break


def _set(flow: Flow, catalogue: Catalogue, node_id: str, values: dict[str, Json]) -> Callable[[], Flow | None]:
    return partial(edited, partial(configure, flow, catalogue, node_id, values))


def _other_value(field: JsonObject) -> Json:
    """A legal value that differs from the field's, or None if none is known."""
    value, options = field.get("value"), field.get("options")
    if isinstance(options, list) and options:
        names = [as_object(option).get("name", option) if isinstance(option, dict) else option for option in options]
        return next((name for name in names if isinstance(name, str) and name and str(name) not in str(value)), None)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value} (altered)" if value else None
    return None
