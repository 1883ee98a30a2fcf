"""Layered layout from left to right along the edges, without overlap; deterministic for each flow."""

from __future__ import annotations

from collections.abc import Mapping

from flows.document import Edge, Flow, Node
from flows.json_values import Json, JsonObject
from flows.layout.feedback import clear_feedback_edges
from flows.layout.sizes import node_height, node_width

COLUMN = 480
"""The distance between columns in pixels; a node is 384 wide."""
COLUMNS = 8
"""How many columns stand side by side; a flow with more goes on in a row below."""
ROW_GAP = 120.0
"""The distance between rows in pixels."""


def layout(flow: Flow) -> Flow:
    """Return the flow with every component placed; notes stay where they are."""
    places = positions(flow)
    nodes: list[Json] = [
        {**node.raw, "position": _position(*places[node.id])} if node.id in places and not node.is_note else node.raw
        for node in flow.nodes
    ]
    return flow.with_parts(nodes=nodes)


def positions(flow: Flow) -> dict[str, tuple[float, float]]:
    """Return the position of each component in `layout`: x and y of its upper left corner, in pixels."""
    nodes = {node.id: node for node in flow.components}
    columns: dict[int, list[str]] = {}
    for node_id, layer in layers(list(nodes), flow.edges).items():
        columns.setdefault(layer, []).append(node_id)
    feeders: dict[str, list[str]] = {}
    for edge in flow.edges:
        if not edge.is_feedback and edge.source in nodes and edge.target in nodes:
            feeders.setdefault(edge.target, []).append(edge.source)
    found: dict[str, tuple[float, float]] = {}
    for layer in sorted(columns):
        column = _sorted_column(columns[layer], feeders, found)
        heights = [node_height(nodes[node_id]) for node_id in column]
        top = -(sum(heights) - heights[-1]) / 2
        for node_id, height in zip(column, heights, strict=True):
            found[node_id] = (float(layer * COLUMN), top)
            top += height
    clear_feedback_edges(nodes, flow.edges, found)
    return _wrapped(nodes, found)


def _wrapped(nodes: Mapping[str, Node], places: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Return places in rows of `COLUMNS` columns, one row below the other."""
    rows: dict[int, list[str]] = {}
    for node_id, (x, _) in places.items():
        rows.setdefault(int(x // (COLUMN * COLUMNS)), []).append(node_id)
    found, bottom = dict(places), 0.0
    for number, row in sorted(rows.items()):
        top = min(places[node_id][1] for node_id in row)
        down = bottom + ROW_GAP - top if number else 0.0
        for node_id in row:
            x, y = places[node_id]
            found[node_id] = (x - number * COLUMN * COLUMNS, y + down)
        bottom = max(found[node_id][1] + node_height(nodes[node_id]) for node_id in row)
    return found


def layers(node_ids: list[str], edges: tuple[Edge, ...]) -> dict[str, int]:
    """Return each node's column: one more than its last predecessor; edges that close a cycle do not count."""
    order, forward = _forward_edges(node_ids, _following(node_ids, edges))
    found = dict.fromkeys(node_ids, 0)
    for node_id in order:
        for target in forward[node_id]:
            found[target] = max(found[target], found[node_id] + 1)
    return found


def forward_edges(node_ids: list[str], edges: tuple[Edge, ...]) -> list[Edge]:
    """Return the edges that run forward: between two of these nodes, and not closing a cycle."""
    _, forward = _forward_edges(node_ids, _following(node_ids, edges))
    return [edge for edge in edges if not edge.is_feedback and edge.target in forward.get(edge.source, ())]


def _following(node_ids: list[str], edges: tuple[Edge, ...]) -> dict[str, list[str]]:
    """Return the nodes that each node feeds."""
    following: dict[str, list[str]] = {node_id: [] for node_id in node_ids}
    for edge in edges:
        if not edge.is_feedback and edge.source in following and edge.target in following:
            following[edge.source].append(edge.target)
    return following


def place(flow: Flow, node: Node) -> Node:
    """Return a new node, placed to the right of everything else."""
    spots = [other.position for other in flow.nodes]
    if not spots:
        return Node({**node.raw, "position": _position(0, 0)})
    right = max(spots, key=lambda spot: spot[0])
    widths = [node_width(other) for other in flow.nodes if other.position[0] == right[0]]
    return Node(
        {**node.raw, "position": _position(right[0] + max(COLUMN, *(width + 96 for width in widths)), right[1])}
    )


def place_between(flow: Flow, node: Node, source: Node, target: Node) -> Node:
    """Return a new node, placed half way between two others or at the next free position below."""
    x = (source.position[0] + target.position[0]) / 2
    y = (source.position[1] + target.position[1]) / 2
    return _free_below(flow, node, x, y)


def place_beside(flow: Flow, node: Node, other: Node) -> Node:
    """Return a new node, placed below another or at the next free position further down."""
    return _free_below(flow, node, other.position[0], other.position[1] + node_height(other))


def _free_below(flow: Flow, node: Node, x: float, y: float) -> Node:
    """Return the node at `x` and the first position from `y` downwards where it overlaps nothing."""
    width, height = node_width(node), node_height(node)
    column = sorted(
        (other.position[1], other.position[1] + node_height(other))
        for other in flow.nodes
        if other.position[0] < x + width and x < other.position[0] + node_width(other)
    )
    for top, bottom in column:
        if top < y + height and y < bottom:
            y = bottom
    return Node({**node.raw, "position": _position(x, y)})


def _forward_edges(node_ids: list[str], following: Mapping[str, list[str]]) -> tuple[list[str], dict[str, list[str]]]:
    """Return the nodes in topological order and their edges without those that close a cycle."""
    forward: dict[str, list[str]] = {node_id: [] for node_id in node_ids}
    state: dict[str, int] = {}
    finished: list[str] = []
    incoming = {target for targets in following.values() for target in targets}
    for start in sorted(node_ids, key=lambda node_id: node_id in incoming):
        if start in state:
            continue
        state[start] = 1
        stack = [(start, iter(following[start]))]
        while stack:
            node_id, targets = stack[-1]
            target = next(targets, None)
            if target is None:
                state[node_id] = 2
                finished.append(node_id)
                stack.pop()
            elif state.get(target) != 1:
                forward[node_id].append(target)
                if target not in state:
                    state[target] = 1
                    stack.append((target, iter(following[target])))
    return finished[::-1], forward


def _sorted_column(
    column: list[str], feeders: Mapping[str, list[str]], placed: Mapping[str, tuple[float, float]]
) -> list[str]:
    if len(column) == 1:
        return column

    def height(node_id: str) -> float:
        above = [placed[feeder][1] for feeder in feeders.get(node_id, []) if feeder in placed]
        return sum(above) / len(above) if above else 0.0

    return sorted(column, key=height)


def _position(x: float, y: float) -> JsonObject:
    return {"x": x, "y": y}
