"""What is told of a flow is short, true and without secrets."""

from collections.abc import Callable

from flows import Flow
from flows.summary import ascii_graph, canvas_summary, describe_io

Built = Callable[[str], tuple[Flow, dict[str, str]]]
LOOP = """\
name: Loop
nodes:
  A: ChatInput
  S: SplitText
  L: LoopComponent
  P: ParserComponent
  D: ParserComponent
  B: ChatOutput
edges:
  A.message -> S.data_inputs
  S.dataframe -> L.data
  L.item -> P.input_data
  P.parsed_text -> L.item
  L.done -> D.input_data
  D.parsed_text -> B.input_value
"""


def test_summary_shows_loop_ports(built: Built):
    flow, ids = built(LOOP)
    text = canvas_summary(flow)
    assert f"{ids['P']}.parsed_text -> {ids['L']}.item (loop)" in text
    assert "feed back into item" in text


def test_summary_marks_what_it_leaves_out(built: Built):
    flow, _ = built("nodes:\n" + "".join(f"  N{i}: CombineText\n" for i in range(1)))
    many = Flow.from_json(
        {"nodes": [{"id": f"CombineText-{i:05}", "data": {"type": "CombineText"}} for i in range(300)]}
    )
    for limit in (2000, 100, 30):
        text = canvas_summary(many, limit)
        assert len(text) <= limit
        assert "more lines" in text or limit < 40
    assert "more lines" not in canvas_summary(flow)


def test_summary_never_holds_values(built: Built):
    flow, _ = built("nodes:\n  M: LanguageModelComponent\nconfig:\n  M.api_key: hunter2\n")
    assert "hunter2" not in canvas_summary(flow) + ascii_graph(flow)
    assert canvas_summary(Flow.empty()) == "(empty canvas)"
    assert ascii_graph(Flow.empty()) == "(empty)"


def test_io_comes_from_the_wiring(built: Built):
    flow, ids = built(LOOP)
    io = describe_io(flow)
    assert [port.node for port in io.inputs] == [ids["A"]]
    assert [(port.node, port.name) for port in io.outputs] == [(ids["B"], "message")]
    assert (io.chat_input, io.chat_output) == (ids["A"], ids["B"])
    assert io.to_json()["chat_input"] == ids["A"]


def test_graph_shows_every_component_and_edge(built: Built):
    flow, _ = built(LOOP)
    drawn = ascii_graph(flow)
    assert drawn.count("->") == len(flow.edges)
    assert "ParserComponent #2" in drawn
    assert "~parsed_text-> LoopComponent.item" in drawn
