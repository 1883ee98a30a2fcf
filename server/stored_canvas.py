"""The stored flow that a turn works on: read when the turn begins, saved as one revision when it ends."""

from __future__ import annotations

import logging

import anyio

from agent.assistant import Assistant
from agent.contract.events import Stored
from agent.errors import AssistantUnavailable
from agent.turn.result import TurnError
from flows.describe.actions import summarize
from flows.document import Flow
from flows.merge import combine
from runtime.database.errors import StoreUnavailable
from server.store.flows import Author, FlowNotStored, FlowStore, StoredFlow, VersionConflict

ATTEMPTS = 5
"""How often changes are merged into a flow that others change at the same time."""

log = logging.getLogger(__name__)


class StoredCanvas:
    """A stored flow during one turn.

    Args:
        loaded: the flow as the request found it.
        store: where it is stored.
        session: the conversation of the turn.
        turn: the id of the turn.
        nodes: how many components a stored flow may have; None for any number.

    Attributes:
        merged: the flow as it was stored, when it has changes of others as well.
    """

    def __init__(
        self, loaded: StoredFlow, store: FlowStore, session: str = "", turn: str = "", nodes: int | None = None
    ) -> None:
        self._nodes = nodes
        self._author = Author(kind="assistant", session=session, turn=turn)
        self._loaded = loaded
        self._store = store
        self._facts: Stored | None = None
        self.merged: Flow | None = None

    @property
    def loaded(self) -> StoredFlow:
        """The stored flow as the turn found it."""
        return self._loaded

    @property
    def flow(self) -> Flow:
        """The flow as the turn found it."""
        return self._loaded.flow

    @property
    def flow_id(self) -> str:
        """The stored flow's id."""
        return self._loaded.entry.id

    @property
    def version(self) -> int:
        """The version that the turn found."""
        return self._loaded.entry.version

    async def load(self) -> Flow:
        """Read the flow again, because the turn had to wait.

        Raises:
            AssistantUnavailable: it was removed meanwhile, or cannot be read.
        """
        try:
            self._loaded = await self._store.get(self._loaded.entry.id)
        except FlowNotStored:
            error = TurnError(
                code="flow_not_found",
                message="The stored flow was removed while the message waited.",
                fix="Name another flow.",
            )
            raise AssistantUnavailable(error) from None
        except StoreUnavailable as failure:
            raise AssistantUnavailable(
                TurnError(code="store_unavailable", message=failure.message, fix=failure.fix)
            ) from failure
        return self._loaded.flow

    async def save(self, canvas: Flow) -> Stored:
        """Save the turn's canvas as one revision, once, even while the turn is being cancelled.

        Changes that others made meanwhile are kept; where both changed the same place differently, theirs stays and
        the clash is named.
        """
        if self._facts is not None:
            return self._facts
        facts = Stored(flow_id=self._loaded.entry.id, saved=False, version=self._loaded.entry.version)
        with anyio.CancelScope(shield=True):
            facts = self._facts = await self._save(canvas)
        return facts

    async def _save(self, canvas: Flow) -> Stored:
        entry = self._loaded.entry
        stored = Stored(flow_id=entry.id, saved=True, version=entry.version)
        if canvas == self._loaded.flow:
            return stored
        if self._nodes is not None and len(canvas.nodes) > max(self._nodes, len(self._loaded.flow.nodes)):
            reason = f"The flow has more than {self._nodes:,} components, which is the limit."
            return stored.model_copy(update={"saved": False, "save_error": reason})
        try:
            return await self._replace(canvas, stored)
        except VersionConflict as conflict:
            reason = "The stored flow is being changed by others all the time; nothing was overwritten."
            return stored.model_copy(update={"saved": False, "version": conflict.current, "save_error": reason})
        except FlowNotStored:
            reason = "The stored flow was removed meanwhile."
            return stored.model_copy(update={"saved": False, "version": None, "save_error": reason})
        except StoreUnavailable:
            log.exception("assist.turn.not_saved")
            reason = "The flow store could not be written."
            return stored.model_copy(update={"saved": False, "save_error": reason})

    async def _replace(self, canvas: Flow, stored: Stored) -> Stored:
        """Store the canvas, merged with what others have stored meanwhile.

        Raises:
            VersionConflict: others were faster every time.
        """
        base, flow_id = self._loaded.flow, self._loaded.entry.id
        version, wanted, clashes = self._loaded.entry.version, canvas, list[str]()
        for attempt in range(ATTEMPTS):
            try:
                entry = await self._store.replace(flow_id, wanted, version, self._author)
            except VersionConflict:
                if attempt == ATTEMPTS - 1:
                    raise
                theirs = await self._store.get(flow_id)
                combined = combine(base, canvas, theirs.flow)
                version, wanted = theirs.entry.version, combined.flow
                clashes = [summarize(action).subject for action in combined.clashes]
                if wanted == theirs.flow and clashes:
                    return self._clashed(stored, theirs, clashes)
                continue
            self.merged = wanted if wanted is not canvas else None
            facts = {"version": entry.version, "merged": self.merged is not None or None, "clashes": clashes or None}
            return stored.model_copy(update=facts)
        raise AssertionError("every attempt returns or raises")

    def _clashed(self, stored: Stored, theirs: StoredFlow, clashes: list[str]) -> Stored:
        """The facts when nothing of the turn fits."""
        self.merged = theirs.flow
        reason = f"Someone else has changed the same; their version was kept: {', '.join(clashes)}."
        facts = {"saved": False, "version": theirs.entry.version, "save_error": reason, "clashes": clashes}
        return stored.model_copy(update=facts)


class KeptCanvas:
    """The canvas that a conversation keeps for turns that name no flow.

    Args:
        assistant: has the conversations.
        user: whose conversation it is.
        session: the conversation.
    """

    version = None

    def __init__(self, assistant: Assistant, user: str, session: str) -> None:
        self._assistant, self._user, self._session = assistant, user, session

    async def load(self) -> Flow:
        """The canvas as the last turn left it; an empty one when none is kept."""
        return await self._assistant.kept_canvas(self._user, self._session) or Flow.empty()

    async def save(self, canvas: Flow) -> None:
        """Nothing: the conversation keeps it with the turn."""
