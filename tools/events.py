"""The events that tools emit while a turn runs, as typed events in PydanticAI's stream."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pydantic_ai import CustomEvent

from flows.describe.diagrams import ascii_graph
from runtime.run_events import RunEvent
from tools.json_types import ActionJson, FlowJson

Step: TypeAlias = Literal[
    "generating",
    "generating_flow",
    "generating_component",
    "generating_document",
    "orchestrating",
    "searching_components",
    "building_flow",
    "flow_built",
    "flow_build_failed",
    "flow_proposal_ready",
    "preparing_runner",
    "running_flow",
    "validating",
    "validated",
    "validation_failed",
    "retrying",
    "waiting",
]


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """A change to one of the user's files, without its content.

    Attributes:
        path: the path inside the user's folder.
        size: the size afterwards in bytes; 0 for a deleted file.
        change: the kind of change.
    """

    path: str
    size: int
    change: Literal["created", "replaced", "edited", "deleted"]


@dataclass(frozen=True, kw_only=True)
class NewComponent:
    """A component type created for the user.

    Attributes:
        class_name: its type name.
        source: its source code.
    """

    class_name: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Todo:
    """One step of a long task.

    Attributes:
        content: what to do.
        status: how far along it is.
    """

    content: str
    status: Literal["pending", "in_progress", "completed"] = "pending"


@dataclass(kw_only=True)
class Progress(CustomEvent, name="progress"):
    """A line about what is happening now. Shown, never stored."""

    step: Step
    message: str
    attempt: int = 1
    max_attempts: int = 3


@dataclass(kw_only=True)
class FlowUpdate(CustomEvent, name="flow_update"):
    """One change to a flow.

    Attributes:
        action: the change.
        applied: true for a change on the canvas; false for a proposal (a `SetFlow` that waits for the user).
        node: the node after the change, for an action that changes one node; otherwise None.
    """

    action: ActionJson
    applied: bool = True
    node: dict[str, Any] | None = None


@dataclass(kw_only=True)
class RunProgress(CustomEvent, name="run_progress"):
    """Progress inside a flow that runs for the user. Shown, never stored.

    Attributes:
        event: a node started for the first time; a run on its own (`Runner.execute`) reports more.
        label: the node's display name.
    """

    event: RunEvent
    label: str = ""


@dataclass(kw_only=True)
class FlowPreview(CustomEvent, name="flow_preview"):
    """A proposed flow to look at before accepting it, with its graph drawn as text."""

    flow: FlowJson
    graph: str

    @classmethod
    def of(cls, flow: FlowJson) -> "FlowPreview":
        """Return the preview of a flow."""
        return cls(flow=flow, graph=ascii_graph(flow))


@dataclass(kw_only=True)
class FileWritten(CustomEvent, name="file_written"):
    """One of the user's files has new content.

    Attributes:
        change: the file and the kind of change.
        content: the whole new text; empty for a file that is not text.
        by_run: whether a flow wrote it, not the assistant.
    """

    change: FileChange
    content: str
    by_run: bool = False


@dataclass(kw_only=True)
class TodosWritten(CustomEvent, name="todos_written"):
    """All steps of a long task, sent whenever one changes. Shown, never stored."""

    todos: list[Todo]
