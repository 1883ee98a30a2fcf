"""Checking a flow: every structural fault at once.

| code | severity | what it means |
| --- | --- | --- |
| `empty_flow` | error | there is no component |
| `duplicate_id` | error | two nodes have the same id; the engine ignores one of them |
| `unknown_type` | error | the catalogue has no such type and the node carries no code (with code: warning) |
| `dangling_edge` | error | an edge names a missing node |
| `bad_edge` | error | an edge without the handles from which the engine reads its ports, as old versions wrote it |
| `self_edge` | error | a node feeds itself and so never starts |
| `unknown_output`, `unknown_input` | error | an edge names a port that the node does not have |
| `not_an_input` | error | an edge enters a setting that accepts none |
| `not_a_tool` | error | `component_as_tool` of a node that cannot be a tool |
| `type_mismatch` | error | an output's types do not match the input's |
| `input_taken` | error | two edges into an input that accepts one; the engine ignores one of them |
| `duplicate_edge` | warning | an edge occurs twice |
| `cycle` | error | nodes feed each other without a loop; the engine starts none of them |
| `missing_input` | error | a required connection is missing (a required text, or a node that is not run: warning) |
| `missing_model` | warning | a model field without a model, where there is no default model |
| `open_loop` | error | a loop without input or without an edge that leads back (not run: warning) |
| `loop_border` | error | an edge into or out of a loop's steps that carries no value (not run: warning) |
| `endless` | error | a component that listens for what the same flow notifies; the engine runs it endlessly |
| `needs_package` | error | the component imports a missing package (only for some of its functions: warning) |
| `needs_service` | error | the component needs Langflow's own services (not run, or a tool that stores: warning) |
| `too_few_inputs` | warning | a component that combines several values has too few edges |
| `orphan` | warning | a node without edges in a flow with several (in a spec: error) |
| `unreachable` | warning | an end of the flow that is not reached from the chat input; the engine does not run it |
| `several_chat_inputs`, `several_chat_outputs` | warning | more than one of its kind |
| `no_output` | warning | the flow has no output |
| `duplicate_name` | warning | two components were given the same name |
| `undescribed_tool` | warning | a tool without a description |
| `bad_template` | error | a prompt template that the engine refuses: a bad name, or loose braces (not run: warning) |
| `empty_prompt` | warning | a prompt template without text |
| `stale_code` | warning | the node's code is not the catalogue's |
"""

from __future__ import annotations

from flows.catalogue import Catalogue
from flows.checks.availability import check_engine
from flows.checks.loops import check_loops
from flows.checks.nodes import check_nodes, running_nodes
from flows.checks.partners import check_partners
from flows.checks.structure import find_cycles
from flows.checks.wiring import check_edges
from flows.document import Flow
from flows.faults import Fault

__all__ = ["check"]


def check(flow: Flow, catalogue: Catalogue, *, has_model: bool = False) -> list[Fault]:
    """Return every fault of a flow, errors first; a flow that the engine can run has no errors.

    Args:
        flow: the flow; fault places are node ids.
        catalogue: the component types.
        has_model: whether there is a default model, which serves every model field without one.
    """
    if flow.is_empty:
        return [Fault(code="empty_flow", message="The flow has no components.", fix="Add some.")]
    nodes = flow.components
    running = running_nodes(nodes, flow)
    faults = [
        *check_nodes(flow, nodes, catalogue, running, has_model=has_model),
        *check_edges(flow, catalogue),
        *find_cycles(nodes, flow.edges),
        *check_loops(flow, nodes, running),
        *check_partners(flow, nodes, running),
        *check_engine(nodes, catalogue, running),
    ]
    return sorted(faults, key=lambda fault: not fault.is_error)
