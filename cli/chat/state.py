"""What a conversation in the terminal works on: its canvas, and what was chosen for it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from cli.output.files import write_flow
from flows.document import Flow


@dataclass
class ChatState:
    """The canvas of one conversation, and what was chosen for it.

    Attributes:
        canvas: the current flow; None before there is any.
        target: the file that the canvas is saved to.
        model: the model that `--model` names.
        components: the sources of the flow's own components.
        flow_id: the id under which a server stores the flow; None where it is the conversation's own.
        approve_all: approve everything without asking.
        as_json: print each event as a line of JSON, and nothing else on standard output.
        session: the conversation's id.
        resumes: whether it was begun before, so that what waits there is asked again.
        attached: the user's files that the next message is about.
        replaced: the canvas before a file was loaded onto it, until the next change.
        own_files: the files that were loaded or saved here, which may be saved again.
        send: sends what has changed of a flow that is kept elsewhere, and returns what is there then.
        left_waiting: whether the input ended at a question, which goes on waiting.
    """

    canvas: Flow | None = None
    target: Path | None = None
    model: str | None = None
    components: tuple[str, ...] = ()
    flow_id: str | None = None
    approve_all: bool = False
    as_json: bool = False
    session: str = field(default_factory=lambda: f"cli-{uuid4().hex}")
    resumes: bool = False
    attached: tuple[str, ...] = ()
    replaced: tuple[Flow | None, tuple[str, ...], str | None] | None = None
    own_files: set[Path] = field(default_factory=set[Path])
    send: Callable[[Flow], Awaitable[Flow]] | None = None
    left_waiting: bool = False

    def place(self, flow: Flow) -> None:
        """Replace the canvas, and save it when there is a file for it.

        Args:
            flow: what is on the canvas from now on.
        """
        if flow.is_empty and self.canvas is None:
            return
        if flow != self.canvas:
            self.replaced = None
        self.canvas = flow
        if self.target is not None:
            write_flow(self.target, flow)
