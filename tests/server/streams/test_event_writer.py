"""What a writer of events does with a store that fails."""

import asyncio
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


@pytest.mark.parametrize(("attempt", "stored"), [(None, False), (1, True)])
async def test_the_end_of_a_durable_turn_is_stored_however_long_the_store_fails(
    attempt: int | None, stored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process is there, so that no other one would end it; another turn is ended at the next start."""
    monkeypatch.setattr(event_writer, "RETRY_SECONDS", 0.0)
    store = FailingStore(2 * ATTEMPTS)

    async def opened() -> TurnStore:
        return cast("TurnStore", store)

    async def ended(log: EventLog) -> None:
        log.settle()

    writer = EventWriter(opened, ended)
    log = EventLog("ada", "t", "s", writer.wake, is_urgent=True, attempt=attempt)
    log.write(b'{"event":"complete"}', "complete")
    async with asyncio.timeout(60):
        await log.settled()
    assert (store.stored == [b'{"event":"complete"}']) is stored
    await writer.aclose()
