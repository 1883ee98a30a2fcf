"""SQLAlchemy's engines and connections on the event loop.

SQLAlchemy's own classes for it come with its mapper, which takes 6 MB and part of every start, and maps nothing here.
These have the same names and do the same by the same function: each method is called in a greenlet, which waits in the
loop where its driver does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeAlias, TypeVar, overload

from sqlalchemy import URL, Connection, CursorResult, Dialect, Engine, Executable, RowMapping, ScalarResult
from sqlalchemy import create_engine as synchronous
from sqlalchemy.engine import Transaction
from sqlalchemy.sql.selectable import TypedReturnsRows
from sqlalchemy.util.concurrency import greenlet_spawn
from typing_extensions import TypeVarTuple

P = ParamSpec("P")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

Values: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None
"""The values of one statement, or those of each of several."""


def create_async_engine(url: str | URL, **options: Any) -> AsyncEngine:
    """The engine of a database.

    Args:
        url: names an asynchronous driver.
        options: those of SQLAlchemy's `create_engine`.
    """
    return AsyncEngine(synchronous(url, _is_async=True, **options))


class AsyncConnection:
    """A connection, which is open within `async with`.

    Args:
        engine: its engine.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._open: Connection | None = None

    @property
    def sync_connection(self) -> Connection:
        """SQLAlchemy's own.

        Raises:
            RuntimeError: it is not open.
        """
        if self._open is None:
            raise RuntimeError("The connection is not open: enter it with `async with`.")
        return self._open

    @property
    def dialect(self) -> Dialect:
        """The dialect of its database."""
        return self._engine.dialect

    async def __aenter__(self) -> Self:
        self._open = await greenlet_spawn(self._engine.connect)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await _to_its_end(self.close())

    async def close(self) -> None:
        """Give it back to the pool; what was not committed is not stored."""
        await greenlet_spawn(self.sync_connection.close)

    @overload
    async def execute(self, statement: TypedReturnsRows[*Ts], values: Values = None) -> CursorResult[*Ts]: ...

    @overload
    async def execute(self, statement: Executable, values: Values = None) -> CursorResult[*tuple[Any, ...]]: ...

    async def execute(self, statement: Executable, values: Values = None) -> CursorResult[*tuple[Any, ...]]:
        """Execute a statement; its rows are there then."""
        return await greenlet_spawn(self.sync_connection.execute, statement, values, _require_await=True)

    @overload
    async def scalar(self, statement: TypedReturnsRows[T], values: Values = None) -> T | None: ...

    @overload
    async def scalar(self, statement: Executable, values: Values = None) -> Any: ...

    async def scalar(self, statement: Executable, values: Values = None) -> Any:
        """The first value of the first row of a statement's; None without one."""
        return (await self.execute(statement, values)).scalar()

    @overload
    async def scalars(self, statement: TypedReturnsRows[T], values: Values = None) -> ScalarResult[T]: ...

    @overload
    async def scalars(self, statement: Executable, values: Values = None) -> ScalarResult[Any]: ...

    async def scalars(self, statement: Executable, values: Values = None) -> ScalarResult[Any]:
        """The first value of each row of a statement's."""
        return (await self.execute(statement, values)).scalars()

    async def batches(self, statement: Executable, size: int) -> AsyncGenerator[Sequence[RowMapping]]:
        """The rows of a statement, which are never all in memory.

        Args:
            statement: what is read.
            size: how many rows there are at a time.
        """
        options = {"stream_results": True}
        result = await greenlet_spawn(self.sync_connection.execute, statement, execution_options=options)
        try:
            rows = result.mappings()
            while batch := await greenlet_spawn(rows.fetchmany, size):
                yield batch
        finally:
            await greenlet_spawn(result.close)

    async def exec_driver_sql(
        self, statement: str, values: Any = None, execution_options: Mapping[str, Any] | None = None
    ) -> CursorResult[Any]:
        """Execute SQL as it is written."""
        call = self.sync_connection.exec_driver_sql
        return await greenlet_spawn(call, statement, values, execution_options, _require_await=True)

    async def execution_options(self, **options: Any) -> Self:
        """Set options of the connection, as SQLAlchemy's `Connection.execution_options` does."""
        await greenlet_spawn(self.sync_connection.execution_options, **options)
        return self

    def begin(self) -> AbstractAsyncContextManager[None]:
        """A transaction, which is committed at the end of the block, and not when that fails."""
        return _transaction(self.sync_connection.begin)

    def begin_nested(self) -> AbstractAsyncContextManager[None]:
        """A part of a transaction that may fail alone."""
        return _transaction(self.sync_connection.begin_nested)

    def in_transaction(self) -> bool:
        """Whether a transaction has begun."""
        return self.sync_connection.in_transaction()

    async def commit(self) -> None:
        """Commit what was done since the last time."""
        await greenlet_spawn(self.sync_connection.commit)

    async def rollback(self) -> None:
        """Drop what was done since the last time."""
        await greenlet_spawn(self.sync_connection.rollback)

    async def run_sync(
        self, function: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """Call a function with SQLAlchemy's own connection, which waits in the loop."""
        return await greenlet_spawn(function, self.sync_connection, *args, _require_await=False, **options)


class AsyncEngine:
    """The connections of a database.

    Args:
        engine: SQLAlchemy's own, with an asynchronous driver.

    Attributes:
        sync_engine: it.
    """

    def __init__(self, engine: Engine) -> None:
        self.sync_engine = engine

    @property
    def dialect(self) -> Dialect:
        """The dialect of its database."""
        return self.sync_engine.dialect

    @property
    def url(self) -> URL:
        """The database."""
        return self.sync_engine.url

    def connect(self) -> AsyncConnection:
        """A connection of its pool."""
        return AsyncConnection(self.sync_engine)

    @asynccontextmanager
    async def begin(self) -> AsyncGenerator[AsyncConnection]:
        """A connection in a transaction, which is committed at the end of the block, and not when that fails."""
        async with self.connect() as connection, connection.begin():
            yield connection

    async def dispose(self) -> None:
        """Close every connection of its pool."""
        await greenlet_spawn(self.sync_engine.dispose)


@asynccontextmanager
async def _transaction(begin: Callable[[], Transaction]) -> AsyncGenerator[None]:
    transaction = await greenlet_spawn(begin)
    transaction.__enter__()
    try:
        yield
    except BaseException as error:
        await greenlet_spawn(transaction.__exit__, type(error), error, error.__traceback__)
        raise
    await greenlet_spawn(transaction.__exit__, None, None, None)


async def _to_its_end(closing: Coroutine[Any, Any, None]) -> None:
    """Wait until something is done, also where the task that waits is cancelled meanwhile."""
    task = asyncio.create_task(closing)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if task.done():
                raise
            cancelled = error
    if cancelled is not None:
        raise cancelled
