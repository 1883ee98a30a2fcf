"""Checks of loops: each has an input, its steps lead back, and no edge crosses its border.

The engine runs a loop's steps once for every item, apart from the rest of the flow. Observed behaviour: a loop to which
nothing leads back collects nothing; values from the chat input do not reach a step from outside the loop; and a step
that feeds a component after the loop makes the run fail.
"""

from __future__ import annotations

from collections.abc import Sequence

from flows.checks.structure import leading_to, reached_from
from flows.document import Edge, Flow, Node
from flows.faults import Fault, Severity
from flows.ports import feedback_ports


def check_loops(flow: Flow, nodes: Sequence[Node], running: set[str]) -> list[Fault]:
    """Return the faults of every loop; those of a loop that is not run are warnings."""
    faults: list[Fault] = []
    for node in nodes:
        ports = feedback_ports(node)
        if not ports or not any(node.id in (edge.source, edge.target) for edge in flow.edges):
            continue
        severity: Severity = "error" if node.id in running else "warning"
        for port in ports:
            faults += _check_open(node, port.name, flow.edges, severity)
            faults += _check_border(node, port.name, flow, severity)
        if not any(edge.target == node.id and not edge.is_feedback for edge in flow.edges):
            message = f"The loop {node.id} has no input."
            faults.append(_fault("open_loop", message, "Connect a table or a list to its input.", node, severity))
    return faults


def _check_open(node: Node, port: str, edges: Sequence[Edge], severity: Severity) -> list[Fault]:
    if any(edge.is_feedback and edge.target == node.id and edge.target_port == port for edge in edges):
        return []
    message = f"The loop {node.id} is open: no edge leads back into {port}, so it collects nothing."
    fix = f"Connect {node.id}.{port} to the steps to repeat, and the last of them to {node.id}.{port}."
    return [_fault("open_loop", message, fix, node, severity, port)]


def _check_border(node: Node, port: str, flow: Flow, severity: Severity) -> list[Fault]:
    forward = [edge for edge in flow.edges if not edge.is_feedback]
    inner = [edge for edge in forward if node.id not in (edge.source, edge.target)]
    returning = [edge.source for edge in flow.edges if edge.is_feedback and edge.target == node.id]
    starting = [edge.target for edge in forward if edge.source == node.id and edge.source_port == port]
    steps = (reached_from(starting, inner) & leading_to(returning, inner)) - {node.id}
    leaving = [edge.target for edge in forward if edge.source == node.id and edge.source_port != port]
    later = reached_from(leaving, inner) - steps
    typed = reached_from([other.id for other in flow.nodes if other.type == "ChatInput"], forward)
    faults: list[Fault] = []
    for edge in inner:
        if edge.target in steps and edge.source not in steps and edge.source in typed | later:
            message = (
                f"{edge.source} feeds {edge.target} from outside the loop {node.id}, so its value does not arrive."
            )
            fix = f"Connect {node.id}.{port} instead, or set a value."
            faults.append(_fault("loop_border", message, fix, node, severity, edge.target_port, edge.target))
        elif edge.source in steps and edge.target in later:
            message = f"{edge.source} is a step of the loop {node.id} and feeds {edge.target}, which comes after it."
            fix = f"Use an output of {node.id} that provides all results, such as done."
            faults.append(_fault("loop_border", message, fix, node, severity, edge.target_port, edge.target))
    return faults


def _fault(
    code: str, message: str, fix: str, node: Node, severity: Severity, port: str | None = None, at: str | None = None
) -> Fault:
    return Fault(code=code, message=message, fix=fix, severity=severity, node=at or node.id, port=port)
