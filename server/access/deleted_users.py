"""Users who are deleted while something of theirs goes on: what it stores after that is deleted as well.

A user is deleted by a process of its own, which knows nothing of the turns and runs of servers. So a server looks, each
time that something of a user has ended and is stored, whether the user is still there.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from agent.assistant import Assistant
from runtime.database.errors import StoreUnavailable
from runtime.files.folders import LOCAL_USER
from runtime.telemetry import log_event

log = logging.getLogger(__name__)


class DeletedUsers:
    """Deletes what turns and runs of deleted users have stored.

    Args:
        assistant: has taken the turns and made the runs.
        data: the data folder.
    """

    def __init__(self, assistant: Assistant, data: Path) -> None:
        self._assistant = assistant
        self._data = data
        self._users: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def worked_for(self, user: str) -> None:
        """Look soon whether a user of whom something has ended is still there."""
        if user == LOCAL_USER:  # is never deleted
            return
        self._users.add(user)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look(), name="deleted-users")

    async def aclose(self) -> None:
        """Wait until all have been looked for."""
        if self._task is not None:
            await self._task

    async def _look(self) -> None:
        while self._users:
            user = self._users.pop()
            try:
                await self._delete_if_gone(user)
            except (StoreUnavailable, OSError):
                log.exception("users.leftovers_not_deleted")

    async def _delete_if_gone(self, user: str) -> None:
        database = self._assistant.database
        await database.open()
        from runtime.database.users import UserRows

        if await UserRows(database).with_digest(user) is not None:
            return
        from runtime.archive.user_data import delete_user

        await self._assistant.run_log.aclose()  # what waits to be written is
        await self._assistant.usage_log.aclose()
        done = await delete_user(database, self._data, user)
        log_event("assistant.user.leftovers_deleted", user=user, rows=sum(done.rows.values()), files=done.files)
