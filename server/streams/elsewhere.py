"""What servers that share a database tell each other of their turns: that they are there, and what is to be stopped."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import socket
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Final
from uuid import uuid4

from runtime.database.backends.outage import Outage
from runtime.files.lock import FileLock
from server.store.turns import BEAT_SECONDS, RUNNING, StoredTurn, TurnStore
from server.streams.event_writer import UNAVAILABLE

LISTEN_SECONDS: Final = 0.3
"""How often a server looks whether it is to stop a turn, while it takes some."""

SERVERS: Final = 64
"""How many servers of one machine with one data folder have names that stay."""

STOP_SECONDS: Final = 5.0
"""How long another server may take to stop a turn."""

log = logging.getLogger(__name__)


class ServerName:
    """The name under which a server takes turns: that of no other one, and the same again after a restart.

    Servers with one data folder on one machine have numbers; that of a server is free again when its process has ended.

    Args:
        data: the data folder.
    """

    def __init__(self, data: Path) -> None:
        self._data = data
        self._lock: FileLock | None = None

    def take(self) -> str:
        """The name, until `release`. It blocks for a moment."""
        machine = hashlib.sha256(f"{socket.gethostname()} {self._data}".encode()).hexdigest()[:16]
        for number in range(SERVERS):
            lock = FileLock(self._data / f"server-{machine}-{number}.lock")
            try:
                if lock.try_acquire():
                    self._lock = lock
                    return f"{machine}-{number}"
            except OSError:
                log.warning("turns.server_not_named: the data folder cannot be written", exc_info=True)
                break
        return f"{machine}-{uuid4().hex}"

    def release(self) -> None:
        """Leave the name to the next server."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None


class Heartbeat:
    """Says that this server is there while it takes turns, and stops those that other servers ask it to stop.

    Args:
        store: opens the store.
        is_needed: whether any turn goes on.
        stop: stops a turn of an owner.
        listens: whether other servers may share the database.
    """

    def __init__(
        self,
        store: Callable[[], Awaitable[TurnStore]],
        is_needed: Callable[[], bool],
        stop: Callable[[str, str], None],
        *,
        listens: bool,
    ) -> None:
        self._store = store
        self._is_needed = is_needed
        self._stop = stop
        self._pause = LISTEN_SECONDS if listens else BEAT_SECONDS
        self._listens = listens
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, unless it goes on already; it ends when it is not needed any more."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._beat(), name="turns-heartbeat")

    def stop(self) -> None:
        """End it."""
        if self._task is not None:
            self._task.cancel()

    async def _beat(self) -> None:
        outage = Outage(log, "turns.heartbeat_failed")
        while True:
            await asyncio.sleep(self._pause)
            if not self._is_needed():
                return
            try:
                store = await self._store()
                await store.beat()
                asked: Iterable[tuple[str, str]] = await store.asked_to_stop() if self._listens else ()
            except UNAVAILABLE as failure:
                outage.goes_on(failure)
                continue
            outage.is_over()
            for owner, turn in asked:
                self._stop(owner, turn)


async def stop_elsewhere(store: TurnStore, owner: str, turn: str) -> StoredTurn | None:
    """Ask the server that takes a turn to stop it, and wait until it has ended.

    Args:
        store: where the turn is stored.
        owner: whose it is.
        turn: its id.

    Returns:
        The turn as it ended; None when its server did not stop it in time.
    """
    await store.ask_to_stop(owner, turn)
    for _ in range(round(STOP_SECONDS / LISTEN_SECONDS)):
        await asyncio.sleep(LISTEN_SECONDS)
        found = await store.find(owner, turn)
        if found is not None and found.is_lost:
            await store.end_lost()
        elif found is None or found.state != RUNNING:
            return found
    return None
