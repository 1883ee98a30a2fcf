"""The rows of the log of runs."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import RowMapping, and_, bindparam, delete, func, insert, select

from runtime.database.database import Database
from runtime.database.tables import RunRow
from runtime.sessions.run_entry import RunEntry

_FIELDS = (
    RunRow.id, RunRow.flow, RunRow.name, RunRow.session, RunRow.source, RunRow.input, RunRow.output, RunRow.error,
    RunRow.milliseconds, RunRow.input_tokens, RunRow.output_tokens, RunRow.at,
)  # fmt: skip

_BEYOND = (
    select(RunRow.number)
    .where(RunRow.owner == bindparam("user"))
    .order_by(RunRow.number.desc())
    .offset(bindparam("kept"))
)
_ADD = insert(RunRow)
_DROP = delete(RunRow).where(RunRow.number.in_(_BEYOND))


class RunRows:
    """Runs by owner. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, entries: Sequence[tuple[str, RunEntry]], drop: Collection[str], kept: int) -> None:
        """Add runs, each with its owner, and drop the oldest beyond `kept` of the owners in `drop`."""
        async with self._database.writing(*drop) as connection:
            if entries:
                await connection.execute(_ADD, [_values(owner, entry) for owner, entry in entries])
            for owner in drop:
                await connection.execute(_DROP, {"user": owner, "kept": kept})

    async def page(self, owner: str, limit: int, offset: int) -> tuple[list[RunEntry], int]:
        """Runs, latest first, and how many there are in all."""
        mine = RunRow.owner == owner
        latest = select(*_FIELDS).where(mine).order_by(RunRow.number.desc()).limit(limit).offset(offset)
        async with self._database.reading() as connection:
            rows = (await connection.execute(latest)).mappings().all()
            total = (await connection.execute(select(func.count()).select_from(RunRow).where(mine))).scalar_one()
        return [_entry(row) for row in rows], total

    async def get(self, owner: str, run: str) -> RunEntry | None:
        """The latest run with this id."""
        wanted = and_(RunRow.owner == owner, RunRow.id == run)
        async with self._database.reading() as connection:
            found = select(*_FIELDS).where(wanted).order_by(RunRow.number.desc()).limit(1)
            row = (await connection.execute(found)).mappings().first()
        return None if row is None else _entry(row)

    async def remove(self, owner: str, run: str | None) -> int:
        """Delete one run or all; returns how many."""
        wanted = RunRow.owner == owner if run is None else and_(RunRow.owner == owner, RunRow.id == run)
        async with self._database.writing(owner) as connection:
            return (await connection.execute(delete(RunRow).where(wanted))).rowcount


def _values(owner: str, entry: RunEntry) -> dict[str, Any]:
    columns: dict[str, Any] = dict(entry.to_json())
    return {"owner": owner, "milliseconds": round(columns.pop("seconds") * 1000), **columns}


def _entry(row: RowMapping) -> RunEntry:
    columns: dict[str, Any] = {str(name): value for name, value in row.items()}
    return RunEntry(seconds=columns.pop("milliseconds") / 1000, **columns)
