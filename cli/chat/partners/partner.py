"""What a conversation in the terminal needs of who takes its turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from agent.turn.record import TurnRecord
    from agent.turn.request import TurnRequest
    from agent.turn.result import TurnResult
    from flows.catalogue import Catalogue
    from flows.document import Flow
    from runtime.files.store import Written
    from tools.approvals import Approval

Shown: TypeAlias = Literal["words", "json", "nothing"]
"""How a turn is shown while it is taken."""


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """A flow for the canvas.

    Attributes:
        canvas: the flow; None for none.
        components: the sources of its own components.
        flow_id: the id under which a server stores it; None where it is the conversation's own.
        path: the file that it is from.
    """

    canvas: Flow | None
    components: tuple[str, ...] = ()
    flow_id: str | None = None
    path: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How a conversation stands.

    Attributes:
        title: what it is called.
        turns: how many turns it has had.
        last: the last message and its answer; None without one.
        approvals: what waits for the user's decision.
        proposal: the flow that waits for the user's acceptance.
        proposal_id: its id.
        canvas: the canvas that it keeps.
        flow_id: the stored flow that it is about.
        language: the code of its language.
    """

    title: str = ""
    turns: int = 0
    last: tuple[str, str] | None = None
    approvals: Mapping[str, Approval] = field(default_factory=dict[str, "Approval"])
    proposal: Flow | None = None
    proposal_id: str = ""
    canvas: Flow | None = None
    flow_id: str | None = None
    language: str | None = None

    @property
    def waits(self) -> bool:
        """Whether anything waits for the user's answer."""
        return bool(self.approvals) or self.proposal is not None


class Turn(Protocol):
    """One turn, which is taken once."""

    @property
    def canvas(self) -> Flow:
        """The canvas with every change so far."""
        ...

    @property
    def record(self) -> TurnRecord:
        """What was done so far."""
        ...

    async def take(self, shown: Shown) -> TurnResult | None:
        """Take it, and show it; None when it was stopped elsewhere. Cancelling this stops it.

        Args:
            shown: how it is shown.

        Raises:
            CommandError: it cannot be taken.
        """
        ...


class Partner(Protocol):
    """Takes the turns of conversations, and keeps what belongs to them."""

    @property
    def keeps(self) -> bool:
        """Whether a conversation can be gone on with later."""
        ...

    @property
    def place(self) -> str:
        """The options that lead back here, for a command that goes on."""
        ...

    def turn(self, request: TurnRequest) -> Turn:
        """A turn, which begins when it is taken.

        Args:
            request: asks for it.

        Raises:
            CommandError: the model is unavailable.
        """
        ...

    async def standing(self, session: str) -> Standing:
        """How a conversation stands; one that is not known has had no turns."""
        ...

    async def catalogue(self) -> Catalogue:
        """The component types."""
        ...

    async def load(self, name: str) -> Loaded:
        """A flow to work on.

        Args:
            name: what the user calls it.

        Raises:
            CommandError: there is none, or it cannot be read.
        """
        ...

    async def store(self, flow: Flow, name: str, /) -> Loaded:
        """Store a flow, so that the turns that follow change the stored one.

        Args:
            flow: the flow.
            name: what it is to be called; empty for its own name.

        Raises:
            CommandError: it cannot be stored.
        """
        ...

    async def forget(self, session: str) -> None:
        """Delete a conversation; the components that were created for the user stay."""
        ...

    async def reset(self, session: str, canvas: Flow | None, /) -> None:
        """Delete a conversation, and the components created for the user that no flow uses.

        Args:
            session: the conversation.
            canvas: what is on the canvas, which uses some.
        """
        ...

    async def model(self, name: str | None) -> str:
        """The model that answers, in words.

        Args:
            name: the one that is wanted; None for the default.

        Raises:
            CommandError: it is unavailable.
        """
        ...

    def models(self) -> Sequence[str]:
        """The models that can be chosen. May block."""
        ...

    def files(self) -> Sequence[str]:
        """The paths of the user's files. May block."""
        ...

    def add_file(self, path: str) -> Written:
        """Add a file of this machine to the user's. May block.

        Args:
            path: the file.

        Raises:
            CommandError: it cannot be added.
        """
        ...
