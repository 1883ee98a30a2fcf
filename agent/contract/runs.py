"""What a client receives that runs a stored flow as a stream: the run's events, the last of which has its result."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from agent.contract.events import CancelledEvent, FileWrittenEvent
from agent.contract.model import LATER, Received
from runtime.run_events import EventsCut, ModelWait, NodeFinished, NodeStarted, NodeToken
from tools.json_types import RunJson


class RunComplete(Received):
    """The last event of a run that came to an end, with what it gave; the same without a stream is the whole reply."""

    event: Literal["complete"] = "complete"
    data: RunJson


RunStreamEvent: TypeAlias = Annotated[
    NodeStarted | NodeFinished | NodeToken | ModelWait | EventsCut | FileWrittenEvent | RunComplete | CancelledEvent,
    Field(discriminator="event"),
]
"""One event of a run's stream; `cancelled` ends it when the server stops."""

RUN_STREAM_EVENTS: TypeAdapter[RunStreamEvent] = TypeAdapter(RunStreamEvent, config=LATER)
