"""Reads and changes nodes in a flow's JSON, including those inside groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flows.document import Json, JsonObject
from flows.json_values import as_list, as_object, as_text, object_at


def nodes_in(data: JsonObject) -> list[JsonObject]:
    """The nodes of `data`, without those inside groups."""
    return [as_object(node) for node in as_list(data.get("nodes"))]


def definition_of(node: JsonObject) -> JsonObject:
    """The component definition of a node."""
    return object_at(node, "data", "node")


def kind_of(node: JsonObject) -> str:
    """The component type of a node."""
    return as_text(object_at(node, "data").get("type"))


def group_data(definition: JsonObject) -> JsonObject:
    """The nodes and edges inside a group; empty for any other node."""
    return object_at(definition, "flow", "data")


def every_node(data: JsonObject) -> Iterator[JsonObject]:
    """The nodes of `data`, each group followed by the nodes inside it."""
    for node in nodes_in(data):
        yield node
        yield from every_node(group_data(definition_of(node)))


def calls_fields_code(data: JsonObject) -> bool:
    """Whether a node, those inside groups included, calls a field code, so that the guard has to read its value.

    Args:
        data: nodes and edges.
    """
    return any(
        name != "code" and as_object(entry).get("type") == "code"
        for node in every_node(data)
        for name, entry in object_at(definition_of(node), "template").items()
    )


def with_definition(node: JsonObject, definition: JsonObject) -> JsonObject:
    """The node with another definition."""
    return {**node, "data": {**object_at(node, "data"), "node": definition}}


def with_group_nodes(definition: JsonObject, nodes: list[Json]) -> JsonObject:
    """The definition of a group with other nodes inside."""
    flow: JsonObject = {**object_at(definition, "flow"), "data": {**group_data(definition), "nodes": nodes}}
    return {**definition, "flow": flow}


def with_values(definition: JsonObject, values: Mapping[str, Json]) -> JsonObject:
    """The definition with other field values, none of which names a variable; missing fields are added."""
    if not values:
        return definition
    template = dict(object_at(definition, "template"))
    for name, value in values.items():
        entry = as_object(template.get(name)) or {"name": name, "type": "str", "show": True}
        template[name] = {**entry, "value": value, "load_from_db": False}
    return {**definition, "template": template}
