"""The early end of a durable turn that no process can resume: what was done is kept, and its user is notified."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from agent.contract.endings import cancelled, failed
from agent.contract.events import Event, RewoundEvent, StopReason, Stored
from agent.errors import AssistantUnavailable
from agent.turn.record import TurnRecord
from agent.turn.result import TurnError
from agent.turn.state import Turn
from agent.turn.stream import Send
from flows.document import Flow
from flows.json_values import JsonObject, as_object
from server.access.caller import flow_store
from server.durable.document import TurnDocument
from server.json_response import json_bytes
from server.state import ServerState
from server.store.flows import FlowEntry, FlowNotStored, StoredFlow
from server.store.turns import NewEvents, TakenOver
from server.stored_canvas import StoredCanvas


@dataclass(frozen=True)
class Why:
    """Why a turn ends early.

    Attributes:
        error: the error that its user sees; of a turn that was stopped, the message alone.
        reason: why it was stopped; None for one that failed.
    """

    error: TurnError
    reason: StopReason | None = None


POISON: Final = Why(
    TurnError(
        code="turn_given_up",
        message="The server ended three times at the same step of this turn, so the turn was given up.",
        fix="What was done before is kept. Ask for less at a time, or in other words.",
    )
)
OLD: Final = Why(
    TurnError(
        code="upgraded",
        message="The server was upgraded during this turn and cannot go on with it; what was done before is kept.",
    ),
    "interrupted",
)
LOST: Final = Why(
    TurnError(code="interrupted", message="The server ended during this turn; what was done before is kept."),
    "interrupted",
)
STOPPED: Final = Why(TurnError(code="stopped", message="The turn was cancelled."), "stopped")
UNKNOWN: Final = Why(
    TurnError(code="interrupted", message="The server ended before this turn was begun. Send the message again."),
    "interrupted",
)


class EarlyEnding:
    """Ends one turn.

    Args:
        state: what the routes share.
        document: what it was begun with, if that is known.
        taken: how this process took it.
        why: why it ends.
    """

    def __init__(self, state: ServerState, document: TurnDocument | None, taken: TakenOver, why: Why) -> None:
        self._state = state
        self._document = document
        self._taken = taken
        self._why = why

    async def end(self, steps: Sequence[JsonObject]) -> None:
        """End it with the results of its steps.

        Args:
            steps: what was recorded of each.
        """
        document = self._document
        assert document is not None  # noqa: S101  (known; narrows the type)
        at, canvas = _last(steps, document)
        stored = await self._saved(document, canvas)
        with suppress(AssistantUnavailable):  # the turn ends all the same
            await self._remember(document, canvas)
        request = document.request
        rewound = RewoundEvent(to=at, flow=canvas)
        await self._tell(request.user, request.turn_id, [rewound, self._ending(request.session, stored)])

    async def end_alone(self, owner: str, turn: str) -> None:
        """End a turn that has done nothing yet."""
        await self._tell(owner, turn, [self._ending(None, None)])

    def _ending(self, session: str | None, stored: Stored | None) -> Event:
        error = self._why.error
        if self._why.reason is None:
            return failed(error, session, TurnRecord(), stored)
        return cancelled(TurnRecord(), error.message, stored, self._why.reason)

    async def _saved(self, document: TurnDocument, canvas: Flow) -> Stored | None:
        """What became of the stored flow."""
        request = document.request
        if document.stored is None or request.flow is None:
            return None
        loaded = StoredFlow(entry=FlowEntry(**document.stored), flow=request.flow)
        store = await flow_store(self._state, request.user)
        with suppress(FlowNotStored):
            if any(one.turn == request.turn_id for one in await store.revisions(loaded.entry.id)):
                return None
        limit = self._state.settings.nodes_limit
        return await StoredCanvas(loaded, store, request.session, request.turn_id, limit).save(canvas)

    async def _remember(self, document: TurnDocument, canvas: Flow) -> None:
        """Let the conversation know that the turn was stopped."""
        assistant, request = self._state.assistant, document.turn_request
        known = await assistant.memory.transcripts.message(request.user, request.session, request.turn_id)
        if known is not None:
            return
        turn = Turn(assistant, request, await assistant.choose(document.model, request.user))
        turn.begin(_unheard)
        await turn.conversation.look(turn.before)
        turn.before = canvas
        await turn.save(turn.result("cancelled"))

    async def _tell(self, owner: str, turn: str, events: Sequence[Event]) -> None:
        first = self._taken.sent + 1
        lines = [json_bytes(event) for event in events]
        said = NewEvents(owner, turn, "", False, first, lines, events[-1].event, self._taken.attempt)  # noqa: FBT003  (its order)
        await (await self._state.turns.store()).append([said])


async def _unheard(event: object) -> None:
    """Nobody follows."""


_: Send = _unheard


def _last(steps: Sequence[JsonObject], document: TurnDocument) -> tuple[int, Flow]:
    """The number of the last event that was sent, and the canvas, as of the last step."""
    at, flow = 0, document.flow
    for step in steps:
        told = as_object(step.get("told")).get("at")
        at = told if isinstance(told, int) else at
        flow = as_object(as_object(as_object(step.get("value")).get("bench")).get("flow")) or flow
    return at, Flow.from_json(flow)
