"""What a client receives that runs a stored flow as a stream: the run's events, the last of which has its result."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from agent.contract.events import CancelledEvent, FileWrittenEvent
from agent.contract.model import LATER, Page, Received
from runtime.run_events import EventsCut, ModelWait, NodeFinished, NodeStarted, NodeToken
from runtime.sessions.run_entry import RunEntry, RunSource, RunState
from tools.json_types import RunJson


class RunComplete(Received):
    """The last event of a run that came to an end, with what it gave; the same without a stream is the whole reply."""

    event: Literal["complete"] = "complete"
    data: RunJson


class RunStarted(Received):
    """A run that has begun and that nobody waits for.

    Attributes:
        id: the run's id.
        state: how it stands.
        started_at: when it began, ISO 8601 in UTC.
        url: where it is read; its events are below it, under `events`.
    """

    id: str
    state: RunState
    started_at: str
    url: str


class RunPage(Page):
    """Runs, latest first."""

    runs: list[RunEntry]


class KeptRun(Received):
    """A run with what is kept of what it gave.

    Attributes:
        id: the run's id.
        flow: the id of the stored flow, or the key of another one.
        name: the name of the flow.
        session: the session's id; empty without one.
        source: who ran it.
        state: how it stands.
        input: the text that it was given; null for the values as configured.
        output: the chat output; null if there was none.
        error: why it failed, in words for the user; null if it did not.
        seconds: wall-clock duration.
        input_tokens: what its model calls read.
        output_tokens: what they wrote.
        started_at: when it began, ISO 8601 in UTC; empty where that is not known.
        at: when it ended; while it runs, when it began.
        result: what the run's own reply said, with every node's value; null while it runs, and if it gave nothing.
        cut: whether parts of the result are left out because it is long.
    """

    id: str
    flow: str
    name: str
    session: str
    source: RunSource
    state: RunState
    input: str | None
    output: str | None
    error: str | None
    seconds: float
    input_tokens: int
    output_tokens: int
    started_at: str
    at: str
    result: RunJson | None
    cut: bool


RunStreamEvent: TypeAlias = Annotated[
    NodeStarted | NodeFinished | NodeToken | ModelWait | EventsCut | FileWrittenEvent | RunComplete | CancelledEvent,
    Field(discriminator="event"),
]
"""One event of a run's stream; `cancelled` ends it when the server stops."""

RUN_STREAM_EVENTS: TypeAdapter[RunStreamEvent] = TypeAdapter(RunStreamEvent, config=LATER)
