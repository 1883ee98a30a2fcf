"""A change of the canvas as clients receive it."""

from __future__ import annotations

from typing import assert_never

from agent.contract.flow_updates import (
    Amended,
    Arranged,
    ComponentAdded,
    ComponentRemoved,
    Configured,
    Connected,
    ConnectionModeSet,
    DetailSet,
    Disconnected,
    FlowSet,
    FlowUpdateEvent,
    OutputSelected,
    ToolModeSet,
)
from flows.actions import (
    AddComponent,
    Amend,
    Arrange,
    Configure,
    Connect,
    Disconnect,
    NodeAction,
    RemoveComponent,
    SelectOutput,
    SetConnectionMode,
    SetDetail,
    SetFlow,
    SetToolMode,
)
from flows.document import Json, JsonObject, Node
from flows.json_values import Missing
from tools.events import FlowUpdate


def flow_update(event: FlowUpdate) -> FlowUpdateEvent:
    """A change as clients receive it."""
    action = event.action
    match action:
        case AddComponent():
            return ComponentAdded(node=action.node, edges=[edge for _, edge in action.edges] or None)
        case RemoveComponent():
            return ComponentRemoved(component_id=Node(action.node).id)
        case Connect():
            return Connected(edge=action.edge)
        case Disconnect():
            return Disconnected(edge=action.edge)
        case SetDetail():
            return DetailSet(path=list(action.path), value=_value(action.new))
        case SetFlow():
            return FlowSet(flow=action.new, auto_apply=event.applied)
        case _:
            return _node_update(action, event.node)


def _node_update(action: NodeAction, node: JsonObject | None) -> FlowUpdateEvent:
    match action:
        case Configure():
            return Configured(component_id=action.node, params={action.field: _value(action.new)}, node=node)
        case SelectOutput():
            return OutputSelected(component_id=action.node, output_name=_value(action.new), node=node)
        case SetConnectionMode():
            enabled = action.new == "connect_other_models"
            return ConnectionModeSet(component_id=action.node, field=action.field, enabled=enabled, node=node)
        case SetToolMode():
            return ToolModeSet(component_id=action.node, enabled=action.enabled, node=node)
        case Arrange():
            return Arranged(component_id=action.node, key=action.key, value=_value(action.new))
        case Amend():
            return Amended(component_id=action.node, node=node)
        case _:
            assert_never(action)


def _value(value: Json | Missing) -> Json:
    return None if isinstance(value, Missing) else value
