"""The rows of usage: one for each user, day and model."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import RowMapping, and_, bindparam, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from runtime.database.backends.once import note_once
from runtime.database.database import Database
from runtime.database.tables import UsageRow
from runtime.usage.entry import COUNTS, Usage, UsageKey, UsageSum

_GROUPS = {"day": UsageRow.day, "model": UsageRow.model, "user": UsageRow.owner}


_MORE = (
    update(UsageRow)
    .where(
        UsageRow.owner == bindparam("of"),
        UsageRow.day == bindparam("on_day"),
        UsageRow.model == bindparam("with_model"),
    )
    .values({name: getattr(UsageRow, name) + bindparam(f"more_{name}") for name in COUNTS})
)


class UsageRows:
    """Usage by owner, day and model. Every method may raise `StoreUnavailable`.

    Args:
        database: where it is stored.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, used: Mapping[UsageKey, Usage]) -> None:
        """Add what was used to what is stored, all of it or nothing."""
        async with self._database.writing() as connection:
            await note_once(connection)
            await add_usage(connection, used)

    async def sums(self, owner: str | None, first: str, last: str, by: Sequence[str]) -> list[UsageSum]:
        """What was used from a day to a day, both included.

        Args:
            owner: the user; None for all.
            first: the first day, `YYYY-MM-DD`.
            last: the last one.
            by: what it is grouped by: some of `day`, `model` and `user`.
        """
        groups = [_GROUPS[name].label(f"by_{name}") for name in by]
        totals = [func.coalesce(func.sum(getattr(UsageRow, name)), 0).label(name) for name in COUNTS]
        wanted = and_(UsageRow.day >= first, UsageRow.day <= last)
        if owner is not None:
            wanted = and_(wanted, UsageRow.owner == owner)
        found = select(*groups, *totals).where(wanted).group_by(*groups)
        async with self._database.reading() as connection:
            rows = (await connection.execute(found)).mappings().all()
        keys = [group.name for group in groups]  # databases sort by the language that they were made for
        return [_sum(row) for row in sorted(rows, key=lambda row: [row[key] for key in keys])]


async def add_usage(connection: AsyncConnection, used: Mapping[UsageKey, Usage]) -> None:
    """Add what was used to what is stored, in a transaction that is under way."""
    for key, usage in sorted(used.items()):
        if await _increased(connection, key, usage):
            continue
        try:
            async with connection.begin_nested():
                await connection.execute(insert(UsageRow).values(**_key(key), **_counts(usage)))
        except IntegrityError:  # another process was first
            await _increased(connection, key, usage)


async def _increased(connection: AsyncConnection, key: UsageKey, usage: Usage) -> bool:
    """Add to a row; returns whether there is one."""
    owner, day, model = key
    more = {f"more_{name}": count for name, count in _counts(usage).items()}
    mine = {"of": owner, "on_day": day, "with_model": model}
    return bool((await connection.execute(_MORE, {**more, **mine})).rowcount)


def _key(key: UsageKey) -> dict[str, str]:
    return dict(zip(("owner", "day", "model"), key, strict=True))


def _counts(usage: Usage) -> dict[str, int]:
    return {name: getattr(usage, name) for name in COUNTS}


def _sum(row: RowMapping) -> UsageSum:
    columns: dict[str, Any] = {str(name): value for name, value in row.items()}
    return UsageSum(
        day=columns.get("by_day"),
        model=columns.get("by_model"),
        user=columns.get("by_user"),
        usage=Usage(**{name: int(columns[name]) for name in COUNTS}),
    )
