"""Checks of components that depend on others: combining needs several inputs, and listening may never end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flows.document import Flow, Node
from flows.faults import Fault
from flows.json_values import as_text, texts

_LEAST = re.compile(r"^\s*MIN_INPUTS_REQUIRED\s*(?::\s*int\s*)?=\s*(\d+)\s*$", re.MULTILINE)
_MARK = "MIN_INPUTS_REQUIRED"
_KEY = "context_key"


def check_partners(flow: Flow, nodes: Sequence[Node], running: set[str]) -> list[Fault]:
    """Return the faults of components that need further inputs, or with which a run never ends."""
    return [*_check_combining(flow, nodes), *_check_listening(flow, nodes, running)]


def _check_combining(flow: Flow, nodes: Sequence[Node]) -> list[Fault]:
    """One edge may carry several values, so this is only a warning."""
    faults: list[Fault] = []
    for node in nodes:
        least = _LEAST.search(node.code) if _MARK in node.code else None
        if least is None:
            continue
        for name, field in node.template.items():
            if not field.get("list") or not field.get("required") or not texts(field.get("input_types")):
                continue
            count = sum(edge.target == node.id and edge.target_port == name for edge in flow.edges)
            if 0 < count < int(least[1]):
                message = f"{node.id}.{name} has {count} edge, but needs at least {least[1]} values."
                fix = "Connect another output to it, or remove the component."
                faults.append(
                    Fault(code="too_few_inputs", message=message, fix=fix, severity="warning", node=node.id, port=name)
                )
    return faults


def _check_listening(flow: Flow, nodes: Sequence[Node], running: set[str]) -> list[Fault]:
    """The engine runs a listener again for every notification."""
    fed = {(edge.target, edge.target_port) for edge in flow.edges}
    keys = {
        (kind, node.id): as_text(node.value(_KEY))
        for kind in ("Notify", "Listen")
        for node in nodes
        if node.type == kind and (node.id, _KEY) not in fed
    }
    woken = {key for (kind, node_id), key in keys.items() if kind == "Notify" and key and node_id in running}
    faults: list[Fault] = []
    for (kind, node_id), key in keys.items():
        if kind == "Listen" and key in woken:
            message = f"{node_id} listens for {key!r}, which this flow notifies, so the engine runs it endlessly."
            fix = "Connect the notifying value directly to what follows the listener, and remove both."
            faults.append(Fault(code="endless", message=message, fix=fix, node=node_id, field=_KEY))
    return faults
