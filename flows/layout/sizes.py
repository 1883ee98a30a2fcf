"""How large nodes are drawn on the canvas, in pixels, as far as their fields tell."""

from __future__ import annotations

from flows.document import Node
from flows.json_values import as_object

WIDTH = 384.0
"""How wide a node is drawn."""
ROW = 350
"""The least height that a node takes up with the gap under it."""
GAP = 60
"""What stays free under a node."""
_HEADER, _FIELD, _OUTPUT = 130, 64, 44
_TALL_TYPES = {"prompt": 30, "table": 30, "slider": 40}


def node_height(node: Node) -> float:
    """Return about how many pixels high a node is drawn, with the gap under it; never less than a row."""
    fields = 0
    for name, field in node.template.items():
        if not field.get("advanced") and name != "code" and field.get("show") is not False:
            fields += _FIELD + _TALL_TYPES.get(str(field.get("type")), 0)
    grouped = [output for output in node.outputs if output.get("group_outputs")]
    outputs = _OUTPUT * max(len(grouped), 1 if node.outputs else 0)
    return float(max(ROW, _HEADER + fields + outputs + GAP))


def node_width(node: Node) -> float:
    """Return how wide a node is drawn: what the canvas measured, else the usual."""
    for holder in (node.raw, as_object(node.raw.get("measured"))):
        width = holder.get("width")
        if isinstance(width, int | float) and not isinstance(width, bool):
            return float(width)
    return WIDTH
