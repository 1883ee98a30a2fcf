"""The changes of a flow as clients receive them: `flow_update` events, one model for each action.

Nodes are named by their ids and values by the names of their fields. `node` is the changed node as it is afterwards,
so that a client can replace it instead of applying the change itself.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from agent.contract.model import Received, optional
from tools.json_types import EdgeObject, FlowObject, NodeObject


class StreamEvent(Received):
    """What all events of a turn's stream have.

    Attributes:
        turn_id: the turn; sent only by streams that can be resumed.
        sequence: the number of the event in its turn, from 1; sent with `turn_id`.
    """

    turn_id: str | None = optional()
    sequence: int | None = optional()


class _FlowUpdate(StreamEvent):
    event: Literal["flow_update"] = "flow_update"


class ComponentAdded(_FlowUpdate):
    """A node joins the flow, with the edges that connect it when it comes back with some."""

    action: Literal["add_component"] = "add_component"
    node: NodeObject
    edges: list[EdgeObject] | None = optional()


class ComponentRemoved(_FlowUpdate):
    """A node leaves the flow, with all of its edges."""

    action: Literal["remove_component"] = "remove_component"
    component_id: str


class Connected(_FlowUpdate):
    """An edge joins the flow."""

    action: Literal["connect"] = "connect"
    edge: EdgeObject


class Disconnected(_FlowUpdate):
    """An edge leaves the flow."""

    action: Literal["disconnect"] = "disconnect"
    edge: EdgeObject


class Configured(_FlowUpdate):
    """Values of fields change: `params` holds the new ones by field name, null for a value that is removed."""

    action: Literal["configure"] = "configure"
    component_id: str
    params: dict[str, Any]
    node: NodeObject | None = optional()


class OutputSelected(_FlowUpdate):
    """Another output of a node with several is in use; null when none is selected any more."""

    action: Literal["select_output"] = "select_output"
    component_id: str
    output_name: Any
    node: NodeObject | None = optional()


class ConnectionModeSet(_FlowUpdate):
    """A model field takes a connected model (`enabled`), or one that is chosen in the field."""

    action: Literal["set_connection_mode"] = "set_connection_mode"
    component_id: str
    field: str
    enabled: bool
    node: NodeObject | None = optional()


class ToolModeSet(_FlowUpdate):
    """A node becomes a tool for agents (`enabled`), or a step of the flow again."""

    action: Literal["set_tool_mode"] = "set_tool_mode"
    component_id: str
    enabled: bool
    node: NodeObject | None = optional()


class Arranged(_FlowUpdate):
    """How the canvas shows a node changes: `key` is one of the node's outer keys, such as `position`."""

    action: Literal["arrange"] = "arrange"
    component_id: str
    key: str
    value: Any


class Amended(_FlowUpdate):
    """A node's display name, description or definition changes."""

    action: Literal["amend"] = "amend"
    component_id: str
    node: NodeObject | None = optional()


class DetailSet(_FlowUpdate):
    """The document changes at `path`, outside its nodes and edges: the flow's name, description or viewport."""

    action: Literal["set_detail"] = "set_detail"
    path: list[str | int]
    value: Any


class FlowSet(_FlowUpdate):
    """The whole flow is replaced (`auto_apply`), or a flow is proposed that waits for the user."""

    action: Literal["set_flow"] = "set_flow"
    flow: FlowObject
    auto_apply: bool


class PlanProposed(_FlowUpdate):
    """A plan waits for the user's decision; `id` names it in the next request's `approvals`."""

    action: Literal["propose_plan"] = "propose_plan"
    id: str
    markdown: str


class PatchOperation(Received):
    """One operation of a JSON Patch (RFC 6902) on the flow's document."""

    op: Literal["replace"] = "replace"
    path: str
    value: Any


class TextChange(Received):
    """A further text that the same answer decides on."""

    component_id: str
    field: str
    old_value: Any = None
    new_value: Any = None


class FieldEdit(Received):
    """A change of one field's text that waits for the user's decision.

    Attributes:
        id: names it in the next request's `approvals`.
        component_id: the node.
        component_type: the node's type.
        field: the field's name.
        old_value: the text now.
        new_value: the text that is proposed.
        description: why, in the assistant's words.
        patch: the change as a JSON Patch on the flow, for clients of Langflow's own assistant. It names the node by its
            place in the list of nodes; other clients use `component_id` and `field`.
        also: further texts that are changed together with this one.
    """

    id: str
    component_id: str = ""
    component_type: str = ""
    field: str = ""
    old_value: Any = None
    new_value: Any = None
    description: str = ""
    patch: list[PatchOperation] | None = optional()
    also: list[TextChange] | None = optional()


class _FieldEditUpdate(_FlowUpdate):
    action: Literal["edit_field"] = "edit_field"


class FieldEditProposed(FieldEdit, _FieldEditUpdate):
    """A change of one field's text waits for the user's decision."""


FlowUpdateEvent: TypeAlias = Annotated[
    ComponentAdded
    | ComponentRemoved
    | Connected
    | Disconnected
    | Configured
    | OutputSelected
    | ConnectionModeSet
    | ToolModeSet
    | Arranged
    | Amended
    | DetailSet
    | FlowSet
    | PlanProposed
    | FieldEditProposed,
    Field(discriminator="action"),
]
