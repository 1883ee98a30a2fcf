"""Finding the component that a name refers to: its id, a name of one's own for it, its display name or its type."""

from __future__ import annotations

from collections.abc import Mapping

from flows.document import Flow, Node
from flows.search.tokenizer import plain


def find_component(flow: Flow, name: str, names: Mapping[str, str] | None = None) -> Node | None:
    """Return the component that a name refers to, or None when there is none or more than one.

    Args:
        flow: the flow.
        name: an id, a key of `names`, or a display name or type that only one component has.
        names: ids by other names.
    """
    node = flow.node(name) or flow.node((names or {}).get(name, ""))
    if node is not None:
        return node
    wanted = plain(name)
    for labels in ({node.id: node.display_name for node in flow.components}, {n.id: n.type for n in flow.components}):
        found = [node_id for node_id, label in labels.items() if wanted and plain(label) == wanted]
        if len(found) == 1:
            return flow.node(found[0])
    return None
