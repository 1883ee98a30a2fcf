"""The documents of users."""

from typing import Literal, NotRequired

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


class UsageFigures(TypedDict):
    """What was used; `cost` is in US dollars, and null when a part of it is not known."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int
    requests: int
    turns: int
    runs: int
    cost: float | None


class UsageLine(UsageFigures):
    """What was used in one of the groups asked for."""

    day: NotRequired[str]
    model: NotRequired[str]
    user: NotRequired[str]


UsageShown = TypedDict(
    "UsageShown",
    {
        "from": str,
        "to": str,
        "by": list[Literal["day", "model", "user"]],
        "usage": list[UsageLine],
        "total": UsageFigures,
    },
)
"""What was used from a day to a day, both included, in UTC."""
