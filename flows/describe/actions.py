"""Flow actions in words: a structured summary for lists of changes, and an English sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from flows.actions import (
    AddComponent,
    Amend,
    Arrange,
    Configure,
    Connect,
    Disconnect,
    FlowAction,
    RemoveComponent,
    SelectOutput,
    SetConnectionMode,
    SetDetail,
    SetFlow,
    SetToolMode,
)
from flows.document import Edge, Flow, Node, edge_text

Effect: TypeAlias = Literal["added", "removed", "connected", "disconnected", "changed", "replaced", "moved"]


@dataclass(frozen=True)
class ActionSummary:
    """What an action does.

    Attributes:
        effect: what happens to its subject.
        nodes: the ids of the nodes concerned; of a connection, its source and target.
        names: the field that is set, the output and input of a connection, or the path in the document.
    """

    effect: Effect
    nodes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """What the action changes: `node`, `node: field`, `node.output -> node.input` or a path in the document."""
        if len(self.nodes) == 2:
            return edge_text(self.nodes[0], self.names[0], self.nodes[1], self.names[1])
        return ": ".join([*self.nodes, *([".".join(self.names)] if self.names else [])])


def summarize(action: FlowAction) -> ActionSummary:
    """Return what an action does, and to which part of the flow."""
    match action:
        case AddComponent():
            return ActionSummary("added", (Node(action.node).id,))
        case RemoveComponent():
            return ActionSummary("removed", (Node(action.node).id,))
        case Connect() | Disconnect():
            edge = Edge(action.edge)
            effect = "connected" if isinstance(action, Connect) else "disconnected"
            return ActionSummary(effect, (edge.source, edge.target), (edge.source_port, edge.target_port))
        case Configure():
            return ActionSummary("changed", (action.node,), (action.field,))
        case SelectOutput() | SetConnectionMode() | SetToolMode() | Amend():
            return ActionSummary("changed", (action.node,))
        case Arrange():
            return ActionSummary("moved", (action.node,))
        case SetDetail():
            return ActionSummary("changed", (), tuple(map(str, action.path)))
        case SetFlow():
            return ActionSummary("replaced")
        case _:
            assert_never(action)


def describe_action(action: FlowAction, flow: Flow) -> str:
    """Return an action as an English sentence without its full stop, such as `Set temperature of Language Model`.

    Args:
        action: the action.
        flow: the flow after it, or before it; components go by the display names that they have there.
    """

    def name(node_id: str) -> str:
        node = flow.node(node_id)
        return node.display_name if node is not None else node_id

    summary = summarize(action)
    match action:
        case AddComponent():
            return f"Add {Node(action.node).display_name}"
        case RemoveComponent():
            return f"Remove {Node(action.node).display_name}"
        case Connect() | Disconnect():
            (source, target), (output, field) = summary.nodes, summary.names
            verb = "Connect" if isinstance(action, Connect) else "Disconnect"
            return f"{verb} {name(source)}.{output} → {name(target)}.{field}"
        case Configure() | SetConnectionMode():
            return f"Set {action.field} of {name(action.node)}"
        case SelectOutput():
            return f"Choose another output of {name(action.node)}"
        case SetToolMode():
            return f"Use {name(action.node)} as a {'tool' if action.enabled else 'step'}"
        case Amend():
            return f"Change {name(action.node)}"
        case Arrange():
            return f"Move {name(action.node)}"
        case SetDetail():
            return "Change a detail of the flow"
        case SetFlow():
            return "Replace the whole flow"
        case _:
            assert_never(action)
