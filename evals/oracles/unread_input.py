"""Flows that do nothing with what is typed."""

from __future__ import annotations

from typing import Final

from evals.case import Case
from flows.document import Flow

_TYPED: Final = ("ChatInput", "TextInput", "Webhook")
"""What takes the input of a run: the components of the first of these types that a flow has."""


def input_is_unread(case: Case) -> bool:
    """Whether what is typed leads to no end of the flow, while it does in each of the right flows.

    Outputs may not show it: the answer of a model, or the name of a file, can be the same for every input.
    """
    return not reads_input(case.after) and all(reads_input(flow) for flow in case.target_flows)


def reads_input(flow: Flow) -> bool:
    """Whether connections lead from where a run's input arrives to a component from which none leads on."""
    there = {node.type for node in flow.components}
    typed = next((kind for kind in _TYPED if kind in there), "")
    after: dict[str, list[str]] = {}
    for edge in flow.edges:
        after.setdefault(edge.source, []).append(edge.target)
    pending = [node.id for node in flow.components if node.type == typed and node.id in after]
    seen = set(pending)
    while pending:
        at = pending.pop()
        if at not in after:
            return True
        new = [target for target in after[at] if target not in seen]
        seen.update(new)
        pending.extend(new)
    return False
