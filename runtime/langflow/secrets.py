"""Secrets of flows, which travel in neither direction unless the user asks for it.

What was typed into a secret field of a flow there is read with it, because a server gives a flow as a whole. It is
removed before the flow is stored, shown or edited here, and put back from the server's own copy into what is sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from flows.document import Flow, Json
from flows.edits.updates import is_engines_own
from flows.json_values import as_object, get_at, replace_at, same_json
from runtime.keychain.documents import DocumentSealing

Path: TypeAlias = tuple[str | int, ...]
_CODE: Path = ("data", "node", "template", "code", "value")


def without_secrets(flow: Flow) -> Flow:
    """A flow with nothing where it has a secret; the engine's own code stays, whatever it looks like.

    Args:
        flow: the flow.
    """
    bare = Flow(DocumentSealing.without_keys(flow.raw))
    nodes: list[Json] = []
    for before, after in zip(flow.nodes, bare.nodes, strict=True):
        kept = is_engines_own(before) and not same_json(before.raw, after.raw)
        nodes.append(as_object(replace_at(after.raw, _CODE, before.code)) if kept else after.raw)
    return bare.with_parts(nodes=nodes)


def with_secrets_of(flow: Flow, theirs: Flow) -> Flow:
    """A flow with the secrets of another one where it has nothing and the other has one.

    Law: `with_secrets_of(without_secrets(flow), flow)` is `flow`.

    Args:
        flow: a flow without secrets, or with some.
        theirs: the flow that has them.
    """
    bare = without_secrets(theirs)
    known = {node.id: (node, stripped) for node, stripped in zip(theirs.nodes, bare.nodes, strict=True)}
    nodes: list[Json] = []
    for node in flow.nodes:
        raw = node.raw
        if node.id in known:
            full, stripped = known[node.id]
            for path in _differing(full.raw, stripped.raw):
                if same_json(get_at(raw, path), get_at(stripped.raw, path)):
                    raw = as_object(replace_at(raw, path, get_at(full.raw, path)))
        nodes.append(raw)
    raw = flow.with_parts(nodes=nodes).raw
    for key in ("name", "description"):
        if not same_json(theirs.raw.get(key, ""), bare.raw.get(key, "")) and raw.get(key) == bare.raw.get(key):
            raw = {**raw, key: theirs.raw[key]}
    return Flow(raw)


def withheld_secrets(flow: Flow, theirs: Flow) -> list[tuple[str, str]]:
    """The secrets of a flow that another one does not have at the same place: by node, and name of the field.

    Args:
        flow: the flow.
        theirs: the other one.
    """
    found: list[tuple[str, str]] = []
    for node, bare in zip(flow.nodes, without_secrets(flow).nodes, strict=True):
        other = theirs.node(node.id)
        found += [
            (node.id, _field(path))
            for path in _differing(node.raw, bare.raw)
            if other is None or not same_json(get_at(node.raw, path), get_at(other.raw, path))
        ]
    return found


def _field(path: Path) -> str:
    """The name of the field that a place in a node belongs to."""
    if "template" in path:
        return str(path[path.index("template") + 1])
    return next((str(key) for key in reversed(path) if isinstance(key, str)), "")


def _differing(left: Json, right: Json, path: Path = ()) -> Iterator[Path]:
    """The places where two values of the same form differ."""
    if isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys():
        for key, item in left.items():
            yield from _differing(item, right[key], (*path, key))
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, item in enumerate(left):
            yield from _differing(item, right[index], (*path, index))
    elif not same_json(left, right):
        yield path
