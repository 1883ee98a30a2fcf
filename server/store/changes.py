"""Tells who watches that stored flows have changed: at once in this process, within a second in others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final, TypeAlias

from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable

Watch: TypeAlias = Callable[[str, bool], None]
"""Called with the id of a flow, and whether the list of flows has changed too; must not raise or wait."""

LOOK_SECONDS: Final = 1.0
"""How often the database is asked what other processes have stored, while somebody watches."""

log = logging.getLogger(__name__)


class FlowChanges:
    """Who watches the flows of which user.

    Args:
        database: where the flows are; other processes store there as well. None knows of this process alone.
    """

    def __init__(self, database: Database | None = None) -> None:
        self._database = database
        self._watching: dict[str, dict[object, Watch]] = {}
        self._known: dict[str, dict[str, int]] = {}
        self._told = 0
        self._looking: asyncio.Task[None] | None = None

    async def prepare(self, user: str) -> None:
        """Learn how a user's flows stand, so that a watch that begins now misses nothing.

        Raises:
            StoreUnavailable: the database cannot be read.
        """
        if self._database is not None and user not in self._known:
            from server.store.versions import flow_versions

            self._known.update(await flow_versions(self._database, [user]))

    def watch(self, user: str, watch: Watch) -> Callable[[], None]:
        """Call a function whenever one of a user's flows is stored or removed; returns what ends that.

        Args:
            user: the user's id.
            watch: the function.
        """
        token = object()
        self._watching.setdefault(user, {})[token] = watch
        if self._database is not None and (self._looking is None or self._looking.done()):
            self._looking = asyncio.create_task(self._look(self._database), name="flow-changes")

        def end() -> None:
            watching = self._watching.get(user, {})
            watching.pop(token, None)
            if not watching:
                self._watching.pop(user, None)
                self._known.pop(user, None)

        return end

    def tell(self, user: str, flow_id: str, version: int | None, *, listed: bool) -> None:
        """Tell those who watch.

        Args:
            user: whose flow it is.
            flow_id: the flow.
            version: its version now; None when it was removed.
            listed: whether a list of flows, which has their names and versions, is different now.
        """
        self._told += 1
        if (known := self._known.get(user)) is not None:
            if version is None:
                known.pop(flow_id, None)
            else:
                known[flow_id] = version
        for watch in list(self._watching.get(user, {}).values()):
            watch(flow_id, listed)

    async def aclose(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])

    async def _look(self, database: Database) -> None:
        """Look for what other processes have stored, until nobody watches."""
        from server.store.versions import flow_versions

        while self._watching:
            await asyncio.sleep(LOOK_SECONDS)
            told = self._told
            try:
                found = await flow_versions(database, list(self._watching))
            except StoreUnavailable:
                log.warning("flows.changes.unreadable", exc_info=True)
                continue
            if told == self._told:  # otherwise what was read may be older than what was told
                self._compare(found)

    def _compare(self, found: dict[str, dict[str, int]]) -> None:
        for user, now in found.items():
            if user not in self._watching:  # no longer
                continue
            before = self._known.get(user)
            if before is None:
                self._known[user] = now
                continue
            for flow_id in before.keys() | now.keys():
                if before.get(flow_id) != now.get(flow_id):
                    self.tell(user, flow_id, now.get(flow_id), listed=True)
