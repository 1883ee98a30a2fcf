"""The structure of a flow: cycles, and which nodes are reachable from others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flows.document import Edge, Node
from flows.faults import Fault
from flows.json_values import as_text


def find_cycles(nodes: Sequence[Node], edges: Sequence[Edge]) -> list[Fault]:
    """Return a fault for each group of nodes that feed each other without a loop's feedback edge.

    The engine starts a node only after its predecessors have finished, so it never runs such a group, even if the group
    contains a branching node (If-Else).
    """
    known = {node.id: node for node in nodes}
    following: dict[str, list[str]] = {node_id: [] for node_id in known}
    for edge in edges:
        if not edge.is_feedback and edge.source in known and edge.target in known and edge.source != edge.target:
            following[edge.source].append(edge.target)
    places = {node_id: place for place, node_id in enumerate(known)}
    faults: list[Fault] = []
    for group in strong_components(following):
        if len(group) < 2:
            continue
        names = sorted(group, key=places.__getitem__)
        faults.append(
            Fault(
                code="cycle",
                message=f"{' -> '.join([*names, names[0]])} form a cycle, so none of them can start.",
                fix="Remove one of the edges, or repeat steps with a LoopComponent: connect the last step to its item.",
                node=names[0],
            )
        )
    return faults


def strong_components(following: dict[str, list[str]]) -> list[list[str]]:
    """Return the groups of nodes that reach each other (Tarjan's algorithm, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on_stack: set[str] = set()
    stack: list[str] = []
    found: list[list[str]] = []
    for root in following:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        work = [(root, iter(following[root]))]
        while work:
            node, targets = work[-1]
            target = next(targets, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found.append(_pop_group(stack, on_stack, node))
            elif target not in index:
                index[target] = low[target] = len(index)
                stack.append(target)
                on_stack.add(target)
                work.append((target, iter(following[target])))
            elif target in on_stack:
                low[node] = min(low[node], index[target])
    return found


def branches_before(end: str, nodes: Sequence[Node], edges: Sequence[Edge]) -> dict[str, set[str]]:
    """Return the outputs of branching nodes, by node, through which `end` is reached."""
    branching = {
        node.id: {as_text(one.get("name")) for one in node.outputs if one.get("group_outputs")} for node in nodes
    }
    before = leading_to([end], edges)
    found: dict[str, set[str]] = {}
    for edge in edges:
        if edge.target in before and edge.source_port in branching.get(edge.source, ()):
            found.setdefault(edge.source, set()).add(edge.source_port)
    return found


def leading_to(ends: Iterable[str], edges: Sequence[Edge]) -> set[str]:
    """Return the nodes from which one of `ends` can be reached, the ends included."""
    return reachable(ends, ((edge.target, edge.source) for edge in edges))


def reached_from(starts: Iterable[str], edges: Sequence[Edge]) -> set[str]:
    """Return the nodes that can be reached from one of `starts`, the starts included."""
    return reachable(starts, ((edge.source, edge.target) for edge in edges))


def reachable(starts: Iterable[str], steps: Iterable[tuple[str, str]]) -> set[str]:
    """Return what can be reached from one of `starts`, the starts included, by steps from one node to another."""
    following: dict[str, list[str]] = {}
    for begin, end in steps:
        following.setdefault(begin, []).append(end)
    found = set(starts)
    todo = list(found)
    while todo:
        for node_id in following.get(todo.pop(), []):
            if node_id not in found:
                found.add(node_id)
                todo.append(node_id)
    return found


def _pop_group(stack: list[str], on_stack: set[str], last: str) -> list[str]:
    group: list[str] = []
    while True:
        node = stack.pop()
        on_stack.discard(node)
        group.append(node)
        if node == last:
            return group
