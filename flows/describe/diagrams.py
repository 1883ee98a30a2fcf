"""Diagrams of a flow as text: for a terminal, and in Mermaid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from flows.document import Edge, Flow, Node
from flows.layout.layers import layers


def ascii_graph(flow: Flow) -> str:
    """Return the flow as plain text: one line per component, in running order, with its edges."""
    nodes = flow.components
    if not nodes:
        return "(empty)"
    names = _labels(nodes)
    depth = layers(list(names), flow.edges)
    leaving = _leaving(flow, names)
    lines: list[str] = []
    for node in sorted(nodes, key=lambda node: depth[node.id]):
        targets = [
            f"{'~' if edge.is_feedback else '-'}{edge.source_port}-> {names[edge.target]}.{edge.target_port}"
            for edge in leaving.get(node.id, ())
        ]
        start = f"{'  ' * depth[node.id]}[{names[node.id]}]"
        lines.append(start + (f" {targets[0]}" if targets else ""))
        lines += [" " * len(start) + f" {target}" for target in targets[1:]]
    return "\n".join(lines)


def mermaid_graph(flow: Flow) -> str:
    """Return the flow as a Mermaid flowchart from left to right; feedback edges are dotted."""
    nodes = flow.components
    keys = {node.id: f"n{number}" for number, node in enumerate(nodes)}
    names = _labels(nodes)
    lines = ["flowchart LR"]
    for node in nodes:
        given = "" if node.display_name == node.type else f"{_quoted(node.display_name[:60])}<br/>"
        label = given + _quoted(names[node.id])
        lines.append(f'    {keys[node.id]}["{label}"]')
    for edge in flow.edges:
        if edge.source in keys and edge.target in keys:
            arrow = "-.->" if edge.is_feedback else "-->"
            label = _quoted(f"{edge.source_port} → {edge.target_port}")
            lines.append(f'    {keys[edge.source]} {arrow}|"{label}"| {keys[edge.target]}')
    return "\n".join(lines)


def _leaving(flow: Flow, known: dict[str, str]) -> dict[str, list[Edge]]:
    found: dict[str, list[Edge]] = {}
    for edge in flow.edges:
        if edge.target in known:
            found.setdefault(edge.source, []).append(edge)
    return found


def _labels(nodes: Sequence[Node]) -> dict[str, str]:
    totals = Counter(node.type for node in nodes)
    seen: Counter[str] = Counter()
    labels: dict[str, str] = {}
    for node in nodes:
        seen[node.type] += 1
        labels[node.id] = f"{node.type} #{seen[node.type]}" if totals[node.type] > 1 else node.type
    return labels


def _quoted(text: str) -> str:
    """Return text escaped for a quoted Mermaid label."""
    shown = " ".join(text.split())
    for sign, name in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;")):
        shown = shown.replace(sign, name)
    return shown
