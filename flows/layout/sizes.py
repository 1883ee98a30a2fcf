"""The size of nodes on the canvas in pixels, estimated from their fields."""

from __future__ import annotations

from flows.document import Node
from flows.json_values import as_object

WIDTH = 384.0
"""The width of a node."""
ROW = 350
"""The minimum height of a node, including the gap below it."""
GAP = 60
"""The gap below a node."""
_HEADER, _FIELD, _OUTPUT = 130, 64, 44
_TALL_TYPES = {"prompt": 30, "table": 30, "slider": 40}


def node_height(node: Node) -> float:
    """Return the estimated height of a node in pixels, including the gap below it; at least `ROW`."""
    fields = 0
    for name, field in node.template.items():
        if not field.get("advanced") and name != "code" and field.get("show") is not False:
            fields += _FIELD + _TALL_TYPES.get(str(field.get("type")), 0)
    grouped = [output for output in node.outputs if output.get("group_outputs")]
    outputs = _OUTPUT * max(len(grouped), 1 if node.outputs else 0)
    return float(max(ROW, _HEADER + fields + outputs + GAP))


def node_width(node: Node) -> float:
    """Return the width of a node: as measured by the canvas, or the default."""
    for holder in (node.raw, as_object(node.raw.get("measured"))):
        width = holder.get("width")
        if isinstance(width, int | float) and not isinstance(width, bool):
            return float(width)
    return WIDTH
