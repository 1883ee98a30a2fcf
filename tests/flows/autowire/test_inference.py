"""Connections that nobody wrote: what follows from types and roles is made, what does not is reported."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from flows.autowire.inference import MAX_COMPONENTS, autowire
from flows.catalogue import Catalogue
from flows.checks import check
from flows.document import Edge, Flow
from flows.edits import EditError, add_component, connect
from flows.ports import PortError, input_ports, output_ports, wire
from flows.spec import build

Built = Callable[[str], tuple[Flow, dict[str, str]]]
MODEL = "  M.model: openai:gpt-4o-mini\n"
WIRING_FAULTS = {
    "cycle",
    "dangling_edge",
    "duplicate_edge",
    "input_taken",
    "not_a_tool",
    "not_an_input",
    "self_edge",
    "type_mismatch",
    "unknown_input",
    "unknown_output",
}
relaxed = settings(max_examples=60)


def nodes(**types: str) -> str:
    return "nodes:\n" + "".join(f"  {name}: {kind}\n" for name, kind in types.items())


def edges_of(flow: Flow, ids: dict[str, str]) -> set[str]:
    names = {node_id: name for name, node_id in ids.items()}
    return {f"{names[e.source]}.{e.source_port} -> {names[e.target]}.{e.target_port}" for e in flow.edges}


CHAT = {"A": "ChatInput", "B": "ChatOutput"}
LOOP = {
    **CHAT,
    "S": "SplitText",
    "L": "LoopComponent",
    "P": "ParserComponent",
    "T": "TypeConverterComponent",
    "D": "ParserComponent",
}
LOOP_EDGES = {
    "A.message -> S.data_inputs",
    "S.dataframe -> L.data",
    "L.item -> P.input_data",
    "P.parsed_text -> T.input_data",
    "T.data_output -> L.item",
    "L.done -> D.input_data",
    "D.parsed_text -> B.input_value",
}
EXAMPLES = {
    "an echo": (nodes(**CHAT), {"A.message -> B.input_value"}),
    "a prompt": (
        nodes(**CHAT, P="Prompt Template") + "config:\n  P.template: Say {text}\n",
        {"A.message -> P.text", "P.prompt -> B.input_value"},
    ),
    "a prompt and a model": (
        nodes(**CHAT, P="Prompt Template", M="LanguageModelComponent")
        + f"config:\n  P.template: Translate {{text}}\n{MODEL}",
        {"A.message -> P.text", "P.prompt -> M.input_value", "M.text_output -> B.input_value"},
    ),
    "a model": (
        nodes(**CHAT, M="LanguageModelComponent") + f"config:\n{MODEL}",
        {"A.message -> M.input_value", "M.text_output -> B.input_value"},
    ),
    "an agent with two tools": (
        nodes(**CHAT, G="Agent", C="CalculatorComponent", U="URLComponent")
        + "config:\n  G.model: openai:gpt-4o-mini\n",
        {
            "A.message -> G.input_value",
            "C.component_as_tool -> G.tools",
            "U.component_as_tool -> G.tools",
            "G.response -> B.input_value",
        },
    ),
    "an agent that borrows a model": (
        nodes(**CHAT, G="Agent", M="LanguageModelComponent") + f"config:\n{MODEL}",
        {"A.message -> G.input_value", "M.model_output -> G.model", "G.response -> B.input_value"},
    ),
    "answers from a split file": (
        nodes(**CHAT, F="File", S="SplitText", D="ParserComponent", P="Prompt Template", M="LanguageModelComponent")
        + f"config:\n  P.template: Answer {{question}} from {{context}}\n{MODEL}",
        {
            "F.message -> S.data_inputs",
            "S.dataframe -> D.input_data",
            "D.parsed_text -> P.context",
            "A.message -> P.question",
            "P.prompt -> M.input_value",
            "M.text_output -> B.input_value",
        },
    ),
    "a chat with memory": (
        nodes(**CHAT, H="Memory", P="Prompt Template", M="LanguageModelComponent")
        + f'config:\n  P.template: "{{history}} {{question}}"\n{MODEL}',
        {
            "H.messages_text -> P.history",
            "A.message -> P.question",
            "P.prompt -> M.input_value",
            "M.text_output -> B.input_value",
        },
    ),
    "a variable called after a node": (
        nodes(A="ChatInput", tone="TextInput", P="Prompt Template", B="ChatOutput")
        + 'config:\n  P.template: "{text} {tone}"\n  tone.input_value: kind\n',
        {"A.message -> P.text", "tone.text -> P.tone", "P.prompt -> B.input_value"},
    ),
    "a loop": (nodes(**LOOP), LOOP_EDGES),
    "a loop in two chains": (nodes(**LOOP) + "edges:\n  A -> S -> L -> P -> T -> L\n  L -> D -> B\n", LOOP_EDGES),
    "an operation": (
        nodes(**CHAT, O="Operations") + "config:\n  O.operation: Word Count\n",
        {"A.message -> O.text_input", "O.data_output -> B.input_value"},
    ),
    "half of each edge": (
        nodes(**CHAT, I="ConditionalRouter", F="TextOutput")
        + "edges:\n  A -> I.input_text\n  I.true_result -> B\n  I.false_result->F\nconfig:\n  I.match_text: x\n",
        {"A.message -> I.input_text", "I.true_result -> B.input_value", "I.false_result -> F.input_value"},
    ),
    "tools by arrows": (
        nodes(**CHAT, G="Agent", C="CalculatorComponent", U="URLComponent")
        + "edges:\n  A -> G\n  C -> G\n  U -> G\n  G -> B\nconfig:\n  G.model: openai:gpt-4o-mini\n",
        {
            "A.message -> G.input_value",
            "C.component_as_tool -> G.tools",
            "U.component_as_tool -> G.tools",
            "G.response -> B.input_value",
        },
    ),
}


@pytest.mark.parametrize(("spec", "expected"), EXAMPLES.values(), ids=EXAMPLES.keys())
def test_flow_is_wired_as_a_person_would_when_edges_are_left_out(spec: str, expected: set[str], built: Built):
    flow, ids = built(spec)
    assert edges_of(flow, ids) == expected


@pytest.mark.parametrize(("spec", "expected"), EXAMPLES.values(), ids=EXAMPLES.keys())
def test_same_edges_are_derived_when_the_nodes_stand_in_another_order(spec: str, expected: set[str], built: Built):
    head, *lines = spec.split("\n")
    listed = [line for line in lines if line.count(":") == 1 and line.startswith("  ") and "." not in line]
    other = "\n".join([head, *reversed(listed), *[line for line in lines if line not in listed]])
    flow, ids = built(other)
    assert edges_of(flow, ids) == expected


def test_candidates_are_named_when_more_than_one_wiring_is_as_good(catalogue: Catalogue):
    result = build(nodes(**CHAT, T="CombineText", M="LanguageModelComponent") + f"config:\n{MODEL}", catalogue)
    assert result.flow is None
    faults = [fault for fault in result.faults if fault.code == "ambiguous_edge"]
    assert [(fault.node, fault.port, fault.line) for fault in faults] == [
        ("B", "input_value", 3),
        ("T", "text1", 4),
        ("M", "input_value", 5),
    ]
    assert "T.combined_text" in faults[0].message
    assert "M.text_output -> B.input_value" in faults[0].fix
    assert not any(fault.code == "orphan" for fault in result.faults)


def test_both_branches_are_offered_when_an_arrow_leaves_a_router_without_a_port(catalogue: Catalogue):
    spec = nodes(**CHAT, I="ConditionalRouter") + "edges:\n  A -> I\n  I -> B\nconfig:\n  I.match_text: x\n"
    [fault] = [fault for fault in build(spec, catalogue).faults if fault.is_error]
    assert (fault.code, fault.line) == ("ambiguous_edge", 7)
    assert "I.true_result -> B.input_value" in fault.fix
    assert "I.false_result -> B.input_value" in fault.fix


def test_converter_is_named_when_nothing_fits_an_arrow(catalogue: Catalogue):
    spec = nodes(**CHAT, P="ParserComponent") + "edges:\n  A -> P\n  P -> B\n"
    [fault] = [fault for fault in build(spec, catalogue).faults if fault.is_error]
    assert (fault.code, fault.node, fault.line) == ("no_connection", "P", 6)
    assert "TypeConverterComponent" in fault.fix


def test_two_arrows_into_one_place_are_reported(catalogue: Catalogue):
    spec = nodes(**CHAT, I="TextInput") + "edges:\n  A -> B.input_value\n  I -> B.input_value\n"
    codes = {fault.code for fault in build(spec, catalogue).faults if fault.is_error}
    assert codes == {"ambiguous_edge"}


def test_unknown_ends_of_arrows_are_reported_with_the_nearest_names(catalogue: Catalogue):
    spec = nodes(**CHAT, Model="LanguageModelComponent") + "edges:\n  A -> Modle -> B\nconfig:\n  Model.model: gpt-4o\n"
    faults = [fault for fault in build(spec, catalogue).faults if fault.code == "unknown_node"]
    assert len(faults) == 2
    assert all("'Model'" in fault.fix and fault.line == 6 for fault in faults)


def test_a_node_stays_an_orphan_when_other_edges_are_written(catalogue: Catalogue):
    spec = nodes(**CHAT, I="TextInput") + "edges:\n  A.message -> B.input_value\n"
    assert [fault.code for fault in build(spec, catalogue).faults if fault.is_error] == ["orphan"]


def test_nothing_is_guessed_when_there_are_too_many_components(catalogue: Catalogue):
    many = nodes(**CHAT, **{f"T{number}": "CombineText" for number in range(MAX_COMPONENTS)})
    result = build(many, catalogue)
    assert [fault.code for fault in result.faults if fault.is_error] == ["ambiguous_edge"]


def test_canvas_is_completed_when_it_is_wired_in_part(built: Built, catalogue: Catalogue):
    flow, ids = built(nodes(A="ChatInput", P="Prompt Template") + "edges:\n  A -> P.x\nconfig:\n  P.template: '{x}'\n")
    flow = add_component(flow, catalogue, "ChatOutput", node_id="out").flow
    wired = autowire(flow, catalogue)
    assert [(edge.source, edge.target) for edge in wired.flow.edges[1:]] == [(ids["P"], "out")]
    assert wired.faults == ()


def test_a_tool_keeps_its_open_inputs_for_the_agent(built: Built, catalogue: Catalogue):
    spec, _ = EXAMPLES["an agent with two tools"]
    flow, _ = built(spec)
    assert autowire(flow, catalogue).actions == ()


TYPES = (
    "Agent",
    "CalculatorComponent",
    "ChatInput",
    "ChatOutput",
    "CombineText",
    "ConditionalRouter",
    "LanguageModelComponent",
    "LoopComponent",
    "ParserComponent",
    "Prompt Template",
    "SplitText",
    "TextInput",
    "TypeConverterComponent",
)


@st.composite
def canvases(draw: st.DrawFn, catalogue: Catalogue, most: int = 6) -> Flow:
    """Some components, connected at random or not at all."""
    flow = Flow.empty()
    for number, kind in enumerate(draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=most))):
        values = {"template": "{text} {context}"} if kind == "Prompt Template" else None
        flow = add_component(flow, catalogue, kind, node_id=f"{kind}-{number}", values=values).flow
    for _ in range(draw(st.integers(0, 4))):
        legal = [
            (source.id, out.name, target.id, into.name)
            for source in flow.nodes
            for target in flow.nodes
            for out in output_ports(source)
            for into in input_ports(target)
            if fits(source.id, out.name, target.id, into.name, flow, catalogue)
        ]
        if not legal:
            break
        try:
            flow = connect(flow, catalogue, *draw(st.sampled_from(legal))).flow
        except EditError:
            continue
    assume(not wiring_faults(flow, catalogue))
    return flow


def fits(source: str, out: str, target: str, into: str, flow: Flow, catalogue: Catalogue) -> bool:
    begin, end = flow.node(source), flow.node(target)
    assert begin is not None
    assert end is not None
    try:
        wire(begin, out, end, into, flow.edges, catalogue)
    except PortError:
        return False
    return True


def wiring_faults(flow: Flow, catalogue: Catalogue) -> list[str]:
    return [fault.code for fault in check(flow, catalogue) if fault.code in WIRING_FAULTS]


def texts_of(edges: Sequence[Edge]) -> list[str]:
    return [f"{edge.source}.{edge.source_port} -> {edge.target}.{edge.target_port}" for edge in edges]


@relaxed
@given(st.data())
def test_given_edges_stay_and_no_illegal_edge_is_invented(catalogue: Catalogue, data: st.DataObject):
    flow = data.draw(canvases(catalogue))
    wired = autowire(flow, catalogue)
    assert texts_of(wired.flow.edges)[: len(flow.edges)] == texts_of(flow.edges)
    assert wiring_faults(wired.flow, catalogue) == []
    assert [node.id for node in wired.flow.nodes] == [node.id for node in flow.nodes]


@relaxed
@given(st.data())
def test_autowiring_again_changes_nothing(catalogue: Catalogue, data: st.DataObject):
    once = autowire(data.draw(canvases(catalogue)), catalogue)
    again = autowire(once.flow, catalogue)
    assert again.actions == ()
    assert again.flow == once.flow


@relaxed
@given(st.data())
def test_order_of_nodes_does_not_matter_to_autowiring(catalogue: Catalogue, data: st.DataObject):
    flow = data.draw(canvases(catalogue, most=5))
    order = data.draw(st.permutations(range(len(flow.nodes))))
    other = flow.with_parts(nodes=[flow.nodes[at].raw for at in order])
    assert set(texts_of(autowire(other, catalogue).flow.edges)) == set(texts_of(autowire(flow, catalogue).flow.edges))
