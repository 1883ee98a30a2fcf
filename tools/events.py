"""What tools tell the people who watch a turn: typed events in PydanticAI's own stream."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pydantic_ai import CustomEvent

from flows.describe.diagrams import ascii_graph
from runtime.results import RunEvent
from tools.json_schema import ActionJson, FlowJson

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
]


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """What became of one of the user's files, without its content.

    Attributes:
        path: the path inside the user's folder.
        size: bytes afterwards; 0 when it is gone.
        change: what happened to it.
    """

    path: str
    size: int
    change: Literal["created", "replaced", "edited", "deleted"]


@dataclass(frozen=True, kw_only=True)
class MadeComponent:
    """A component type that was made for the user.

    Attributes:
        class_name: its type.
        source: its source code.
    """

    class_name: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Todo:
    """One step of a long task.

    Attributes:
        content: what is to be done.
        status: how far it is.
    """

    content: str
    status: Literal["pending", "in_progress", "completed"] = "pending"


@dataclass(kw_only=True)
class Progress(CustomEvent, name="progress"):
    """One line about what is happening now. Shown, never stored."""

    step: Step
    message: str
    attempt: int = 1
    max_attempts: int = 3


@dataclass(kw_only=True)
class FlowUpdate(CustomEvent, name="flow_update"):
    """One change to a flow.

    Attributes:
        action: the change.
        applied: true when the canvas has it now; false for a proposal (a `SetFlow` that waits for the user).
        node: the changed node as it is afterwards, for an action that changes one node; None for any other.
    """

    action: ActionJson
    applied: bool = True
    node: dict[str, Any] | None = None


@dataclass(kw_only=True)
class RunProgress(CustomEvent, name="run_progress"):
    """What happens inside a flow that runs for the user. Shown, never stored.

    Attributes:
        event: a node began or ended, or wrote a piece of text.
        label: what the flow calls the node.
    """

    event: RunEvent
    label: str = ""


@dataclass(kw_only=True)
class FlowPreview(CustomEvent, name="flow_preview"):
    """A whole flow to look at before it is accepted, with its graph drawn in text."""

    flow: FlowJson
    graph: str

    @classmethod
    def of(cls, flow: FlowJson) -> "FlowPreview":
        """The preview of a flow."""
        return cls(flow=flow, graph=ascii_graph(flow))


@dataclass(kw_only=True)
class FileWritten(CustomEvent, name="file_written"):
    """A file of the user's has new content.

    Attributes:
        change: which file, and what became of it.
        content: the whole text afterwards.
    """

    change: FileChange
    content: str


@dataclass(kw_only=True)
class TodosWritten(CustomEvent, name="todos_written"):
    """The steps of a long task, all of them, whenever one changes. Shown, never stored."""

    todos: list[Todo]
