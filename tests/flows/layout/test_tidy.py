"""Tidying after an edit keeps flows readable and moves only what it must."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from flows.actions import AddComponent, Connect, Disconnect, RemoveComponent, apply, apply_all
from flows.document import Flow, Node
from flows.json_values import JsonObject
from flows.layout.layers import forward_edges
from flows.layout.sizes import GAP, node_height, node_width
from flows.layout.tidy import tidy

Built = Callable[[str], tuple[Flow, dict[str, str]]]
Place = tuple[float, float]


def raw_node(name: str, x: float = 0.0, y: float = 0.0, fields: int = 1) -> JsonObject:
    template = {f"f{number}": {"type": "str"} for number in range(fields)}
    return {"id": name, "position": {"x": x, "y": y}, "data": {"id": name, "type": "T", "node": {"template": template}}}


def joined(flow: Flow, source: str, target: str) -> Connect:
    return Connect({"id": f"{source}-{target}", "source": source, "target": target}, len(flow.edges))


def places(flow: Flow) -> dict[str, Place]:
    return {node.id: node.position for node in flow.components}


def box(node: Node) -> tuple[float, float, float, float]:
    x, y = node.position
    return x, y, x + node_width(node), y + node_height(node) - GAP


def overlaps(flow: Flow) -> list[tuple[str, str]]:
    """The pairs of nodes that touch."""
    found: list[tuple[str, str]] = []
    nodes = flow.components
    for number, one in enumerate(nodes):
        for other in nodes[number + 1 :]:
            a, b = box(one), box(other)
            if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]:
                found.append((one.id, other.id))
    return found


def backwards(flow: Flow) -> list[str]:
    """The edges that run from right to left, without those that close a cycle."""
    nodes = {node.id: box(node) for node in flow.components}
    return [edge.id for edge in forward_edges(list(nodes), flow.edges) if nodes[edge.target][0] < nodes[edge.source][2]]


def hidden(flow: Flow) -> list[tuple[str, str]]:
    """The edges that pass behind a node, tried at 200 points of the straight line."""
    nodes = {node.id: box(node) for node in flow.components}
    found: list[tuple[str, str]] = []
    for edge in forward_edges(list(nodes), flow.edges):
        source, target = nodes[edge.source], nodes[edge.target]
        x1, y1, x2, y2 = source[2], (source[1] + source[3]) / 2, target[0], (target[1] + target[3]) / 2
        for name, (left, top, right, bottom) in nodes.items():
            points = ((x1 + (x2 - x1) * part / 200, y1 + (y2 - y1) * part / 200) for part in range(201))
            if name not in (edge.source, edge.target) and any(left < x < right and top < y < bottom for x, y in points):
                found.append((edge.id, name))
    return found


def tidied(before: Flow, after: Flow, free: set[str]) -> Flow:
    return apply_all(after, tidy(before, after, free))


# An edit: what to do, and two numbers that choose the nodes.
KINDS = ["append", "between", "before", "join", "remove"]
EDITS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 99), st.integers(0, 99)), max_size=16)


@settings(max_examples=100)
@given(EDITS)
def test_flows_stay_readable_whatever_is_edited(edits: list[tuple[str, int, int]]):
    flow = apply(Flow.empty(), AddComponent(raw_node("n0")))
    for number, (kind, first, second) in enumerate(edits, 1):
        before, nodes, name = flow, [node.id for node in flow.components], f"n{number}"
        one, other = nodes[first % len(nodes)], nodes[second % len(nodes)]
        fresh = AddComponent(raw_node(name, fields=second % 7), len(flow.nodes))
        match kind:
            case "append":
                flow = apply(flow, fresh)
                flow = apply(flow, joined(flow, one, name))
            case "before":
                flow = apply(flow, fresh)
                flow = apply(flow, joined(flow, name, one))
            case "between":
                flow = apply(flow, fresh)
                flow = apply(flow, joined(flow, one, name))
                if one != other and not reaches(flow, other, one):
                    flow = apply(flow, joined(flow, name, other))
            case "join" if one != other and not reaches(flow, other, one):
                if f"{one}-{other}" not in {edge.id for edge in flow.edges}:
                    flow = apply(flow, joined(flow, one, other))
            case "remove" if len(nodes) > 1:
                raw = next(node.raw for node in flow.nodes if node.id == one)
                edges = tuple((at, e.raw) for at, e in enumerate(flow.edges) if one in (e.source, e.target))
                flow = apply(flow, RemoveComponent(raw, nodes.index(one), edges))
            case _:
                continue
        flow = tidied(before, flow, {name})
        assert not overlaps(flow)
        assert not backwards(flow)
        behind = hidden(flow)
        assert not behind, behind
        if kind in {"append", "remove"}:
            assert {each: place for each, place in places(flow).items() if each in nodes} == {
                each: place for each, place in places(before).items() if each in places(flow)
            }


def reaches(flow: Flow, source: str, target: str) -> bool:
    """Whether edges lead from one node to another."""
    found, todo = {source}, [source]
    while todo:
        here = todo.pop()
        for edge in flow.edges:
            if edge.source == here and edge.target not in found:
                found.add(edge.target)
                todo.append(edge.target)
    return target in found


def test_nodes_of_one_edit_stand_beside_each_other_when_a_branch_is_added():
    chain = Flow.empty()
    for number, name in enumerate(["chat", "prompt", "answer"]):
        chain = apply(chain, AddComponent(raw_node(name, x=480.0 * number, fields=4), number))
    chain = apply(chain, joined(chain, "chat", "prompt"))
    chain = apply(chain, joined(chain, "prompt", "answer"))
    branch = apply(chain, Disconnect({"id": "chat-prompt", "source": "chat", "target": "prompt"}, 0))
    new = ["router", "kind", "spoken", "model", "file"]
    for number, name in enumerate(new):  # where single additions put them: each to the right of all others
        branch = apply(branch, AddComponent(raw_node(name, x=480.0 * (3 + number), fields=6), len(branch.nodes)))
    for source, target in [
        ("chat", "router"),
        ("router", "prompt"),
        ("router", "model"),
        ("model", "spoken"),
        ("kind", "model"),
        ("file", "kind"),
    ]:
        branch = apply(branch, joined(branch, source, target))

    flow = tidied(chain, branch, set(new))

    columns = {name: x / 480 for name, (x, _) in places(flow).items()}
    assert columns == snapshot(
        {
            "chat": 0,
            "router": 1,
            "prompt": 2,
            "answer": 3,
            "model": 2,
            "spoken": 3,
            "kind": 1,
            "file": 0,
        }
    )
    tops = [y for _, y in places(flow).values()]
    assert max(tops) - min(tops) < 2 * max(node_height(node) for node in flow.components)
    assert not overlaps(flow)
    assert not backwards(flow)
    assert not hidden(flow)
