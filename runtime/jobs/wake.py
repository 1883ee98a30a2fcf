"""Says at once to workers that something waits, so that they need not look often."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from sqlalchemy import make_url, text

from runtime.database.backends.asynchronous import AsyncConnection

log = logging.getLogger(__name__)

CHANNEL: Final = "wirewright_jobs_"
"""What the name of the channel begins with; the schema follows."""

AGAIN_SECONDS: Final = 1.0
"""How long a listener waits before it connects again."""

_NOTIFY: Final = text(f"SELECT pg_notify('{CHANNEL}' || current_schema(), :what)")


async def notify(connection: AsyncConnection, what: str) -> None:
    """Wake every worker when the transaction is committed; on SQLite there is only the one that does it itself."""
    if connection.dialect.name == "postgresql":
        await connection.execute(_NOTIFY, {"what": what})


class Listener:
    """Hears what `notify` says, on a connection of its own to Postgres.

    Where there is none, as behind a pooler that lends connections for a transaction, the worker looks more often.

    Args:
        url: the database, as an SQLAlchemy URL.
        heard: called for each notice.
    """

    def __init__(self, url: str, heard: Callable[[], None]) -> None:
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
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL + schema)))
            self.is_listening = True
            self._heard()  # what was said before is not said again
            async for _ in connection.notifies():
                self._heard()
