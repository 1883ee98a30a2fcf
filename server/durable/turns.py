"""The durable turns of one server: those that it begins, and those that it resumes."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.durable.recorded import RecordedSteps
from agent.errors import ModelChoiceError, explain
from agent.turn.result import TurnError
from flows.json_values import JsonObject
from runtime.database.backends.outage import Outage, is_outage
from runtime.database.backends.urls import is_sqlite
from runtime.files.undo import forget, undo_folder
from server.access.caller import flow_store
from server.durable.canvas import RecordedCanvas
from server.durable.document import TurnDocument
from server.durable.ending import LOST, OLD, POISON, STOPPED, UNKNOWN, EarlyEnding, Why
from server.durable.installed import check_installed
from server.durable.journal import StepJournal
from server.durable.packing import packed_soon, unpacked, written
from server.durable.parts import ServedTurn, TurnParts
from server.durable.recorded_turn import RecordedTurn
from server.limits.slots import Slot
from server.state import ServerState
from server.store.flows import FlowEntry, StoredFlow
from server.store.turns import DURABLE_LEASE_SECONDS, RUNNING, Lines, NewEvents, TakenOver
from server.stored_canvas import KeptCanvas

if TYPE_CHECKING:
    from runtime.durable.engine import DurableEngine
    from server.durable.history import History
    from server.store.step_rows import SqlSteps

TRIES: Final = 3
"""How often a step of a turn is begun before the turn is given up."""

LOOK_SECONDS: Final = 1.0
"""How often a server looks for turns of servers that are gone."""

ORDER_SECONDS: Final = 0.1
"""How often it is looked whether the turn before one of the same conversation has ended."""

KEPT: Final = timedelta(days=1)
"""How long what is recorded of a turn is kept after it was begun, if it has ended."""

REMOVE_SECONDS: Final = 600.0
"""How often what is older is deleted."""

log = logging.getLogger(__name__)


class DurableTurns:
    """Durable turns of one server.

    Args:
        state: what the routes share.
        engine: records them.
        serve: makes a turn of its parts, to be served to clients.
    """

    def __init__(self, state: ServerState, engine: DurableEngine, serve: Callable[[TurnParts], ServedTurn]) -> None:
        self._state = state
        self._serve = serve
        self._engine = engine
        self._new: dict[tuple[str, str], RecordedTurn] = {}
        self._looking: asyncio.Task[None] | None = None
        self._removed = 0.0
        self._given: dict[tuple[str, str], float] = {}

    async def open(self) -> None:
        """Resume the turns of this server's earlier processes, and those of servers that are gone."""
        from server.durable.workflow import serve_with

        serve_with(self)
        await self._engine.launch()
        self._looking = asyncio.create_task(self._look(), name="durable-turns")

    async def aclose(self) -> None:
        """Leave the running turns to other servers."""
        if self._looking is not None:
            self._looking.cancel()
        await self._engine.aclose()

    async def parts(self, document: TurnDocument, slot: Slot) -> TurnParts:
        """What a turn is made of whose steps are recorded.

        Args:
            document: what it is begun with.
            slot: its place among the turns that go on.

        Raises:
            ModelChoiceError: the model is unavailable.
        """
        request, assistant = document.turn_request, self._state.assistant
        owner = request.user
        choice = await assistant.choose(document.model, owner)
        undo = await asyncio.to_thread(turn_folder, self._state.settings.data, owner, request.turn_id)
        journal = StepJournal(owner, request.turn_id, assistant.database.documents, undo)
        steps = RecordedSteps(journal, partial(_explained, choice.provider, choice.names))
        stored, kept = None, None
        if document.stored is not None and request.flow is not None:
            entry = FlowEntry(**document.stored)
            store, limit = await flow_store(self._state, owner), self._state.settings.nodes_limit
            loaded = StoredFlow(entry=entry, flow=request.flow)
            stored = RecordedCanvas(loaded, store, request.session, limit, journal, steps)
        elif request.keep_canvas:
            kept = KeptCanvas(assistant, owner, request.session)
        stream = assistant.turn(request, stored or kept, choice, steps)
        return TurnParts(document, stream, stored, journal, slot)

    async def recorded(self, turn: ServedTurn, parts: TurnParts) -> RecordedTurn:
        """A new turn, as `RunningTurns` takes it."""
        from server.durable.workflow import start

        journal = parts.journal
        text = written(parts.document.model_dump(mode="json", exclude_none=True))
        sealed = await packed_soon(text, self._documents)
        key = journal.owner, journal.turn

        async def begin() -> None:
            self._new[key] = made
            await start(*key, sealed)

        made = RecordedTurn(turn, journal, begin, partial(self._note_stop, *key), await self._steps())
        return made

    async def take(self, owner: str, turn: str, protocol: str, document: str) -> None:
        """Run a turn in its workflow: a new one, or one that another process has begun."""
        new = self._new.pop((owner, turn), None)
        if new is not None:
            await new.hold()
            return
        from server.durable.workflow import PROTOCOL

        count = len((await self._history(owner, turn)).steps)
        taken = await (await self._state.turns.store()).take_over(owner, turn, count)
        if taken is None:
            return
        before = await self._history(owner, turn)  # to which the process before adds nothing any more
        found = TurnDocument.model_validate(await asyncio.to_thread(unpacked, document, self._documents))
        is_over = taken.stop_asked or before.was_cut
        why = STOPPED if is_over else POISON if taken.tries > TRIES else OLD if protocol != PROTOCOL else None
        if why is None:
            try:
                await self._go_on(found, before.steps, taken)
            except ModelChoiceError as refused:
                why = Why(refused.error)
        if why is not None:
            await self._end(found, before.steps, taken, why)

    async def _go_on(self, document: TurnDocument, steps: Sequence[JsonObject], taken: TakenOver) -> None:
        owner, turn_id = document.request.user, document.request.turn_id
        await self._until_first(owner, turn_id)
        parts = await self.parts(document, self._state.turn_slots.take_beyond(owner))
        parts.journal.go_on(steps, taken.last, partial(self._store_lost, owner, turn_id, taken.attempt))
        await parts.journal.undo_half_done()
        stop = partial(self._note_stop, owner, turn_id)
        recorded = RecordedTurn(self._serve(parts), parts.journal, None, stop, await self._steps())
        log.warning("turns.durable.goes_on turn=%s attempt=%d steps=%d", turn_id, taken.attempt, len(steps))
        await self._state.turns.go_on(owner, turn_id, recorded, taken).task

    async def _until_first(self, owner: str, turn: str) -> None:
        """Wait until the earlier turns of the conversation have ended that were lost with this one."""
        store, queued = await self._state.turns.store(), await self._state.turns.elsewhere.queued()
        while await queued.comes_later(owner, turn, waiting=False):
            await store.beat()
            await asyncio.sleep(ORDER_SECONDS)

    async def _store_lost(self, owner: str, turn: str, attempt: int, lines: Lines) -> None:
        """Store events that an earlier process has sent and not stored."""
        added = [  # few, with gaps where processes followed each other
            NewEvents(
                owner, turn, session="", is_new=False, first=number, lines=(line,), state=RUNNING, attempt=attempt
            )
            for number, line in lines
        ]
        await (await self._state.turns.store()).append(added)

    async def _steps(self) -> SqlSteps:
        """Where steps are recorded."""
        await self._state.turns.store()
        from server.store.step_rows import SqlSteps

        return SqlSteps(self._state.assistant.database)

    async def _history(self, owner: str, turn: str, *, by_dbos: bool = False) -> History:
        from server.durable.history import history_of

        return await history_of(await self._steps(), self._documents, owner, turn, by_dbos=by_dbos)

    async def _end(self, document: TurnDocument, steps: Sequence[JsonObject], taken: TakenOver, why: Why) -> None:
        await EarlyEnding(self._state, document, taken, why).end(steps)
        request = document.request
        data = self._state.settings.data
        await asyncio.to_thread(lambda: forget(turn_folder(data, request.user, request.turn_id)))

    @property
    def _documents(self):
        return self._state.assistant.database.documents

    async def _note_stop(self, owner: str, turn: str) -> None:
        await (await self._state.turns.store()).ask_to_stop(owner, turn)

    async def _look(self) -> None:
        """Find turns of servers that are gone, and delete what is too old."""
        mine, outage = True, Outage(log, "turns.durable.not_looked")
        alone = is_sqlite(self._state.assistant.database.url)
        while True:
            pause = REMOVE_SECONDS if alone else LOOK_SECONDS
            try:
                await self.look(mine=mine)
                mine = False
                await self._remove_old()
                outage.is_over()
            except Exception as failure:  # whatever is wrong with one turn, the others are looked for again
                pause = LOOK_SECONDS
                if is_outage(failure):
                    outage.goes_on(failure)
                else:
                    log.exception("turns.durable.not_looked")
            await asyncio.sleep(pause)

    async def look(self, *, mine: bool = False) -> None:
        """Resume the turns of servers that are gone.

        Args:
            mine: whether turns that an earlier process of this server had are looked at, too.
        """
        from server.durable.workflow import PROTOCOL, find, give_back, give_up

        store = await self._state.turns.store()
        lost = dict.fromkeys([*await store.lost(mine=mine), *self._not_taken()])
        for owner, turn in lost:
            is_mine = mine or (owner, turn) in self._given
            if self._state.turns.get(owner, turn) is not None or not await store.claim(owner, turn, mine=is_mine):
                self._given.pop((owner, turn), None)  # somebody has taken it, or it has ended
                continue
            self._given[owner, turn] = asyncio.get_running_loop().time()
            found = await find(owner, turn)
            if found is not None and found.is_open and found.protocol == PROTOCOL:
                if found.executor != self._engine.executor:
                    await give_back(owner, turn)
                else:
                    del self._given[owner, turn]
                continue
            steps = () if found is None else (await self._history(owner, turn, by_dbos=True)).steps
            taken = await store.take_over(owner, turn, len(steps))
            del self._given[owner, turn]
            if taken is None:
                continue
            queued = await self._state.turns.elsewhere.queued()
            if found is None and await queued.return_unbegun(owner, turn, store.server):
                continue  # its job is given to another worker
            if found is None or not found.document:
                await EarlyEnding(self._state, None, taken, UNKNOWN).end_alone(owner, turn)
                continue
            document = TurnDocument.model_validate(await asyncio.to_thread(unpacked, found.document, self._documents))
            await give_up(owner, turn)
            await self._end(document, steps, taken, OLD if found.protocol != PROTOCOL else LOST)

    def _not_taken(self) -> list[tuple[str, str]]:
        """Turns that were given back for long, whose next process may have ended before it took them."""
        now = asyncio.get_running_loop().time()
        return [turn for turn, since in self._given.items() if now - since > DURABLE_LEASE_SECONDS]

    async def _remove_old(self) -> None:
        from server.durable.workflow import ended_before, remove

        now = asyncio.get_running_loop().time()
        if self._removed and now - self._removed < REMOVE_SECONDS:
            return
        self._removed = now
        await (await self._state.turns.elsewhere.queued()).end_forgotten()
        await remove(await ended_before((datetime.now(UTC) - KEPT).isoformat()))


def turn_folder(data: Path, owner: str, turn: str) -> Path:
    """Where files are kept as they were before a step of a turn. It may block."""
    name = hashlib.sha256(turn.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return undo_folder(data, owner) / name


async def open_durable(state: ServerState, serve: Callable[[TurnParts], ServedTurn]) -> Callable[[], Awaitable[None]]:
    """Make the turns of a server durable; returns what ends that.

    Args:
        state: what the routes share.
        serve: makes a turn of its parts.

    Raises:
        DurableNotInstalled: the package that records them is missing.
    """
    check_installed()
    from runtime.durable.engine import DurableEngine

    store = await state.turns.store()
    engine = DurableEngine(state.assistant.database.url, store.server)
    state.durable = turns = DurableTurns(state, engine, serve)
    await turns.open()
    return turns.aclose


def _explained(provider: str, names: Sequence[str], failure: Exception) -> TurnError:
    return explain(failure, provider, list(names))
