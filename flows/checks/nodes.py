"""Checks of nodes: known, complete, connected, and as the catalogue has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from flows.catalogue import Catalogue
from flows.checks.structure import leading_to, reached_from
from flows.document import Flow, Node
from flows.faults import Fault, Severity
from flows.jsonvalues import texts
from flows.model_values import CONNECTED
from flows.ports import TOOL_OUTPUT, feedback_ports

OUTPUT_TYPES = frozenset({"ChatOutput", "TextOutput"})


def check_nodes(flow: Flow, nodes: Sequence[Node], catalogue: Catalogue) -> list[Fault]:
    """Return the faults of every component."""
    fed = {(edge.target, edge.target_port) for edge in flow.edges if not edge.is_feedback}
    connected = {end for edge in flow.edges for end in (edge.source, edge.target)}
    ends = [node.id for node in nodes if node.type in OUTPUT_TYPES]
    running = _running(nodes, flow)
    faults = _duplicates(nodes)
    for node in nodes:
        faults += _check_type(node, catalogue)
        faults += _check_inputs(node, fed, "error" if node.id in running else "warning")
        faults += _check_loop(node, flow)
        if len(nodes) > 1 and node.id not in connected:
            message = f"{node.id} is not connected to anything."
            faults.append(_warning("orphan", message, "Connect it, or remove it.", node))
        if node.id in ends and node.id not in running and node.id in connected:
            message = f"The chat input does not lead to {node.id}, so it is not run."
            faults.append(_warning("unreachable", message, "Connect them, or remove the chat input.", node))
    return faults + _check_ends(nodes, ends)


def _running(nodes: Sequence[Node], flow: Flow) -> set[str]:
    """Return what the engine runs: what a chat input leads to and what that needs; without a chat input, everything."""
    starts = [node.id for node in nodes if node.type == "ChatInput"]
    if not starts:
        return {node.id for node in nodes}
    return leading_to(reached_from(starts, flow.edges), flow.edges)


def _duplicates(nodes: Iterable[Node]) -> list[Fault]:
    counts = Counter(node.id for node in nodes)
    return [
        Fault(
            code="duplicate_id",
            message=f"{count} nodes have the id {node_id!r}.",
            fix="Give each node an id of its own.",
            node=node_id,
        )
        for node_id, count in counts.items()
        if count > 1
    ]


def _check_type(node: Node, catalogue: Catalogue) -> list[Fault]:
    part = catalogue.get(node.type)
    if part is None:
        if "flow" in node.definition:
            return []
        close = catalogue.nearest(node.type)
        hint = f"Did you mean {' or '.join(map(repr, close))}?" if close else "Choose a type from the catalogue."
        severity: Severity = "warning" if node.code else "error"
        message = f"{node.id} has the type {node.type!r}, which the catalogue does not know."
        return [Fault(code="unknown_type", message=message, fix=hint, severity=severity, node=node.id)]
    same = node.definition is part.definition or node.code == part.code or node.code.strip() == part.code.strip()
    if not same and node.code and part.code and node.type != "CustomComponent":
        message = f"The code of {node.id} is not that of the installed {node.type}."
        fix = "Replace the component by a new one, unless the change is meant."
        return [_warning("stale_code", message, fix, node)]
    return []


def _check_inputs(node: Node, fed: set[tuple[str, str]], severity: Severity) -> list[Fault]:
    faults: list[Fault] = []
    for name, field in node.template.items():
        if name == "code" or field.get("show") is False or (node.id, name) in fed:
            continue
        value, kind = field.get("value"), field.get("type")
        if kind in ("prompt", "mustache") and not value:
            fix = "Write the prompt, with {name} for what comes from other components."
            faults.append(_warning("empty_prompt", f"{node.id}.{name} is empty.", fix, node, name))
        if node.tool_mode and field.get("tool_mode"):
            continue
        if not field.get("required") or (value not in (None, "", [], {}) and value != CONNECTED):
            continue
        if kind == "model":
            fix = 'Choose one, such as [{"provider": "OpenAI", "name": "gpt-4o-mini"}].'
            message = f"{node.id}.{name} has no model."
            faults.append(_fault("missing_model", message, fix, node, name, severity))
        else:
            is_handle = kind == "other" and bool(texts(field.get("input_types")))
            fix = "Connect an output to it." if is_handle else "Set it or connect an output to it."
            message = f"{node.id}.{name} is required."
            faults.append(_fault("missing_input", message, fix, node, name, severity if is_handle else "warning"))
    return faults


def _check_loop(node: Node, flow: Flow) -> list[Fault]:
    faults: list[Fault] = []
    for port in feedback_ports(node):
        leaves = any(edge.source == node.id and edge.source_port == port.name for edge in flow.edges)
        returns = any(
            edge.is_feedback and edge.target == node.id and edge.target_port == port.name for edge in flow.edges
        )
        if leaves and not returns:
            message = f"The loop {node.id} is open: nothing comes back into {port.name}."
            fix = f"Connect the last step of the loop to {node.id}.{port.name}."
            faults.append(_warning("open_loop", message, fix, node))
    return faults


def _check_ends(nodes: Sequence[Node], ends: Sequence[str]) -> list[Fault]:
    faults: list[Fault] = []
    for kind, code in (("ChatInput", "several_chat_inputs"), ("ChatOutput", "several_chat_outputs")):
        same = [node for node in nodes if node.type == kind]
        if len(same) > 1:
            message = f"There are {len(same)} components of the type {kind}: {', '.join(node.id for node in same)}."
            faults.append(_warning(code, message, "One is usual; use other inputs and outputs for the rest.", same[1]))
    if not ends and all(not node.tool_mode for node in nodes) and not any(_answers(node) for node in nodes):
        message = "The flow has no output component, so a run answers nothing."
        faults.append(Fault(code="no_output", message=message, fix="Add a ChatOutput.", severity="warning"))
    return faults


def _answers(node: Node) -> bool:
    return node.type in OUTPUT_TYPES or any(output.get("name") == TOOL_OUTPUT for output in node.outputs)


def _warning(code: str, message: str, fix: str, node: Node, field: str | None = None) -> Fault:
    return _fault(code, message, fix, node, field, "warning")


def _fault(code: str, message: str, fix: str, node: Node, field: str | None, severity: Severity) -> Fault:
    return Fault(code=code, message=message, fix=fix, severity=severity, node=node.id, field=field)
