"""The result of an edit: a new flow with its actions, or an error with every reason."""

from __future__ import annotations

from dataclasses import dataclass

from flows.actions import FlowAction
from flows.document import Flow, Node
from flows.faults import Fault, did_you_mean


class EditError(ValueError):
    """An edit that is not possible; `faults` has every reason. The flow is unchanged."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__(" ".join(f"{fault.message} {fault.fix}".strip() for fault in faults))
        self.faults = faults


@dataclass(frozen=True)
class Edit:
    """A flow after an edit, and the actions that lead to it in order.

    `lost` names what could not be kept: values and edges of a replaced component, edges of removed ports.
    """

    flow: Flow
    actions: tuple[FlowAction, ...]
    lost: tuple[str, ...] = ()


def node_of(flow: Flow, node_id: str) -> Node:
    """Return the node with this id.

    Raises:
        EditError: there is none; the fault suggests similar ids.
    """
    node = flow.node(node_id)
    if node is None:
        names = [other.id for other in flow.components]
        message = f"There is no node {node_id!r} in the flow."
        fix = did_you_mean(node_id, names, otherwise="the nodes are") if names else "The flow is empty."
        raise EditError(Fault(code="unknown_node", message=message, fix=fix, node=node_id))
    return node


def component_of(flow: Flow, node_id: str) -> Node:
    """Return the component with this id.

    Raises:
        EditError: there is none, or it is a note.
    """
    node = node_of(flow, node_id)
    if node.is_note:
        message = f"{node_id} is a note, not a component."
        raise EditError(Fault(code="not_a_component", message=message, fix="Name a component.", node=node_id))
    return node
