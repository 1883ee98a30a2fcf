"""Connections to Postgres: those that rested are tried before they are used, and reading begins no transaction.

SQLAlchemy's own `pool_pre_ping` asks before each use: a busy process spends a trip to the database on every transaction
for a question that the one a moment ago has answered.
"""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import Any, Final

from sqlalchemy import event
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncEngine

RESTED_SECONDS: Final = 1.0
"""After how long without use a connection is tried before it is used again: its server may be gone.

One that was used later than that fails only where Postgres has ended since, as the transactions do that go on then.
"""

_USED: Final = "used_at"


def try_what_rested(engine: AsyncEngine) -> None:
    """Let connections of an engine be tried that were not used for a while; where one is lost, all are made again.

    Args:
        engine: of Postgres, without `pool_pre_ping`.
    """
    dialect = engine.sync_engine.dialect

    def note(_: object, record: Any) -> None:
        record.info[_USED] = monotonic()

    def check(connection: Any, record: Any, _: object) -> None:
        if monotonic() - record.info.get(_USED, -inf) < RESTED_SECONDS:
            return
        try:
            dialect.do_ping(connection)
        except dialect.loaded_dbapi.Error as lost:
            raise InvalidatePoolError from lost

    event.listen(engine.sync_engine, "connect", note)
    event.listen(engine.sync_engine, "checkin", note)
    event.listen(engine.sync_engine, "checkout", check)


def reading_engine(engine: AsyncEngine) -> AsyncEngine:
    """The engine whose connections read: on Postgres each statement is alone, without a trip to begin and to end.

    A transaction would promise nothing more: at `READ COMMITTED` each of its statements sees what is stored by then.

    Args:
        engine: the engine, with which it shares the connections.
    """
    if engine.dialect.name != "postgresql":
        return engine
    return engine.execution_options(isolation_level="AUTOCOMMIT")
