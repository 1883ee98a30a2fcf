"""Which ports may be connected, beside lfx's own `connect`: all pairs of all types, each disagreement with a reason."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from flows.catalogue import Catalogue
from flows.component_type import TOOL_OUTPUT
from flows.describe.tool_names import tool_names
from flows.document import Node
from flows.edits.new_nodes import new_node
from flows.ports import PortError, feedback_ports, output_ports, wire
from flows.spec import build

pytestmark = [pytest.mark.engine]
REASONS = {
    "setting": "The field has no input types: the canvas has no handle there, and a dropdown, a table of settings or a"
    " number would get a message. lfx takes such a field for one of Message.",
    "inactive": "The input is hidden and only counts for an option that is not chosen; the component would ignore it.",
}
"""Why ours is right where it refuses what lfx connects; there is nothing that lfx refuses and ours connects."""


def test_ports_connect_as_lfx_connects_them_except_for_listed_reasons(
    inside: Callable[..., Any], full_catalogue: Catalogue
) -> None:
    nodes = {part.type: new_node(part, f"{part.type}-x") for part in full_catalogue}
    outputs = [
        (kind, name)
        for kind, node in nodes.items()
        for name in dict.fromkeys([*(port.name for port in output_ports(node)), TOOL_OUTPUT])
    ]
    inputs = [
        (kind, name)
        for kind, node in nodes.items()
        for name in dict.fromkeys([*node.template, *(port.name for port in feedback_ports(node))])
    ]
    assert len(outputs) * len(inputs) > 250_000
    definitions = {kind: node.definition for kind, node in nodes.items()}
    rows = inside("connected", {"types": definitions, "outputs": outputs, "inputs": inputs})
    sources = {part.type: new_node(part, "source") for part in full_catalogue}
    refused: Counter[str] = Counter()
    connected = 0
    unexplained: list[str] = []
    for kind, output, row in rows:
        for (target, field), theirs in zip(inputs, row, strict=True):
            code = refusal(sources[kind], output, nodes[target], field, full_catalogue)
            connected += code == ""
            if (code == "") == (theirs == "1"):
                continue
            if code == "not_an_input" and "input_types" not in (nodes[target].field(field) or {}):
                refused["setting"] += 1
            elif code == "inactive_input":
                refused["inactive"] += 1
            else:
                unexplained.append(f"{kind}.{output} -> {target}.{field}: ours {code or 'connects'}, theirs {theirs}")
    assert not unexplained, (len(unexplained), unexplained[:20])
    assert set(refused) == set(REASONS)
    assert connected > 10_000


def refusal(source: Node, output: str, target: Node, field: str, catalogue: Catalogue) -> str:
    """The code of the fault of a connection, or an empty text when it may be made."""
    try:
        wire(source, output, target, field, (), catalogue)
    except PortError as error:
        return error.fault.code
    return ""


@pytest.mark.parity("smoke-tool-name", "base-scenario-telling-method-name")
def test_tools_are_named_as_lfx_names_them(inside: Callable[..., Any], full_catalogue: Catalogue) -> None:
    capable = {part.type: part.code for part in full_catalogue if part.can_be_tool}
    theirs = inside("tools", capable)
    named = {kind: names for kind, names in theirs.items() if isinstance(names, list)}
    assert len(named) > 30
    wrong = {
        kind: (ours, names)
        for kind, names in named.items()
        for part in [full_catalogue.get(kind)]
        if part is not None and (ours := tool_names(new_node(part, "x"), full_catalogue)) not in ([], names)
    }
    assert not wrong


def test_edges_are_kept_that_the_engine_takes_when_a_model_comes_from_another_component(
    inside: Callable[..., Any], full_catalogue: Catalogue
) -> None:
    spec = (
        "nodes:\n  A: ChatInput\n  M: LanguageModelComponent\n  G: Agent\n  B: ChatOutput\n"
        "config:\n  M.model: openai:gpt-4o\n"
    )
    built = build(spec, full_catalogue)
    assert built.flow is not None, built.faults
    [answer] = inside("ran", [[built.flow.to_json()["data"], "hello"]])
    # Without a key no model answers; that it is asked for one shows that the edges were taken.
    assert answer["failure"] is not None
    assert answer["failure"]["node"] in (built.ids["M"], built.ids["G"])
