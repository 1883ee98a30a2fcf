"""The user of a request as the package `mcp` knows users: a session answers only to the one who began it."""

from __future__ import annotations

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from runtime.accounts.user import User


class Principal(AuthenticatedUser):
    """A user whose token the server has checked.

    Args:
        user: the user.
    """

    def __init__(self, user: User) -> None:
        super().__init__(AccessToken(token="", client_id=user.id, scopes=[*user.scope_names], subject=user.id))
