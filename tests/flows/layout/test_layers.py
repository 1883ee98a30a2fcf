"""Layout keeps nodes apart, in order and in place."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from flows.document import Flow
from flows.layout.layers import COLUMN, COLUMNS, layers, layout, positions
from flows.layout.sizes import node_height

Built = Callable[[str], tuple[Flow, dict[str, str]]]


def flow_of(count: int, pairs: list[tuple[int, int]]) -> Flow:
    fields = {name: {"type": "str"} for name in "abcdefg"}
    nodes = [
        {"id": f"n{i}", "data": {"id": f"n{i}", "node": {"template": dict(list(fields.items())[: i % 8])}}}
        for i in range(count)
    ]
    edges = [{"id": f"e{i}", "source": f"n{a % count}", "target": f"n{b % count}"} for i, (a, b) in enumerate(pairs)]
    return Flow.from_json({"nodes": nodes, "edges": edges})


graphs = st.builds(
    flow_of, st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=25)
)


@settings(max_examples=80)
@given(graphs)
def test_nodes_never_overlap(flow: Flow):
    placed = layout(flow)
    boxes = [(*node.position, node_height(node)) for node in placed.nodes]
    for index, (x, y, height) in enumerate(boxes):
        for other_x, other_y, other_height in boxes[index + 1 :]:
            apart = abs(x - other_x) >= 384 or y + height <= other_y + 1e-6 or other_y + other_height <= y + 1e-6
            assert apart


@settings(max_examples=80)
@given(graphs)
def test_layout_is_repeatable_and_changes_only_places(flow: Flow):
    placed = layout(flow)
    assert layout(placed) == placed
    assert [node.raw | {"position": None} for node in placed.nodes] == [
        node.raw | {"position": None} for node in flow.nodes
    ]
    assert placed.edges == flow.edges


@settings(max_examples=80)
@given(st.integers(2, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=20))
def test_edges_run_from_left_to_right_when_there_is_no_cycle(count: int, pairs: list[tuple[int, int]]):
    forward = [(min(a % count, b % count), max(a % count, b % count)) for a, b in pairs if a % count != b % count]
    flow = flow_of(count, forward)
    depth = layers([node.id for node in flow.nodes], flow.edges)
    assert all(depth[edge.source] < depth[edge.target] for edge in flow.edges)


def test_feedback_does_not_move_the_loop(built: Built):
    flow, ids = built(
        "nodes:\n  A: ChatInput\n  S: SplitText\n  L: LoopComponent\n  P: ParserComponent\n  D: ParserComponent\n"
        "  B: ChatOutput\nedges:\n  A.message -> S.data_inputs\n  S.dataframe -> L.data\n  L.item -> P.input_data\n"
        "  P.parsed_text -> L.item\n  L.done -> D.input_data\n  D.parsed_text -> B.input_value\n"
    )
    places = positions(flow)
    columns = [places[ids[key]][0] for key in "ASLPDB"]
    assert columns == [0, 480, 960, 1440, 1440, 1920]


def test_notes_stay_where_they_are():
    note = {"id": "n", "type": "noteNode", "position": {"x": 7, "y": 9}, "data": {"id": "n", "type": "note"}}
    assert layout(Flow.from_json({"nodes": [note], "edges": []})).nodes[0].position == (7.0, 9.0)


@settings(max_examples=20)
@given(st.integers(9, 40))
def test_a_wide_flow_goes_on_in_the_row_below(count: int):
    places = positions(flow_of(count, [(number, number + 1) for number in range(count - 1)]))
    for number in range(count - 1):
        (x, y), (next_x, next_y) = places[f"n{number}"], places[f"n{number + 1}"]
        if (number + 1) % COLUMNS:
            assert next_x == x + COLUMN
        else:
            assert next_x == 0
            assert next_y > y + node_height(flow_of(count, []).nodes[number])
    assert max(x for x, _ in places.values()) == (COLUMNS - 1) * COLUMN
