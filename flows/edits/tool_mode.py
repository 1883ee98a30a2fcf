"""Turning a component into a tool of an agent, and back into a step."""

from __future__ import annotations

from flows.catalogue import Catalogue
from flows.document import Node
from flows.edits.result import EditError
from flows.faults import Fault
from flows.json_values import MISSING, JsonObject, Missing, as_list, as_object
from flows.ports import tool_mode_changes, with_changes


def with_tool_mode(node: Node, catalogue: Catalogue, *, enabled: bool) -> Node:
    """Return the component as a tool, or as a step.

    Args:
        node: the component.
        catalogue: the component types, which say what outputs a step has.
        enabled: whether it is a tool.

    Raises:
        EditError: no field of it can be filled by an agent, or its type is unknown and so are its outputs.
    """
    if enabled:
        if not any(as_object(field).get("tool_mode") is True for field in node.template.values()):
            message = f"{node.id} cannot be a tool: an agent could fill none of its fields."
            raise EditError(Fault(code="no_tool", message=message, fix="Choose another component.", node=node.id))
        return with_changes(node, tool_mode_changes(node))
    component = catalogue.get(node.type)
    if component is None:
        message = f"The outputs of {node.id} are not known, since its type is not in the catalogue."
        raise EditError(Fault(code="unknown_type", message=message, fix="Add the component anew.", node=node.id))
    definition: JsonObject = {key: value for key, value in node.definition.items() if key != "tool_mode"}
    definition["outputs"] = as_list(component.definition.get("outputs"))
    standing = component.definition.get("tool_mode", MISSING)
    if not isinstance(standing, Missing):
        definition["tool_mode"] = standing
    return Node({**node.raw, "data": {**as_object(node.raw.get("data")), "node": definition}})
