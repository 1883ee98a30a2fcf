"""What a user's flows held when an MCP client began to work on them: all that it must not change without being asked.

A client that edits a flow step by step is like one turn of the assistant: what it added itself, it may change again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from weakref import WeakValueDictionary

from flows.document import Flow
from runtime.database.database import Database
from server.store.flows import FlowStore, RevisionNotKept, StoredFlow

SECONDS: Final = 3_600.0
"""How long a client may do nothing before all of a flow counts as the user's."""


@dataclass(frozen=True)
class Base:
    """What of a flow is the user's.

    Attributes:
        flow: the flow as the user had it; None when a client has made it.
        version: the version of that; None when a client has made it.
    """

    flow: Flow | None
    version: int | None


class Baselines:
    """The flows that clients work on, as they were before: versions of them, known to every server of the database.

    Nothing is lost by forgetting one: the client is then asked about more. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
        clock: the time in seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def of(self, owner: str, client: str, stored: StoredFlow, store: FlowStore) -> Base:
        """What of a flow is the user's: all of it, unless the last version is this client's own.

        Args:
            owner: the user.
            client: the client.
            stored: the flow as it is stored.
            store: has its earlier versions.
        """
        from server.mcp.consent.rows import BaselineRows

        entry = stored.entry
        kept = await BaselineRows(self._database, owner).find(client, entry.id)
        if kept is None or kept.version != entry.version or kept.until <= self._clock():
            return Base(stored.flow, entry.version)
        if kept.before is None:
            return Base(None, None)
        try:
            return Base((await store.at_version(entry.id, kept.before))[1], kept.before)
        except RevisionNotKept:  # too many changes ago: what is left of them is the user's
            first = (await store.revisions(entry.id))[-1].version
            return Base((await store.at_version(entry.id, first))[1], first)

    async def note(self, owner: str, client: str, flow_id: str, before: int | None, version: int) -> None:
        """Note that a client has stored a version of a flow.

        Args:
            owner: the user.
            client: the client.
            flow_id: the flow.
            before: the version of it that is the user's; None when the client has made it.
            version: the version that was stored.
        """
        from server.mcp.consent.rows import BaselineRows, StoredBaseline

        now = self._clock()
        noted = StoredBaseline(before, version, int(now + SECONDS))
        await BaselineRows(self._database, owner).put(client, flow_id, noted, now=int(now))

    async def forget(self, owner: str, client: str, flow_id: str) -> None:
        """Take all of a flow for the user's."""
        from server.mcp.consent.rows import BaselineRows

        await BaselineRows(self._database, owner).remove(client, flow_id)

    def lock(self, client: str, flow_id: str) -> asyncio.Lock:
        """Held while a client changes a flow, so that its calls do not overtake each other in this process."""
        key = (client, flow_id)
        found = self._locks.get(key)
        if found is None:
            found = self._locks[key] = asyncio.Lock()
        return found
