"""Whether a flow has code that is not the catalogue's: such code can write its own result, so it is marked."""

from __future__ import annotations

from collections.abc import Iterator

from flows.catalogue import Catalogue
from flows.document import JsonObject
from flows.json_values import as_list, as_object, as_text, object_at
from runtime.guard.admission import find, same_code
from runtime.guard.executed import OUT_OF_FIELD


def has_untrusted_code(data: JsonObject, catalogue: Catalogue) -> bool:
    """Whether any of the nodes, those inside groups included, executes code that is not the catalogue's for its type.

    Args:
        data: nodes and edges.
        catalogue: the component types of the engine, without the user's own.
    """
    return any(_is_untrusted(node, catalogue) for node in _nodes(data))


def _is_untrusted(node: JsonObject, catalogue: Catalogue) -> bool:
    kind = as_text(object_at(node, "data").get("type"))
    known = find(catalogue, kind)
    code = as_text(object_at(node, "data", "node", "template", "code").get("value"))
    return known is None or not same_code(code, known.code) or kind in OUT_OF_FIELD


def _nodes(data: JsonObject) -> Iterator[JsonObject]:
    """Every node that has code of its own."""
    for node in map(as_object, as_list(data.get("nodes"))):
        group = object_at(node, "data", "node", "flow")
        if group:
            yield from _nodes(object_at(group, "data"))
        else:
            yield node
