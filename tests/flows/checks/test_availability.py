"""What the engine does with flows agrees with what the checks say of them.

A flow that it runs as asked has no error, and an error stands for a flow that it refuses, or of which it ignores a
part: then the run fails, gives nothing, or gives what the flow without that part would give.
"""

import pytest

from flows.catalogue import Catalogue
from flows.checks import check
from flows.document import Flow, Node
from flows.edits import configure, connect, disconnect, remove_component
from flows.ports import Port, find_input, make_edge
from flows.spec import build
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner
from tests.shared.flow_texts import BARE_ECHO, CHAIN, FAN_OUT, LOOP

pytestmark = [pytest.mark.engine, pytest.mark.anyio]

CONFIGURED_CHAIN = CHAIN + "config:\n  C.text2: too\n"
ROUTER = """\
nodes:
  A: ChatInput
  R: ConditionalRouter
  P: CombineText
  Q: CombineText
  B: ChatOutput
  N: TextOutput
edges:
  A.message -> R.input_text
  R.true_result -> P.text1
  R.false_result -> Q.text1
  P.combined_text -> B.input_value
  Q.combined_text -> N.input_value
config:
  R.match_text: hello
"""
WITHOUT_CHAT = """\
nodes:
  T: TextInput
  C: CombineText
  B: ChatOutput
edges:
  T.text -> C.text1
  C.combined_text -> B.input_value
config:
  T.input_value: seen
"""
SIDE = (
    BARE_ECHO.replace("  B: ChatOutput\n", "  B: ChatOutput\n  X: TextInput\n  Y: TextOutput\n")
    + "  X.text -> Y.input_value\n"
)
PROMPT = """\
nodes:
  A: ChatInput
  P: Prompt Template
  B: ChatOutput
edges:
  A.message -> P.x
  P.prompt -> B.input_value
config:
  P.template: "<{x}> {y}"
"""
OWN_TEXT_IN_LOOP = LOOP.replace("nodes:\n", "nodes:\n  X: TextInput\n").replace(
    "edges:\n", "edges:\n  X.text -> P.pattern\n"
)
PARTS = """\
  S.separator: ";"
  S.chunk_size: 1
  S.chunk_overlap: 0
"""
NESTED = f"""\
nodes:
  A: ChatInput
  S: SplitText
  L: LoopComponent
  P: ParserComponent
  S2: SplitText
  L2: LoopComponent
  P2: ParserComponent
  T2: TypeConverterComponent
  D2: ParserComponent
  T: TypeConverterComponent
  D: ParserComponent
  B: ChatOutput
edges:
  A -> S -> L -> P -> S2 -> L2 -> P2 -> T2 -> L2
  L2 -> D2 -> T -> L -> D -> B
config:
{PARTS}{PARTS.replace("S.", "S2.").replace(";", ",")}  P.pattern: "{{text}}"
  P2.pattern: "<{{text}}>"
  D2.pattern: "{{text}}"
  D2.sep: +
  D.pattern: "[{{text}}]"
"""
IN_A_ROW = f"""\
nodes:
  A: ChatInput
  S: SplitText
  L: LoopComponent
  P: ParserComponent
  T: TypeConverterComponent
  M: LoopComponent
  Q: ParserComponent
  U: TypeConverterComponent
  D: ParserComponent
  B: ChatOutput
edges:
  A -> S -> L
  L.item -> P -> T
  T.data_output -> L.item
  L.done -> M
  M.item -> Q -> U
  U.data_output -> M.item
  M.done -> D -> B
config:
{PARTS}  P.pattern: "1{{text}}"
  Q.pattern: "2{{text}}"
  D.pattern: "[{{text}}]"
"""
BRANCH_IN_LOOP = f"""\
nodes:
  A: ChatInput
  S: SplitText
  L: LoopComponent
  P: ParserComponent
  R: ConditionalRouter
  T: TypeConverterComponent
  D: ParserComponent
  B: ChatOutput
edges:
  A -> S -> L
  L.item -> P -> R
  R.true_result -> T
  T.data_output -> L.item
  L.done -> D -> B
config:
{PARTS}  P.pattern: "{{text}}"
  R.match_text: a
  R.operator: contains
  D.pattern: "[{{text}}]"
"""
MESSAGE_BACK = f"""\
nodes:
  A: ChatInput
  S: SplitText
  L: LoopComponent
  P: ParserComponent
  X: Prompt Template
  D: ParserComponent
  B: ChatOutput
edges:
  A -> S -> L
  L.item -> P -> X.text
  X.prompt -> L.item
  L.done -> D -> B
config:
{PARTS}  P.pattern: "{{text}}"
  X.template: "={{text}}"
  D.pattern: "[{{text}}]"
"""
TABLE_OUT = """\
nodes:
  A: ChatInput
  O: Operations
  B: ChatOutput
edges:
  A.message -> O.text_input
  O -> B
config:
  O.operation: Text to DataFrame
"""
NOTIFIED = """\
nodes:
  A: ChatInput
  N: Notify
  L: Listen
  B: ChatOutput
edges:
  A.message -> N.input_value
  L.data -> B.input_value
config:
  N.context_key: news
  L.context_key: news
"""
STORED = "nodes:\n  A: ChatInput\n  W: SaveToFile\n  B: ChatOutput\nedges:\n  A -> W -> B\nconfig:\n  W.file_name: x\n"
RUNS = {
    "echo": (BARE_ECHO, "hello"),
    "chain": (CONFIGURED_CHAIN, "Text: hello too"),
    "router": (ROUTER, "hello "),
    "no chat input": (WITHOUT_CHAT, None),
    "side branch": (SIDE, "hello"),
    "written file": (STORED, "Message saved successfully as 'x.json' at x.json"),
    "fan-out": (FAN_OUT, "hello hello"),
    "open variable": (PROMPT, "<hello> "),
    "loop": (LOOP, "Text: Text: hello"),
    "text of its own in a loop": (OWN_TEXT_IN_LOOP, None),
    "loop in a loop": (NESTED, "[<hel>+<lo>]\n[<a>+<b>]"),
    "loop after a loop": (IN_A_ROW, "[21hel,lo]\n[21a,b]"),
    "branch in a loop": (BRANCH_IN_LOOP, "[]\n[a,b]"),
    "text that leads back": (MESSAGE_BACK, "[=hel,lo]\n[=a,b]"),
    "table into the chat output": (TABLE_OUT, "| x   |   y |\n|:----|----:|\n| a   |   1 |"),
    "two chat outputs": (
        BARE_ECHO.replace("edges:", "  D: ChatOutput\nedges:\n  A.message -> D.input_value"),
        "hello\n\nhello",
    ),
}
PARTED = "hel,lo;a,b"
TEXTS = dict.fromkeys(("loop in a loop", "loop after a loop", "branch in a loop", "text that leads back"), PARTED)
TEXTS["table into the chat output"] = "| x | y |\n|---|---|\n| a | 1 |"


@pytest.fixture(scope="module")
def whole(runner_environment: RunnerEnvironment) -> Catalogue:
    """The catalogue of the installed engine."""
    return Catalogue.load(runner_environment.catalogue)


def made(spec: str, catalogue: Catalogue) -> tuple[Flow, dict[str, str]]:
    result = build(spec, catalogue)
    assert result.flow is not None, result.faults
    return result.flow, dict(result.ids)


def forced(flow: Flow, source: str, output: str, target: str, entry: str) -> Flow:
    """The flow with an edge that no edit would make."""
    start, end = flow.node(source), flow.node(target)
    assert isinstance(start, Node)
    assert isinstance(end, Node)
    types = next(made["types"] for made in start.outputs if made["name"] == output)
    port = Port(name=output, types=tuple(str(kind) for kind in types))
    document = flow.to_json()
    document["data"]["edges"].append(make_edge(start, port, end, find_input(end, entry)))
    return Flow.from_json(document)


def broken(catalogue: Catalogue) -> dict[str, tuple[Flow, str, set[str | None]]]:
    """Flows with one error each: the flow, the error's code, and the outputs that show that it is one."""
    chain, c = made(CONFIGURED_CHAIN, catalogue)
    loop, n = made(LOOP, catalogue)
    router, r = made(ROUTER, catalogue)
    apart = disconnect(chain, c["P"]).flow
    return {
        "circle": (forced(chain, c["P"], "parsed_text", c["C"], "text2"), "cycle", {None}),
        "circle with a way out": (forced(router, r["Q"], "combined_text", r["R"], "match_text"), "cycle", {None}),
        "self edge": (forced(chain, c["C"], "combined_text", c["C"], "text2"), "self_edge", {None}),
        "two into one": (
            forced(chain, c["A"], "message", c["B"], "input_value"),
            "input_taken",
            {"hello", "Text: hello too"},
        ),
        "no input": (remove_component(apart, c["A"]).flow, "missing_input", {None}),
        "open loop": (disconnect(loop, n["T"], None, n["L"]).flow, "open_loop", {""}),
        "chat text into a loop": (forced(loop, n["A"], "message", n["P"], "pattern"), "loop_border", {"Text: "}),
        "later text into a loop": (forced(loop, n["D"], "parsed_text", n["P"], "pattern"), "loop_border", {None}),
        "a step feeds what follows": (forced(loop, n["P"], "parsed_text", n["D"], "pattern"), "loop_border", {None}),
    }


async def test_the_engine_agrees_with_the_checks(engine: Runner, whole: Catalogue) -> None:
    for name, (spec, output) in RUNS.items():
        flow, _ = made(spec, whole)
        result = await engine.run(flow, TEXTS.get(name, "hello"))
        assert (name, result.error) == (name, None)
        assert output is None or (name, result.output) == (name, output)
        assert (name, [fault for fault in check(flow, whole) if fault.is_error]) == (name, [])
    for name, (flow, code, outputs) in broken(whole).items():
        assert code in {fault.code for fault in check(flow, whole) if fault.is_error}, name
        result = await engine.run(flow, "hello")
        assert result.output in outputs, (name, result.output, result.error)


async def test_no_edit_makes_what_the_engine_ignores(whole: Catalogue) -> None:
    flow, ids = made(CONFIGURED_CHAIN, whole)
    for source, output, target, entry in [
        (ids["A"], "message", ids["B"], "input_value"),
        (ids["C"], "combined_text", ids["C"], "text2"),
    ]:
        with pytest.raises(ValueError, match=r"accepts one edge|cannot feed itself"):
            connect(flow, whole, source, output, target, entry)


@pytest.mark.parametrize(
    ("spec", "code", "failure"),
    [(NOTIFIED, "endless", "limit")],
)
async def test_what_the_bare_engine_cannot_finish_is_an_error(
    spec: str, code: str, failure: str, engine: Runner, whole: Catalogue
) -> None:
    flow, _ = made(spec.replace("L.context_key: news", "L.context_key: other"), whole)
    for node in flow.nodes:
        if node.type == "Listen":
            flow = configure(flow, whole, node.id, {"context_key": "news"}).flow
    assert code in {fault.code for fault in check(flow, whole) if fault.is_error}
    result = await engine.run(flow, "hello", max_iterations=50)
    assert result.output is None
    assert result.error is not None
    assert result.error.code == failure


async def test_a_lone_value_to_combine_is_a_warning_and_gives_nothing(engine: Runner, whole: Catalogue) -> None:
    spec = "nodes:\n  A: ChatInput\n  T: TypeConverterComponent\n  M: MergeDataComponent\n  B: ChatOutput\n"
    spec += "edges:\n  A -> T.input_data\n  T.data_output -> M.data_inputs\n  M -> B\n"
    flow, _ = made(spec, whole)
    assert ("too_few_inputs", False) in {(fault.code, fault.is_error) for fault in check(flow, whole)}
    two = spec.replace(
        "edges:", "  U: TypeConverterComponent\nedges:\n  A -> U.input_data\n  U.data_output -> M.data_inputs"
    )
    both, _ = made(two, whole)
    assert "too_few_inputs" not in {fault.code for fault in check(both, whole)}
    assert (await engine.run(flow, "hello")).output == ""
    assert "hello" in str((await engine.run(both, "hello")).output)
