"""The documents of users."""

from typing import Literal

from typing_extensions import TypedDict

from runtime.accounts.scopes import Scope


class UserObject(TypedDict):
    """A user, without the token; times are ISO 8601 in UTC."""

    id: str
    name: str
    scopes: list[Scope]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    state: Literal["active", "expired", "revoked"]


class UserList(TypedDict):
    """The users beside the first one."""

    users: list[UserObject]


class UserToken(TypedDict):
    """A new token, which is not shown again."""

    user: UserObject
    token: str
