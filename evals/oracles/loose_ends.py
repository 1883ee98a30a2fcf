"""Components that a player added and that do nothing."""

from __future__ import annotations

from evals.case import Case
from flows.document import Flow

_OUTPUTS = frozenset({"ChatOutput", "TextOutput"})


def loose_ends(case: Case) -> list[str]:
    """The added components from which nothing leads to an end of the flow, by name, sorted.

    An end is an output, or a component of a type at which a right flow or the canvas ends, such as one that writes a
    file. What was on the canvas already may lie loose as before, and so may as many components of a type as in one of
    the right flows.
    """
    wanted = (case.before, *case.target_flows)
    ends = _OUTPUTS.union(*(_last(flow) for flow in wanted))
    there = {node.id for node in case.before.nodes}
    found: dict[str, list[str]] = {}
    for node_id in _loose(case.after, ends) - there:
        node = case.after.node(node_id)
        if node is not None:
            found.setdefault(node.type, []).append(node.display_name)
    allowed = {kind: max(_count(flow, ends, kind) for flow in wanted) for kind in found}
    return sorted(name for kind, names in found.items() if len(names) > allowed[kind] for name in names)


def _last(flow: Flow) -> set[str]:
    sources = {edge.source for edge in flow.edges}
    return {node.type for node in flow.components if node.id not in sources}


def _loose(flow: Flow, ends: frozenset[str]) -> set[str]:
    sources = {edge.source for edge in flow.edges}
    leading = {node.id for node in flow.components if node.type in ends and node.id not in sources}
    before: dict[str, list[str]] = {}
    for edge in flow.edges:
        before.setdefault(edge.target, []).append(edge.source)
    pending = list(leading)
    while pending:
        new = [source for source in before.get(pending.pop(), ()) if source not in leading]
        leading.update(new)
        pending.extend(new)
    return {node.id for node in flow.components} - leading


def _count(flow: Flow, ends: frozenset[str], kind: str) -> int:
    return sum(node.type == kind for node in flow.components if node.id in _loose(flow, ends))
