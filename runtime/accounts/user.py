"""A user of an installation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from runtime.accounts.scopes import EVERY_SCOPE, SCOPES, Scope
from runtime.files.folders import LOCAL_USER

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
"""What a user may be called: such as an e-mail address."""


class UserError(ValueError):
    """A user cannot be added or changed as asked.

    Attributes:
        code: a stable name of the kind of error.
        message: what is wrong.
        fix: what to do instead.
    """

    def __init__(self, code: str, message: str, fix: str) -> None:
        super().__init__(f"{message} {fix}")
        self.code = code
        self.message = message
        self.fix = fix


@dataclass(frozen=True, kw_only=True)
class User:
    """A user, without the token, of which only a digest is stored.

    Attributes:
        id: what the user's data is stored under; it never changes, and is never used again.
        name: the name, unique whatever its case.
        scopes: what the token allows.
        created_at: when the user was added, ISO 8601 in UTC.
        expires_at: when the token ends, ISO 8601 in UTC; None for never.
        revoked_at: when the token was revoked, ISO 8601 in UTC; None when it was not.
    """

    id: str
    name: str
    scopes: frozenset[Scope]
    created_at: str
    expires_at: str | None = None
    revoked_at: str | None = None

    def is_active(self, now: datetime) -> bool:
        """Whether the token opens anything at this time, which is in UTC."""
        if self.revoked_at is not None:
            return False
        return self.expires_at is None or now < datetime.fromisoformat(self.expires_at)

    @property
    def scope_names(self) -> list[Scope]:
        """The scopes, in their usual order."""
        return [scope for scope in SCOPES if scope in self.scopes]


LOCAL: Final = User(id=LOCAL_USER, name=LOCAL_USER, scopes=EVERY_SCOPE, created_at="")
"""Who has the token of the installation: the first user."""


def checked_name(name: str) -> str:
    """A name for a new user.

    Raises:
        UserError: nobody can have it.
    """
    if NAME.fullmatch(name) is None:
        fix = "Use up to 64 letters, digits and . _ @ -, such as ada@example.org."
        raise UserError("invalid_name", f"{name[:80]!r} cannot be a user's name.", fix)
    if name.lower() == LOCAL_USER:
        fix = "Choose another name; `wirewright token` prints the token of the first user."
        raise UserError("name_taken", f"{LOCAL_USER!r} is the first user, who has the installation's token.", fix)
    return name
