"""The events of a run that is under way, as the engine reports them and as clients receive them."""

from typing import Final, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True)


class NodeStarted(_Event):
    """A node started.

    Attributes:
        node: the node's id.
        iteration: how many times it has started, this time included; more than 1 in a loop.
    """

    event: Literal["node_started"] = "node_started"
    node: str
    iteration: int = 1


class NodeFinished(_Event):
    """A node finished.

    Attributes:
        node: the node's id.
        iteration: how many times it has started, this time included; more than 1 in a loop.
        seconds: how long it took.
        ok: whether it finished without an error.
    """

    event: Literal["node_finished"] = "node_finished"
    node: str
    iteration: int = 1
    seconds: float = 0.0
    ok: bool = True


class NodeToken(_Event):
    """A node wrote a piece of text."""

    event: Literal["token"] = "token"
    node: str
    text: str


class ModelWait(_Event):
    """A model of a node asked to wait, and is waited for.

    Attributes:
        node: the node's id; empty if the call names none.
        seconds: how long.
    """

    event: Literal["waiting"] = "waiting"
    node: str
    seconds: float


class EventsCut(_Event):
    """The last event of a run with too many of them."""

    event: Literal["cut"] = "cut"


RunEvent: TypeAlias = NodeStarted | NodeFinished | NodeToken | ModelWait | EventsCut
"""An event of a run that is under way."""

EventKind: TypeAlias = Literal["node_started", "node_finished", "token", "waiting", "cut"]
"""The kind of an event of a run: its `event`."""

EVENT_KINDS: Final[tuple[EventKind, ...]] = get_args(EventKind)
"""Every kind of event."""
