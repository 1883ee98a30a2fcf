"""The rows of idempotency keys."""

from __future__ import annotations

from typing import cast

from sqlalchemy import ColumnElement, and_, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from runtime.database.database import Database
from runtime.database.tables import IdempotencyKeyRow as Row
from server.idempotency.known import KnownKey, State


class KeyRows:
    """Keys by owner. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, owner: str, key: str, now: int, too_old: int, limit: int) -> KnownKey | int | None:
        """Take a key, if it is free.

        Args:
            owner: the user.
            key: the key.
            now: the time in seconds since the epoch.
            too_old: keys from this time and before are free.
            limit: how many keys of a user are kept.

        Returns:
            None when it was taken, what is stored when it was not free, or when the user's first key began if there
            are too many.
        """
        new = insert(Row).values(owner=owner, key=key, state="running", fingerprint="", answer="", created_at=now)
        mine = Row.owner == owner
        async with self._database.writing(owner) as connection:
            await connection.execute(delete(Row).where(_is(owner, key), Row.created_at <= too_old))
            try:
                async with connection.begin_nested():
                    await connection.execute(new)
            except IntegrityError:
                found = select(Row.state, Row.fingerprint, Row.answer).where(_is(owner, key))
                state, fingerprint, answer = (await connection.execute(found)).one()
                return KnownKey(cast("State", state), fingerprint, answer)
            counted = select(func.count(), func.min(Row.created_at)).where(mine, Row.created_at > too_old)
            count, first = (await connection.execute(counted)).one()
            if count > limit:
                await connection.execute(delete(Row).where(_is(owner, key)))
                return int(first)
        return None

    async def finish(self, owner: str, key: str, known: KnownKey) -> None:
        """Keep what became of the request that took a key."""
        values = {"state": known.state, "fingerprint": known.fingerprint, "answer": known.answer}
        async with self._database.writing() as connection:
            await connection.execute(update(Row).where(_is(owner, key)).values(**values))

    async def release(self, owner: str, key: str) -> None:
        """Forget a key."""
        async with self._database.writing() as connection:
            await connection.execute(delete(Row).where(_is(owner, key)))

    async def prune(self, too_old: int) -> None:
        """Forget the keys from a time and before, in seconds since the epoch."""
        async with self._database.writing() as connection:
            await connection.execute(delete(Row).where(Row.created_at <= too_old))


def _is(owner: str, key: str) -> ColumnElement[bool]:
    return and_(Row.owner == owner, Row.key == key)
