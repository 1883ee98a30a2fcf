"""The rows of the log of runs."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Boolean, ColumnElement, RowMapping, and_, bindparam, case, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from runtime.database.backends.clock import DatabaseTime
from runtime.database.backends.once import note_once
from runtime.database.database import Database
from runtime.database.tables import RunRow
from runtime.sessions.run_entry import LoggedRun, RunEntry, RunState

_FIELDS = (
    RunRow.id, RunRow.flow, RunRow.name, RunRow.session, RunRow.source, RunRow.input, RunRow.output, RunRow.error,
    RunRow.milliseconds, RunRow.input_tokens, RunRow.output_tokens, RunRow.at, RunRow.state, RunRow.started_at,
)  # fmt: skip

_BEYOND = (
    select(RunRow.number)
    .where(RunRow.owner == bindparam("user"), RunRow.state != "running")
    .order_by(RunRow.number.desc())
    .offset(bindparam("kept"))
)
_SEEN = case((bindparam("goes_on", type_=Boolean), DatabaseTime()), else_=None)
_ADD = insert(RunRow).values(seen_at=_SEEN)
_END = (
    update(RunRow)
    .where(RunRow.owner == bindparam("of"), RunRow.id == bindparam("run"), RunRow.state.in_(("running", "interrupted")))
    .values(seen_at=_SEEN)
)
_DROP = delete(RunRow).where(RunRow.number.in_(_BEYOND))


class RunRows:
    """Runs by owner. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, entries: Sequence[LoggedRun], drop: Collection[str], kept: int) -> None:
        """Add runs, and drop the oldest beyond `kept` of the owners in `drop`."""
        async with self._database.writing(*drop) as connection:
            await note_once(connection)
            fresh: list[dict[str, Any]] = []
            for run in entries:
                values, runs = _values(run), run.entry.state == "running"
                new = {**values, "goes_on": runs}
                if not run.begun:
                    fresh.append(new)
                    continue
                mine = {"of": run.owner, "run": run.entry.id}
                if not (await connection.execute(_END, {**new, **mine})).rowcount:
                    fresh.append(new)
            if fresh:
                await connection.execute(_ADD, fresh)
            for owner in drop:
                await connection.execute(_DROP, {"user": owner, "kept": kept})

    async def drop_ended(self, before: str) -> int:
        """Drop the runs of all owners that ended before a time; returns how many."""
        async with self._database.writing() as connection:
            old = delete(RunRow).where(RunRow.state != "running", RunRow.at < before)
            return (await connection.execute(old)).rowcount

    async def see(self, runs: Sequence[tuple[str, str]]) -> None:
        """Note that the process which has these runs, each with its owner, is there."""
        async with self._database.writing() as connection:
            for owner, run in runs:
                mine = and_(RunRow.owner == owner, RunRow.id == run, RunRow.state == "running")
                await connection.execute(update(RunRow).where(mine).values(seen_at=DatabaseTime()))

    async def interrupt(self, unseen_for: float, error: str, sparing: Collection[str] = ()) -> int:
        """Note as interrupted what no process has any more; returns how many.

        Args:
            unseen_for: after how many seconds on the database's clock a run that was not seen is nobody's.
            error: what is said of them.
            sparing: runs of this process, which go on.
        """
        lost = and_(RunRow.state == "running", RunRow.seen_at < DatabaseTime(unseen_for), RunRow.id.not_in(sparing))
        ended = {"state": "interrupted", "error": error, "at": RunRow.seen_at, "seen_at": None}
        async with self._database.reading() as connection:
            if (await connection.execute(select(RunRow.number).where(lost).limit(1))).first() is None:
                return 0
        async with self._database.writing() as connection:
            return (await connection.execute(update(RunRow).where(lost).values(ended))).rowcount

    async def ask_to_stop(self, owner: str, run: str) -> None:
        """Ask the process that has a run to end it."""
        mine = and_(RunRow.owner == owner, RunRow.id == run, RunRow.state == "running")
        async with self._database.writing() as connection:
            await connection.execute(update(RunRow).where(mine).values(stop_asked=True))

    async def asked_to_stop(self, runs: Collection[str]) -> list[tuple[str, str]]:
        """Those of some runs that are to be ended, with their owners."""
        asked = and_(RunRow.id.in_(runs), RunRow.state == "running", RunRow.stop_asked.is_(True))
        async with self._database.reading() as connection:
            return [
                (owner, run) for owner, run in await connection.execute(select(RunRow.owner, RunRow.id).where(asked))
            ]

    async def page(
        self, owner: str, limit: int, offset: int, flow: str = "", state: RunState | None = None
    ) -> tuple[list[RunEntry], int]:
        """Runs, latest first, and how many there are in all: of one flow, or in one state."""
        mine = RunRow.owner == owner
        if flow:
            mine = and_(mine, RunRow.flow == flow)
        if state is not None:
            mine = and_(mine, RunRow.state == state)
        latest = select(*_FIELDS).where(mine).order_by(RunRow.number.desc()).limit(limit).offset(offset)
        async with self._database.reading() as connection:
            rows = (await connection.execute(latest)).mappings().all()
            total = (await connection.execute(select(func.count()).select_from(RunRow).where(mine))).scalar_one()
        return [_entry(row) for row in rows], total

    async def get(self, owner: str, run: str) -> tuple[RunEntry, str | None] | None:
        """The latest run with this id, and its detail."""
        wanted = and_(RunRow.owner == owner, RunRow.id == run)
        async with self._database.reading() as connection:
            found = select(*_FIELDS, RunRow.detail).where(wanted).order_by(RunRow.number.desc()).limit(1)
            row = (await connection.execute(found)).mappings().first()
        return None if row is None else (_entry(row), row["detail"])

    async def remove(self, owner: str, run: str | None) -> int:
        """Delete one run, or all that have ended; returns how many."""
        wanted: ColumnElement[bool] = RunRow.owner == owner
        wanted = and_(wanted, RunRow.state != "running") if run is None else and_(wanted, RunRow.id == run)
        async with self._database.writing(owner) as connection:
            return (await connection.execute(delete(RunRow).where(wanted))).rowcount


async def add_run(connection: AsyncConnection, run: LoggedRun) -> None:
    """Add a run that has ended, in a transaction that is under way."""
    await connection.execute(_ADD, {**_values(run), "goes_on": False})


def _values(run: LoggedRun) -> dict[str, Any]:
    columns: dict[str, Any] = dict(run.entry.to_json())
    milliseconds = round(columns.pop("seconds") * 1000)
    return {"owner": run.owner, "milliseconds": milliseconds, "detail": run.detail, **columns}


def _entry(row: RowMapping) -> RunEntry:
    columns: dict[str, Any] = {str(name): value for name, value in row.items() if name != "detail"}
    return RunEntry(seconds=columns.pop("milliseconds") / 1000, **columns)
