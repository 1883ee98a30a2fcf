"""Who may use the server: requests with the installation's token, and browsers that a one-time link has signed in."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Final

from runtime.keychain.access_token import access_token

CODE_SECONDS: Final = 600
"""How long a sign-in link may be opened."""

SESSION_SECONDS: Final = 7 * 24 * 3600
"""How long a browser stays signed in; at the latest it ends with the server."""

SESSIONS: Final = 64
"""How many browsers may be signed in; the one that signed in first is signed out."""

SIGN_IN_PATH: Final = "/sign-in"


class Access:
    """The token, the sign-in codes and the sessions of one server.

    A code is made from the token, so that `wirewright token --link` makes one without asking the server. It says when
    it was made, and is valid once, for `CODE_SECONDS`. A session's id is random; only its digest is kept.

    Args:
        token: the installation's token.
        clock: the time in seconds since the epoch.
    """

    def __init__(self, token: str, clock: Callable[[], float] = time.time) -> None:
        self._token = token
        self._clock = clock
        self._started = int(clock())
        self._used: dict[str, float] = {}
        self._sessions: OrderedDict[bytes, float] = OrderedDict()

    @classmethod
    def open(cls, data: Path) -> Access:
        """The access to a server with this data folder; makes the token at the first start.

        Raises:
            TokenUnavailable: there is none, and none can be made.
        """
        return cls(access_token(data))

    def knows(self, token: bytes) -> bool:
        """Whether this is the token; takes as long for any wrong one of its length."""
        return hmac.compare_digest(token, self._token.encode("ascii"))

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
        session = secrets.token_urlsafe(32)
        self._sessions[_digest(session)] = now + SESSION_SECONDS
        while len(self._sessions) > SESSIONS:
            self._sessions.popitem(last=False)
        return session

    def has_session(self, session: str) -> bool:
        """Whether a browser with this session is signed in."""
        return self._sessions.get(_digest(session), 0.0) > self._clock()

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
