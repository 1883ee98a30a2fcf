"""The rows of users."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, insert, select, update
from sqlalchemy.exc import IntegrityError

from runtime.accounts.scopes import scopes_of
from runtime.accounts.user import User
from runtime.database.database import Database
from runtime.database.tables import UserRow


class UserRows:
    """Users by id and name. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, user: User, digest: bytes) -> bool:
        """Add a user with the digest of the token; returns False, and adds nothing, when the name is taken."""
        new = insert(UserRow).values(
            id=user.id,
            name=user.name,
            folded=user.name.lower(),
            digest=digest.hex(),
            scopes=" ".join(user.scope_names),
            created_at=user.created_at,
            expires_at=user.expires_at,
            revoked_at=user.revoked_at,
        )
        async with self._database.writing() as connection:
            try:
                async with connection.begin_nested():
                    await connection.execute(new)
            except IntegrityError:
                return False
        return True

    async def entries(self) -> list[User]:
        """All users, by name."""
        async with self._database.reading() as connection:
            rows = (await connection.execute(select(UserRow.__table__))).all()
        return [_user(row) for row in sorted(rows, key=lambda row: row.folded)]  # databases sort by their language

    async def named(self, name: str) -> User | None:
        """The user of this name, whatever its case."""
        found = await self._one(UserRow.folded == name.lower())
        return None if found is None else _user(found)

    async def with_digest(self, user: str) -> tuple[User, bytes] | None:
        """The user with this id, and the digest of the token."""
        found = await self._one(UserRow.id == user)
        return None if found is None else (_user(found), bytes.fromhex(found.digest))

    async def change(self, user: str, *, digest: bytes | None = None, **values: str | None) -> None:
        """Change columns of the user with this id.

        Args:
            user: the id.
            digest: of the new token; None keeps the one that is there.
            values: other columns.
        """
        changed: dict[str, str | None] = dict(values) if digest is None else {**values, "digest": digest.hex()}
        async with self._database.writing() as connection:
            await connection.execute(update(UserRow).where(UserRow.id == user).values(**changed))

    async def _one(self, condition: ColumnElement[bool]) -> Any:
        async with self._database.reading() as connection:
            return (await connection.execute(select(UserRow.__table__).where(condition))).one_or_none()


def _user(row: Any) -> User:
    return User(
        id=row.id,
        name=row.name,
        scopes=scopes_of(row.scopes.split()),
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
    )
