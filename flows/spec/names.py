"""Display names from the ids of a spec: an id that is a name is one, a mere handle such as `A` or `n1` is not."""

from __future__ import annotations

import re
from collections.abc import Mapping

from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.document import Flow, Json
from flows.edits.new_nodes import with_display_name
from flows.search.tokenizer import plain

_HANDLE = re.compile(r"(?:[A-Za-z]{1,2}|node|comp(?:onent)?|step)[_\s-]?\d*")
_LIMIT = 60


def display_name(spec_id: str, component: ComponentType) -> str | None:
    """Return the display name that a node's id gives it, or None when the id is no name of its own.

    Args:
        spec_id: the id, such as `tone_router`.
        component: the node's type; its own names are no names of a node.
    """
    words = " ".join(spec_id.replace("_", " ").split())
    known = {plain(component.type), plain(component.display_name)}
    bare = plain(spec_id)
    if not bare or len(words) > _LIMIT or _HANDLE.fullmatch(spec_id) or plain(bare.rstrip("0123456789")) in known:
        return None
    if spec_id.startswith(f"{component.type}-") or bare in known:
        return None
    return words[0].upper() + words[1:]


def with_names(flow: Flow, ids: Mapping[str, str], catalogue: Catalogue) -> Flow:
    """Return a built flow whose components have the display names that their ids in the spec give them.

    Args:
        flow: the flow.
        ids: node ids by spec ids.
        catalogue: the component types.
    """
    spec_ids = {node_id: spec_id for spec_id, node_id in ids.items()}
    nodes: list[Json] = []
    for node in flow.nodes:
        component = catalogue.get(node.type)
        name = display_name(spec_ids[node.id], component) if component is not None and node.id in spec_ids else None
        nodes.append(node.raw if name is None else with_display_name(node, name).raw)
    return flow.with_parts(nodes=nodes)
