"""What a writer of events does with a store that fails."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from typing import cast

import pytest

from runtime.database.errors import StoreUnavailable
from server.store.turns import NewEvents, TurnStore
from server.streams import event_writer
from server.streams.event_log import EventLog
from server.streams.event_writer import ATTEMPTS, EventWriter

pytestmark = pytest.mark.anyio


class FailingStore:
    """A store that fails for some time."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.stored: list[bytes] = []

    async def append(self, added: Sequence[NewEvents], *, again: bool = False) -> Collection[NewEvents]:
        """Store, or fail."""
        del again
        if self.left:
            self.left -= 1
            raise StoreUnavailable("It is started again.", "Wait.")
        self.stored += [line for one in added for line in one.lines]
        return ()


END = b'{"event":"complete"}'


def written(store: FailingStore, attempt: int | None) -> tuple[EventWriter, EventLog]:
    """A writer, and a turn that has written its last event."""

    async def opened() -> TurnStore:
        return cast("TurnStore", store)

    async def ended(log: EventLog) -> None:
        log.settle()

    writer = EventWriter(opened, ended)
    log = EventLog("ada", "t", "s", writer.wake, is_urgent=True, attempt=attempt)
    log.write(END, "complete")
    return writer, log


@pytest.mark.parametrize("attempt", [None, 1])
async def test_a_store_that_comes_back_while_the_server_stops_gets_what_is_left(
    attempt: int | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(event_writer, "RETRY_SECONDS", 0.01)
    store = FailingStore(7)
    writer, log = written(store, attempt)
    async with asyncio.timeout(60):
        await writer.aclose()
    assert (store.stored, store.left, log.is_left) == ([END], 0, False)
    assert "turns.events.lost" not in caplog.text


@pytest.mark.parametrize(("attempt", "is_lost"), [(None, True), (1, False)])
async def test_what_a_store_that_stays_away_has_not_taken_is_named_when_the_server_stops(
    attempt: int | None, is_lost: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """With a durable turn another process goes on, so that nothing of it is lost."""
    monkeypatch.setattr(event_writer, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(event_writer, "CLOSE_SECONDS", 0.1)
    store = FailingStore(1_000_000)
    writer, log = written(store, attempt)
    with caplog.at_level(logging.ERROR):
        async with asyncio.timeout(60):
            await writer.aclose()
            await log.settled()
    assert store.stored == []
    assert store.left < 1_000_000 - 1, "it is tried more than once"
    assert log.is_left is not is_lost
    assert ("turns.events.lost turn=t first=1 last=1" in caplog.text) is is_lost


@pytest.mark.parametrize(("attempt", "stored"), [(None, False), (1, True)])
async def test_the_end_of_a_durable_turn_is_stored_however_long_the_store_fails(
    attempt: int | None, stored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process is there, so that no other one would end it; another turn is ended at the next start."""
    monkeypatch.setattr(event_writer, "RETRY_SECONDS", 0.0)
    store = FailingStore(2 * ATTEMPTS)

    writer, log = written(store, attempt)
    async with asyncio.timeout(60):
        await log.settled()
    assert (store.stored == [END]) is stored
    await writer.aclose()
