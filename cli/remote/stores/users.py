"""The users of a server, as `wirewright users` asks for them with the scope `admin`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cli.remote.connection import Server, segment
from runtime.accounts.scopes import Scope
from server.routes.installation.users import NewToken, UserEntry, UserPage, WhoAsks

USERS: Final = "/api/v1/users"
_PAGE: Final = 200
"""Users that a page has at most."""


class RemoteUsers:
    """The users of a server.

    Args:
        server: the server.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    def entries(self) -> list[UserEntry]:
        """The users beside the first one, by name."""
        found: list[UserEntry] = []
        while True:
            page = self._server.read(UserPage, USERS, {"limit": _PAGE, "offset": len(found)})
            found += page.users
            if page.next is None or not page.users:
                return found

    def add(self, name: str, scopes: Sequence[Scope], days: int | None) -> NewToken:
        """Add a user; the reply has the token."""
        body = {"name": name, "scopes": list(scopes), "days": days}
        return self._server.change(NewToken, "POST", USERS, body)

    def revoke(self, name: str) -> UserEntry:
        """End a user's token."""
        return self._server.change(UserEntry, "POST", f"{USERS}/{segment(name)}/revoke")

    def rotate(self, name: str, days: int | None) -> NewToken:
        """Replace a user's token; the reply has the new one."""
        return self._server.change(NewToken, "POST", f"{USERS}/{segment(name)}/rotate", {"days": days})

    def me(self) -> WhoAsks:
        """The user whose token requests carry."""
        return self._server.read(WhoAsks, "/api/v1/me")
