"""What is told of a flow is short, true and without secrets."""

from collections.abc import Callable

import pytest

from flows.describe.diagrams import ascii_graph, mermaid_graph
from flows.describe.summary import canvas_summary, describe_io
from flows.document import Flow
from flows.fields.secrets import REDACTED, looks_secret, redact, shown_value

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


@pytest.mark.parity("base-term-max-canvas-summary", "term-max-canvas-summary")
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


@pytest.mark.parity("ADR-MCP-032", "base-term-describe-flow-io", "term-describe-flow-io")
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


def test_mermaid_shows_every_component_and_edge_and_dots_what_leads_back(built: Built):
    flow, _ = built(LOOP)
    lines = mermaid_graph(flow).splitlines()
    assert lines[0] == "flowchart LR"
    assert len(lines) == 1 + len(flow.nodes) + len(flow.edges)
    assert [line.strip() for line in lines if "-.->" in line] == ['n3 -.->|"parsed_text → item"| n2']
    assert mermaid_graph(Flow.empty()) == "flowchart LR"


def test_mermaid_labels_are_escaped():
    node = {"id": "a", "data": {"id": "a", "type": "T", "node": {"display_name": 'x"]; <b>#1</b>\nend'}}}
    drawn = mermaid_graph(Flow.from_json({"nodes": [node], "edges": []}))
    assert drawn.count('"') == 2
    assert "#lt;b#gt;" in drawn
    assert len(drawn.splitlines()) == 2


SECRETS = [
    "sk-abcdefghijklmnopqrst1234",
    "Authorization: Bearer abcdefghijklmno123",
    '{"Authorization": "Basic dXNlcjpwYXNz"}',
    "postgres://user:hunter2@host/db",
    "https://host/x?api_key=AbCdEf12345&page=1",
    'curl -H "X-Api-Key: abc123def"',
    "password: hunter2",
    "AccountKey=abcdEFGH1234==;",
    "https://hooks.slack.com/services/T000/B000/XXXXXXXX",
    "-----BEGIN RSA PRIVATE KEY-----\nabc",
]
PLAIN = [
    "Say it louder: {text}",
    "token: {token1}",
    "max_tokens: 500000",
    "password: required",
    "basic understanding of things",
    "task-force-one-two-three-four-five",
    "https://example.org/a?page=12",
]


@pytest.mark.parametrize("text", SECRETS)
def test_what_looks_like_a_secret_is_redacted_in_any_field(text: str):
    shown = shown_value({"type": "str", "name": "note", "value": text})
    assert REDACTED in str(shown)
    assert not looks_secret(shown) or redact(shown) == shown
    for part in ("hunter2", "AbCdEf12345", "dXNlcjpwYXNz", "abcdefghij", "abc123def", "abcdEFGH1234", "XXXXXXXX"):
        assert part not in str(shown)


@pytest.mark.parametrize("text", PLAIN)
def test_plain_text_is_shown_as_it_is(text: str):
    assert shown_value({"type": "str", "name": "note", "value": text}) == text


def test_secrets_inside_tables_and_objects_are_redacted():
    rows = [{"key": "X-Api-Key", "value": "abc"}, {"key": "Accept", "value": "text/html"}]
    assert shown_value({"type": "table", "value": rows}) == [
        {"key": "X-Api-Key", "value": REDACTED},
        {"key": "Accept", "value": "text/html"},
    ]
    assert redact({"headers": {"x-api-key": "abc"}, "max_tokens": 5}) == {
        "headers": {"x-api-key": REDACTED},
        "max_tokens": 5,
    }
