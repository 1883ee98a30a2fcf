"""Events of a turn for clients that asked for `details`: its start, what the model thinks and says, what tools do."""

from typing import Any, Literal

from agent.contract.flow_updates import StreamEvent
from agent.contract.model import optional
from tools.json_types import FlowJson


class StartedEvent(StreamEvent):
    """A turn has begun. Sent to clients that asked for `details`, before all but progress.

    Attributes:
        session_id: the conversation.
        flow_id: the stored flow that the turn works on; absent when it is none.
        flow: the canvas at the start.
    """

    event: Literal["started"] = "started"
    session_id: str
    flow_id: str | None = optional()
    flow: FlowJson


class ReasoningEvent(StreamEvent):
    """A piece of what a model thinks before it answers or acts. Sent to clients that asked for `details`.

    Attributes:
        is_new: whether it begins a thought, rather than going on with the last one.
    """

    event: Literal["reasoning"] = "reasoning"
    chunk: str
    is_new: bool = False


class RemarkEvent(StreamEvent):
    """A piece of what a model says before it calls a tool. Sent to clients that asked for `details`.

    It is no part of the answer, which `complete` has.

    Attributes:
        is_new: whether it begins a remark, rather than going on with the last one.
    """

    event: Literal["remark"] = "remark"
    chunk: str
    is_new: bool = False


class ToolCallEvent(StreamEvent):
    """The assistant calls one of its tools. Sent to clients that asked for `details`.

    Attributes:
        tool_call_id: the call, unique in its conversation; a question about it has the same id.
        tool_name: the tool.
        arguments: what the model wrote for it.
    """

    event: Literal["tool_call"] = "tool_call"
    tool_call_id: str
    tool_name: str
    arguments: dict[str, Any]


class ToolResultEvent(StreamEvent):
    """What came of a tool's call. Sent to clients that asked for `details`.

    A call that waits for the user has its result in the turn that answers it.

    Attributes:
        tool_call_id: the call.
        tool_name: the tool.
        content: the tool's answer as the model reads it, cut when it is long.
        is_error: whether the call was refused or failed.
        denied: true when that is because the user said no to it.
    """

    event: Literal["tool_result"] = "tool_result"
    tool_call_id: str
    tool_name: str
    content: str
    is_error: bool = False
    denied: bool | None = optional()
