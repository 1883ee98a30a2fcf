"""Jobs that are turns: a worker takes those that wait, and their clients follow what it stores."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from agent.contract.endings import failed
from agent.errors import ModelChoiceError
from agent.turn.record import TurnRecord
from runtime.database.errors import StoreUnavailable
from runtime.jobs.job import Claim, Outcome
from runtime.jobs.worker import STOP_ASKED
from server.durable.queued import TurnGiven
from server.durable.turns import DurableTurns
from server.json_response import json_bytes
from server.state import ServerState
from server.store.turns import RUNNING, NewEvents
from server.streams.running import RunningTurn
from server.turns import AssistTurn

LOOK_SECONDS: Final = 0.1
"""How often it is looked whether an earlier turn of the conversation has ended."""

WAITING_SECONDS: Final = 3.0
"""How long it waits for an earlier one that nobody has taken: all places may have later ones of the conversation."""

ELSEWHERE_SECONDS: Final = 0.5
"""How often it is looked whether a turn has ended that another process has taken."""

STOP_SECONDS: Final = 5.0
"""How long a turn may take to end that is stopped."""


@dataclass(frozen=True)
class TurnJobs:
    """Does jobs that are turns.

    A job lasts as long as its turn, so that a worker takes as many turns as it has places. When the worker dies, the
    turn goes on as every durable turn does; whoever is given the job waits for its end.

    Attributes:
        state: what turns need of a server.
        durable: makes them durable.
    """

    state: ServerState
    durable: DurableTurns

    async def turn(self, claim: Claim) -> Outcome:
        """Take a turn, unless another process has; it ends with it."""
        document = TurnGiven.model_validate(claim.given).turn
        owner, turn = claim.owner, document.request.turn_id
        queued, store = await self.state.turns.elsewhere.queued(), await self.state.turns.store()
        running: RunningTurn | None = None
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            while True:
                waiting = loop.time() - begun < WAITING_SECONDS
                await store.beat()
                try:
                    attempt = await queued.take(owner, turn, store.server, waiting=waiting)
                    running = None if attempt is None else await self._begun(claim, attempt)
                except Exception:
                    await self._let_wait(owner, turn)
                    raise
                if running is not None:
                    await asyncio.wait([running.task])
                    await running.log.settled()
                if (found := await store.find(owner, turn)) is None or found.state != RUNNING:
                    break
                if attempt is None:
                    is_later = await queued.comes_later(owner, turn, waiting=waiting)
                    await asyncio.sleep(LOOK_SECONDS if is_later else ELSEWHERE_SECONDS)
        except asyncio.CancelledError as asked:
            if running is not None and asked.args == (STOP_ASKED,):
                running.stop("stopped")
                await asyncio.wait([running.task], timeout=STOP_SECONDS)
            raise
        return Outcome(result={"turn": turn, "state": "" if found is None else found.state})

    async def _let_wait(self, owner: str, turn: str) -> None:
        """Let a turn wait again that could not be begun, so that whoever is given its job begins it."""
        while self.state.turns.get(owner, turn) is None:
            try:
                queued, store = await self.state.turns.elsewhere.queued(), await self.state.turns.store()
                await queued.return_unbegun(owner, turn, store.server)
            except StoreUnavailable:  # which may be why it was not begun
                await asyncio.sleep(ELSEWHERE_SECONDS)
            else:
                return

    async def _begun(self, claim: Claim, attempt: int) -> RunningTurn | None:
        """A turn that goes on here; None for one whose model is not available any more, which has ended."""
        document = TurnGiven.model_validate(claim.given).turn
        owner, turn = claim.owner, document.request.turn_id
        slot = self.state.turn_slots.take_beyond(owner)
        try:
            parts = await self.durable.parts(document, slot)
        except ModelChoiceError as refused:
            slot.release()
            event = failed(refused.error, document.request.session, TurnRecord(), None)
            said = NewEvents(owner, turn, "", False, 1, [json_bytes(event)], event.event, attempt)  # noqa: FBT003  (its order)
            await (await self.state.turns.store()).append([said])
            return None
        except BaseException:
            slot.release()
            raise
        taken = await self.durable.recorded(AssistTurn.of_parts(parts), parts)
        return self.state.turns.take(owner, turn, taken, attempt)
