"""Says at once to other processes that something waits or was stored, so that they need not look often."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import AsyncConnection

log = logging.getLogger(__name__)

CHANNEL: Final = "wirewright_jobs_"
"""What the name of the channel of jobs begins with; the schema follows."""

TURNS: Final = "wirewright_turns_"
"""The same for the channel of turns, on which it is said of which turns events were stored."""

AGAIN_SECONDS: Final = 1.0
"""How long a listener waits before it connects again."""

_NOTIFY: Final = text("SELECT pg_notify(:channel || current_schema(), :what)")


async def notify(connection: AsyncConnection, what: str, channel: str = CHANNEL) -> None:
    """Wake all that listen when the transaction is committed; on SQLite there is only the one that does it itself.

    Args:
        connection: is in a transaction.
        what: what is said, at most 7,900 bytes.
        channel: what the name of the channel begins with.
    """
    if connection.dialect.name == "postgresql":
        await connection.execute(_NOTIFY, {"channel": channel, "what": what})


class Listener:
    """Hears what `notify` says, on a connection of its own to Postgres.

    Where there is none, as behind a pooler that lends connections for a transaction, who listens looks more often.

    Args:
        url: the database, as an SQLAlchemy URL.
        heard: called with what each notice says; with an empty text when notices may have been missed.
        channel: what the name of the channel begins with.
    """

    def __init__(self, url: str, heard: Callable[[str], None], channel: str = CHANNEL) -> None:
        self._channel = channel
        self._address = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        self._heard = heard
        self.is_listening = False

    async def run(self) -> None:
        """Listen until it is cancelled; a connection that is lost is made again."""
        import psycopg

        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError) as failure:
                log.info("jobs.not_listening: %s", type(failure).__name__)
            finally:
                self.is_listening = False
            await asyncio.sleep(AGAIN_SECONDS)

    async def _listen(self) -> None:
        import psycopg
        from psycopg import sql

        async with await psycopg.AsyncConnection.connect(self._address, autocommit=True) as connection:
            found = await (await connection.execute("SELECT current_schema()")).fetchone()
            schema = "" if found is None else str(found[0])
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._channel + schema)))
            self.is_listening = True
            self._heard("")  # what was said before is not said again
            async for notice in connection.notifies():
                self._heard(notice.payload)
