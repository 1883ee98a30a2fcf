"""What a client of the HTTP API receives: the events of a turn's stream, the last of which says how it ended."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeAlias, get_args
from urllib.parse import quote

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from agent.contract.details import ReasoningEvent, RemarkEvent, StartedEvent, ToolCallEvent, ToolResultEvent
from agent.contract.flow_updates import FlowUpdateEvent, StreamEvent
from agent.contract.model import LATER, ContractModel, Received, optional
from agent.contract.questions import Question
from agent.turn.record import TurnRecord
from runtime.results import RunMetrics
from tools.events import FileChange, Step, Todo
from tools.json_types import FaultJson, FlowJson, FlowObject, RunJson


class ProgressEvent(StreamEvent):
    """One line about what is happening now. Shown, never stored.

    Attributes:
        step: what kind of step it is; a client may meet steps that it does not know.
        attempt: which attempt this is, from 1.
        max_attempts: how many there are at most.
        message: the line, for a person.
    """

    event: Literal["progress"] = "progress"
    step: Step | str
    attempt: int
    max_attempts: int
    message: str


class TokenEvent(StreamEvent):
    """A piece of the answer's text, sent while a question is answered."""

    event: Literal["token"] = "token"
    chunk: str


class FlowPreviewEvent(StreamEvent):
    """A whole flow to look at before it is accepted, with its graph drawn in text."""

    event: Literal["flow_preview"] = "flow_preview"
    flow: FlowObject
    name: str
    node_count: int
    edge_count: int
    graph: str


FILES_PATH = "/api/v1/files"
"""The path of the user's files."""


def file_url(path: str) -> str:
    """The path that serves one of the user's files."""
    return f"{FILES_PATH}/{quote(path)}"


class FileWrittenEvent(StreamEvent):
    """One of the user's files has new content: by the assistant, or by a flow that ran (`run_flow`).

    `size` in bytes; `content` the whole text, after edits too, and empty for a file that is not text; `url` serves a
    file that a flow wrote.
    """

    event: Literal["file_written"] = "file_written"
    action: Literal["write_file", "edit_file", "run_flow"]
    path: str
    size: int
    content: str
    url: str | None = optional()


class TodosEvent(StreamEvent):
    """The steps of a long task, all of them, whenever one changes."""

    event: Literal["todos"] = "todos"
    todos: list[Todo]


class RewoundEvent(StreamEvent):
    """A turn that was interrupted goes on from an earlier point. Sent only by streams that resume.

    Attributes:
        to: the sequence number after which the turn goes on; every event with a higher one is void.
        flow: the canvas at that point.
    """

    event: Literal["rewound"] = "rewound"
    to: int
    flow: FlowJson


class TokenCount(Received):
    """The tokens of a turn, all phases together.

    Attributes:
        input_tokens: tokens sent, those from a cache too.
        output_tokens: tokens received.
        total_tokens: both together.
        cached_tokens: how many of those sent the provider read from its cache; absent if none.
        cost: US dollars of the models that answered, without those inside flows; absent if a price is not known.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int | None = optional()
    cost: float | None = optional()


class RunFigures(Received):
    """What the last run of a turn took."""

    duration_seconds: float
    input_tokens: int
    output_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, metrics: RunMetrics) -> "RunFigures":
        """The figures of a run."""
        return cls(
            duration_seconds=metrics.seconds,
            input_tokens=metrics.input_tokens,
            output_tokens=metrics.output_tokens,
            total_tokens=metrics.total_tokens,
        )


class Stored(Received):
    """Whether and how a turn's changes were saved; the keys are there when it worked on a stored flow.

    Attributes:
        flow_id: the stored flow.
        saved: whether the store holds the turn's canvas now.
        version: the version that the store holds, from 1; null when the flow was removed meanwhile.
        save_error: why the canvas was not saved.
        merged: true when others had changed the stored flow meanwhile and both changes are in it now; the `flow` of
            `complete` is then the merged one.
        clashes: what both changed differently (a component, a field, an edge); what the others stored was kept.
    """

    flow_id: str | None = optional()
    saved: bool | None = optional()
    version: int | None = Field(default=0, exclude_if=lambda version: version == 0)
    save_error: str | None = optional()
    merged: bool | None = optional()
    clashes: list[str] | None = optional()


class _Completed(Received):
    """What a finished turn came to.

    Attributes:
        result: the answer's text.
        intent: what the message was taken for; a client takes any it does not know for `build_flow`.
        session_id: the conversation.
        flow: the canvas at the end.
        actions: how many changes led to it.
        faults: what is still wrong with the resulting or proposed flow.
        caveats: what could not be verified.
        model: who answered; None for the demo planner.
        usage: the tokens of the turn.
        duration_seconds: how long it took.
        validated: whether what was built or made passed every check.
        class_name: the type of the component that was made last.
        component_code: its source code.
        approvals: what waits for the user's decision; nothing of it has been done yet.
        withdrawn: what waited before this turn and was not answered by its message; nothing of it has been done.
        continuation_expected: whether the message asked for more than the edits that wait.
        files: what became of the user's files, in order.
        proposal: a whole flow that waits for the user's acceptance.
        proposal_id: its id, by which `approvals` of a later request accept it or set it aside.
        run: the last run of the turn, as `flow run --json` prints it.
        run_metrics: what that run took.
        record: what was done, made by code; a client shows its `text`, which is in the user's language, unless
            `disagrees` is set: then `result` begins with it.
    """

    result: str = ""
    intent: str = "build_flow"
    session_id: str = ""
    flow: FlowJson | None = None
    actions: int = 0
    faults: list[FaultJson] = Field(default_factory=list[Any])
    caveats: list[str] = Field(default_factory=list[str])
    model: str | None = None
    usage: TokenCount | None = optional()
    duration_seconds: float = 0.0
    validated: bool | None = optional()
    class_name: str | None = optional()
    component_code: str | None = optional()
    approvals: list[Question] | None = optional()
    withdrawn: list[Question] | None = optional()
    continuation_expected: bool | None = optional()
    files: list[FileChange] | None = optional()
    proposal: FlowJson | None = optional()
    proposal_id: str | None = optional()
    run: RunJson | None = optional()
    run_metrics: RunFigures | None = optional()
    record: TurnRecord = Field(default_factory=TurnRecord)


class CompleteData(Stored, _Completed):
    """What a finished turn came to, and what became of the stored flow."""


class CompleteEvent(StreamEvent):
    """The last event of a turn that came to an end."""

    event: Literal["complete"] = "complete"
    data: CompleteData


class _Error(StreamEvent):
    """The last event of a turn that failed.

    Attributes:
        message: what happened, in words for the user; never an exception's own text.
        code: a stable name of the kind of failure.
        fix: what the user can do.
        session_id, usage, duration_seconds: the conversation, and what the turn took; absent when it did not start.
        record: what was done before it failed, if anything was.
    """

    event: Literal["error"] = "error"
    message: str
    code: str = "error"
    fix: str = ""
    session_id: str | None = optional()
    usage: TokenCount | None = optional()
    duration_seconds: float | None = optional()
    record: TurnRecord | None = optional()


class ErrorEvent(Stored, _Error):
    """The last event of a turn that failed."""


StopReason: TypeAlias = Literal["stopped", "abandoned", "interrupted"]
"""Why a turn was stopped."""


class _Cancelled(StreamEvent):
    """The last event of something that was stopped.

    Attributes:
        message: why, for the user.
        reason: `stopped` by request; `abandoned` by its client; `interrupted` by the end of the server.
        record: what was done before, if anything was.
    """

    event: Literal["cancelled"] = "cancelled"
    message: str = ""
    reason: StopReason | None = optional()
    record: TurnRecord | None = optional()


class CancelledEvent(Stored, _Cancelled):
    """The last event of a turn that was stopped."""


Ending: TypeAlias = CompleteEvent | ErrorEvent | CancelledEvent
"""The events that end a turn."""

Event: TypeAlias = Annotated[
    StartedEvent
    | ProgressEvent
    | TokenEvent
    | ReasoningEvent
    | RemarkEvent
    | ToolCallEvent
    | ToolResultEvent
    | FlowUpdateEvent
    | FlowPreviewEvent
    | FileWrittenEvent
    | TodosEvent
    | RewoundEvent
    | CompleteEvent
    | ErrorEvent
    | CancelledEvent,
    Field(discriminator="event"),
]
"""One event of a turn's stream."""

EVENTS: TypeAdapter[Event] = TypeAdapter(Event, config=LATER)


def models_of(events: Any) -> Iterator[type[BaseModel]]:
    """The models of a union of events, however deep they are in it."""
    if isinstance(events, type):
        yield events
    for inner in get_args(events):
        yield from models_of(inner)


_KINDS = frozenset(model.model_fields["event"].default for model in models_of(Event))


def read_event(text: str | bytes) -> Event | None:
    """Read one event from its JSON.

    Returns:
        The event, or None for a kind that this version of the contract does not know.

    Raises:
        pydantic.ValidationError: it is not an event of the contract.
    """
    try:
        return EVENTS.validate_json(text)
    except ValidationError:
        if _Kind.model_validate_json(text).event not in _KINDS:
            return None
        raise


class _Kind(ContractModel):
    event: str
