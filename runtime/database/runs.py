"""The rows of the log of runs."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, and_, bindparam, delete, func, insert, select, update

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
_ADD = insert(RunRow)
_END = update(RunRow).where(
    RunRow.owner == bindparam("of"), RunRow.id == bindparam("run"), RunRow.state.in_(("running", "interrupted"))
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
            fresh: list[dict[str, Any]] = []
            for run in entries:
                values = _values(run)
                if not run.begun:
                    fresh.append(values)
                    continue
                mine = {"of": run.owner, "run": run.entry.id}
                if not (await connection.execute(_END, {**values, **mine})).rowcount:
                    fresh.append(values)
            if fresh:
                await connection.execute(_ADD, fresh)
            for owner in drop:
                await connection.execute(_DROP, {"user": owner, "kept": kept})

    async def drop_ended(self, before: str) -> int:
        """Drop the runs of all owners that ended before a time; returns how many."""
        async with self._database.writing() as connection:
            old = delete(RunRow).where(RunRow.state != "running", RunRow.at < before)
            return (await connection.execute(old)).rowcount

    async def see(self, runs: Sequence[tuple[str, str]], now: str) -> None:
        """Note that the process which has these runs, each with its owner, is there."""
        async with self._database.writing() as connection:
            for owner, run in runs:
                mine = and_(RunRow.owner == owner, RunRow.id == run, RunRow.state == "running")
                await connection.execute(update(RunRow).where(mine).values(seen_at=now))

    async def interrupt(self, unseen_since: str, error: str, sparing: Collection[str] = ()) -> int:
        """Note as interrupted what no process has any more; returns how many.

        Args:
            unseen_since: runs that were last seen before it are nobody's.
            error: what is said of them.
            sparing: runs of this process, which go on.
        """
        lost = and_(RunRow.state == "running", RunRow.seen_at < unseen_since, RunRow.id.not_in(sparing))
        ended = {"state": "interrupted", "error": error, "at": RunRow.seen_at, "seen_at": None}
        async with self._database.reading() as connection:
            if (await connection.execute(select(RunRow.number).where(lost).limit(1))).first() is None:
                return 0
        async with self._database.writing() as connection:
            return (await connection.execute(update(RunRow).where(lost).values(ended))).rowcount

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


def _values(run: LoggedRun) -> dict[str, Any]:
    columns: dict[str, Any] = dict(run.entry.to_json())
    seen = run.entry.at if run.entry.state == "running" else None
    milliseconds = round(columns.pop("seconds") * 1000)
    return {"owner": run.owner, "milliseconds": milliseconds, "seen_at": seen, "detail": run.detail, **columns}


def _entry(row: RowMapping) -> RunEntry:
    columns: dict[str, Any] = {str(name): value for name, value in row.items() if name != "detail"}
    return RunEntry(seconds=columns.pop("milliseconds") / 1000, **columns)
