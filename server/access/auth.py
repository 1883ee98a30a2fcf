"""Who may use the server: requests with a user's token, and browsers signed in with one or with a one-time link."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from runtime.accounts.user import LOCAL, User
from runtime.accounts.users import Users
from runtime.keychain.access_token import access_token

CODE_SECONDS: Final = 600
"""How long a sign-in link may be opened."""

SESSION_SECONDS: Final = 7 * 24 * 3600
"""How long a browser stays signed in; at the latest it ends with the server."""

SESSIONS: Final = 64
"""How many browsers of a user may be signed in; the one that signed in first is signed out."""

SIGN_IN_PATH: Final = "/sign-in"

HOOKS_FOLDER: Final = "/api/v1/hooks/"
"""Where webhooks are called, each of which has a token of its own."""


@dataclass(frozen=True, kw_only=True)
class _Session:
    """A signed-in browser.

    Attributes:
        until: when it is signed out, in seconds since the epoch.
        user: who signed in.
        digest: of the token that signed in, with which the session ends; None for the first user's, which stays.
    """

    until: float
    user: User
    digest: bytes | None


class Access:
    """The tokens, the sign-in codes and the sessions of one server.

    A code is made from the installation's token, so that `wirewright token --link` makes one without asking the server.
    It says when it was made, and is valid once, for `CODE_SECONDS`. A session's id is random; only its digest is kept.

    Args:
        token: the installation's token, which is the first user's.
        clock: the time in seconds since the epoch.

    Attributes:
        users: the other users; None for none. The application sets it once its database is there.
    """

    def __init__(self, token: str, clock: Callable[[], float] = time.time) -> None:
        self._token = token
        self._clock = clock
        self._started = int(clock())
        self._used: dict[str, float] = {}
        self._sessions: OrderedDict[bytes, _Session] = OrderedDict()
        self.users: Users | None = None

    @classmethod
    def open(cls, data: Path) -> Access:
        """The access to a server with this data folder; makes the token at the first start.

        Raises:
            TokenUnavailable: there is none, and none can be made.
        """
        return cls(access_token(data))

    async def user_of(self, token: bytes) -> User | None:
        """The user whose token this is; takes as long for any wrong one of its length.

        Raises:
            StoreUnavailable: the users cannot be read.
        """
        found = await self._known(token)
        return None if found is None else found[0]

    async def _known(self, token: bytes) -> tuple[User, bytes | None] | None:
        """The user whose token this is, with the digest of any but the first user's."""
        if hmac.compare_digest(token, self._token.encode("ascii")):
            return LOCAL, None
        return None if self.users is None else await self.users.by_token(token)

    def link(self, url: str) -> str:
        """A link that signs a browser in.

        Args:
            url: the server's address.
        """
        return sign_in_link(url, self._token, self._clock())

    def sign_in(self, code: str) -> str | None:
        """Use a code: the id of a new session, or None if the code is not valid any more or never was."""
        now = self._clock()
        made, _, rest = code.partition(".")
        nonce, _, _ = rest.partition(".")
        if not (made.isascii() and made.isdecimal() and len(made) < 16):
            return None
        valid = hmac.compare_digest(code.encode("utf-8", "replace"), _code(self._token, int(made), nonce).encode())
        # A code that is older than this server may have been used with the one before.
        if not valid or not max(self._started, now - CODE_SECONDS) <= int(made) <= now or nonce in self._used:
            return None
        self._used = {each: until for each, until in self._used.items() if until > now}
        self._used[nonce] = int(made) + CODE_SECONDS + 1
        return self._begun(LOCAL, None)

    async def sign_in_with(self, token: bytes) -> str | None:
        """Sign a browser in with a token: the id of a new session, or None if it is nobody's.

        Raises:
            StoreUnavailable: the users cannot be read.
        """
        found = await self._known(token)
        return None if found is None else self._begun(*found)

    def _begun(self, user: User, digest: bytes | None) -> str:
        """The id of a new session."""
        session = secrets.token_urlsafe(32)
        until = self._clock() + SESSION_SECONDS
        self._sessions[_digest(session)] = _Session(until=until, user=user, digest=digest)
        mine = [key for key, one in self._sessions.items() if one.user.id == user.id]
        for key in mine[:-SESSIONS]:
            del self._sessions[key]
        return session

    async def user_of_session(self, session: str) -> User | None:
        """Who is signed in with this session; its scopes are the user's own of now.

        Raises:
            StoreUnavailable: the users cannot be read.
        """
        found = self._sessions.get(_digest(session))
        if found is None or found.until <= self._clock():
            return None
        if found.digest is None:
            return found.user
        current = None if self.users is None else await self.users.by_digest(found.user.id, found.digest)
        if current is None:
            self.sign_out(session)
            return None
        return current[0]

    def sign_out(self, session: str) -> None:
        """End a session, if there is one."""
        self._sessions.pop(_digest(session), None)


def sign_in_link(url: str, token: str, now: float) -> str:
    """A link that signs a browser in once.

    Args:
        url: the server's address.
        token: the installation's token.
        now: the time in seconds since the epoch.
    """
    return f"{url}{SIGN_IN_PATH}?code={_code(token, int(now), secrets.token_urlsafe(18))}"


def cookie_name(port: int) -> str:
    """The name of a server's cookie: browsers share cookies between all ports of a host."""
    return f"wirewright-{port}"


def _code(token: str, made: int, nonce: str) -> str:
    text = f"{made}.{nonce}"
    return f"{text}.{hmac.new(token.encode('ascii'), f'sign-in {text}'.encode(), hashlib.sha256).hexdigest()}"


def _digest(session: str) -> bytes:
    return hashlib.sha256(session.encode("utf-8", "replace")).digest()
