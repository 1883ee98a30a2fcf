"""The users in the database: added, listed, revoked, and found by their tokens, of which only digests are stored.

A token is `ww-ID-SECRET`: the id finds the row, and the digest of the whole is compared in constant time. The secret
has 256 random bits, so that a plain SHA-256 cannot be reversed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from runtime.accounts.scopes import USUAL, Scope
from runtime.accounts.user import User, UserError, checked_name

if TYPE_CHECKING:
    from runtime.database.database import Database
    from runtime.database.users import UserRows

TOKEN: Final = re.compile(rb"ww-([0-9a-f]{32})-[A-Za-z0-9_-]{43}")
"""The form of a user's token; the group is the id."""

BYTES: Final = 32
"""Random bytes of a token."""

LONGEST_DAYS: Final = 3_650
"""Days for which a token may be valid."""


class Users:
    """The users of an installation beside the first one. Every method may raise `StoreUnavailable`.

    Args:
        database: where they are stored.
        clock: the time in UTC.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self._clock = clock

    async def add(self, name: str, scopes: Collection[Scope] = USUAL, days: int | None = None) -> tuple[User, str]:
        """Add a user.

        Args:
            name: the name, which nobody else may have in any case of letters.
            scopes: what the token allows.
            days: for how long it is valid, from now; None for ever.

        Returns:
            The user and the token, which cannot be read again.

        Raises:
            UserError: the name or the number of days cannot be taken.
        """
        now = self._clock()
        user = User(
            id=uuid4().hex,
            name=checked_name(name),
            scopes=frozenset(scopes),
            created_at=now.isoformat(),
            expires_at=_end(now, days),
        )
        token = _token(user.id)
        if not await (await self._rows()).add(user, _digest(token.encode())):
            fix = f"Choose another name, or make a new token for this user: wirewright users rotate {name}"
            raise UserError("name_taken", f"There is a user {name!r} already.", fix)
        return user, token

    async def entries(self) -> list[User]:
        """All users, by name, those included whose tokens are revoked or expired."""
        return await (await self._rows()).entries()

    async def are_there(self) -> bool:
        """Whether anybody could use the server now, beside the first user."""
        now = self._clock()
        return any(user.is_active(now) for user in await self.entries())

    async def revoke(self, name: str) -> User:
        """End a user's token now, and every session made with it; what the user has stays.

        Raises:
            UserError: there is no such user.
        """
        found = await self._named(name)
        rows = await self._rows()
        await rows.change(found.id, revoked_at=found.revoked_at or self._clock().isoformat())
        return await self._named(name)

    async def rotate(self, name: str, days: int | None = None) -> tuple[User, str]:
        """Replace a user's token; the earlier one and its sessions end. A revoked user is admitted again.

        Args:
            name: the user.
            days: for how long the new token is valid, from now; None for ever.

        Returns:
            The user and the token, which cannot be read again.

        Raises:
            UserError: there is no such user, or the number of days cannot be taken.
        """
        found, end = await self._named(name), _end(self._clock(), days)
        token = _token(found.id)
        await (await self._rows()).change(found.id, digest=_digest(token.encode()), expires_at=end, revoked_at=None)
        return await self._named(name), token

    async def by_token(self, token: bytes) -> tuple[User, bytes] | None:
        """The user whose token this is, with its digest; None for a wrong, revoked or expired one."""
        form = TOKEN.fullmatch(token)
        return None if form is None else await self.by_digest(form[1].decode(), _digest(token))

    async def by_digest(self, user: str, digest: bytes) -> tuple[User, bytes] | None:
        """The user with this id, if the digest is the one of the user's token, which is valid; with the digest."""
        found = await (await self._rows()).with_digest(user)
        if found is None or not hmac.compare_digest(found[1], digest) or not found[0].is_active(self._clock()):
            return None
        return found

    async def _named(self, name: str) -> User:
        found = await (await self._rows()).named(name)
        if found is None:
            raise UserError("user_not_found", f"There is no user {name[:80]!r}.", "`wirewright users list` names them.")
        return found

    async def _rows(self) -> UserRows:
        await self._database.open()
        from runtime.database.users import UserRows

        return UserRows(self._database)


def _end(now: datetime, days: int | None) -> str | None:
    if days is None:
        return None
    if not 0 < days <= LONGEST_DAYS:
        raise UserError("invalid_days", f"A token is valid for 1 to {LONGEST_DAYS} days.", "Leave it out for ever.")
    return (now + timedelta(days=days)).isoformat()


def _token(user: str) -> str:
    return f"ww-{user}-{secrets.token_urlsafe(BYTES)}"


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
