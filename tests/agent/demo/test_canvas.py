"""What the demo planner says of the flow on the canvas: the order in which its components run, branches and all."""

import pytest

from agent.demo.edits import chain_text
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits.basic import disconnect
from flows.spec import build


def flow_of(catalogue: Catalogue, nodes: str, edges: str) -> Flow:
    lines = [f"  {one}" for one in edges.split("; ")]
    spec = "\n".join(["name: Told", "nodes:", *(f"  {one}" for one in nodes.split(", ")), "edges:", *lines])
    flow = build(spec, catalogue).flow
    assert flow is not None
    return flow


@pytest.mark.parametrize(
    ("nodes", "edges", "told"),
    [
        (
            "a: ChatInput, b: ChatOutput",
            "a.message -> b.input_value",
            "Chat Input → Chat Output",
        ),
        (
            "a: ChatInput, r: ConditionalRouter, yes: ChatOutput, no: TextOutput",
            "a.message -> r.input_text; r.true_result -> yes.input_value; r.false_result -> no.input_value",
            "Chat Input → If-Else → Chat Output; If-Else → Text Output",
        ),
        (
            "a: ChatInput, tool: CalculatorComponent, agent: Agent, b: ChatOutput",
            "a.message -> agent.input_value; tool.component_as_tool -> agent.tools; agent.response -> b.input_value",
            "Chat Input → Agent → Chat Output; Calculator → Agent",
        ),
    ],
)
def test_the_chain_of_a_flow_follows_its_connections(catalogue: Catalogue, nodes: str, edges: str, told: str) -> None:
    assert chain_text(flow_of(catalogue, nodes, edges)) == told


def test_components_that_are_joined_to_nothing_are_told_apart(catalogue: Catalogue) -> None:
    flow = flow_of(catalogue, "a: ChatInput, b: ChatOutput", "a.message -> b.input_value")
    [edge] = flow.edges
    apart = disconnect(flow, edge.source, edge.source_port, edge.target, edge.target_port).flow
    assert chain_text(apart) == "Chat Input; Chat Output"
