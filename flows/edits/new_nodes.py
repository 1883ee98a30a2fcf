"""New nodes of a component type."""

from __future__ import annotations

from flows.component_type import ComponentType
from flows.document import Node
from flows.fields.dynamic.refresh import first_choices
from flows.json_values import JsonObject, object_at


def new_node(component: ComponentType, node_id: str) -> Node:
    """Return a new node of a component type, in the form that Langflow's builder gives it.

    The definition is shared with the catalogue; an edit copies only what it changes.
    """
    data: JsonObject = {"id": node_id, "type": component.type, "node": component.definition, "showNode": True}
    position: JsonObject = {"x": 0, "y": 0}
    node = Node({"id": node_id, "type": "genericNode", "position": position, "selected": False, "data": data})
    return first_choices(node, component) if component.choices else node


def with_display_name(node: Node, name: str) -> Node:
    """Return a node with another display name."""
    data = object_at(node.raw, "data")
    definition: JsonObject = {**object_at(data, "node"), "display_name": name}
    return Node({**node.raw, "data": {**data, "node": definition}})
