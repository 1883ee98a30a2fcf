"""The users of the installation over HTTP: added, listed, revoked and given another token; and who asks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, Literal

from pydantic import Field
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.model import ContractModel, Page, Received
from runtime.accounts.scopes import SCOPES, USUAL, Scope, scopes_of
from runtime.accounts.user import LOCAL, User, UserError
from runtime.accounts.users import LONGEST_DAYS, Users
from runtime.telemetry import log_event
from server.access.caller import Caller, caller_of
from server.access.scopes import USERS_PATH as PATH
from server.errors import ApiError
from server.json_response import SHOWN_ONCE, JsonResponse
from server.requests.body import read_object, validated
from server.requests.operation import operation
from server.requests.page import SearchQuery, paging, queried

ME_PATH: Final = "/api/v1/me"


class UserEntry(Received):
    """A user, without the token.

    Attributes:
        id: what the user's data is stored under.
        name: the name, unique whatever its case.
        scopes: what the token allows.
        created_at: when the user was added, ISO 8601 in UTC.
        expires_at: when the token ends; null for never.
        revoked_at: when the token was revoked; null when it was not.
        state: whether the token opens anything now.
    """

    id: str
    name: str
    scopes: list[Scope]
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    state: Literal["active", "expired", "revoked"]

    @classmethod
    def of(cls, user: User) -> UserEntry:
        """The entry of a user, as things stand now."""
        active = user.is_active(datetime.now(UTC))
        return cls(
            id=user.id,
            name=user.name,
            scopes=user.scope_names,
            created_at=user.created_at,
            expires_at=user.expires_at,
            revoked_at=user.revoked_at,
            state="active" if active else "expired" if user.revoked_at is None else "revoked",
        )


class UserPage(Page):
    """The users beside the first one, by name."""

    users: list[UserEntry]


class WhoAsks(Received):
    """The user whose token a request carries.

    Attributes:
        user: the user.
        is_first: whether it is the first user, who has the token of the installation.
    """

    user: UserEntry
    is_first: bool


class NewTokenDays(ContractModel):
    """How long a token is valid.

    Attributes:
        days: for how many days, from now; null for ever.
    """

    days: int | None = Field(default=None, ge=1, le=LONGEST_DAYS)


class NewUser(NewTokenDays):
    """A user to add.

    Attributes:
        name: the name, which nobody else may have in any case of letters.
        scopes: what the token allows.
    """

    name: str
    scopes: list[Scope] = Field(default_factory=lambda: sorted(USUAL), min_length=1, max_length=len(SCOPES))


class NewToken(Received):
    """A user with a new token, which cannot be read again.

    Attributes:
        user: the user.
        token: the token.
    """

    user: UserEntry
    token: str


class EveryUser(HTTPEndpoint):
    """All users beside the first one."""

    @operation(UserPage, query=SearchQuery)
    async def get(self, request: Request) -> Response:
        """One page of them, by name: those in whose name `q` stands."""
        asked = queried(SearchQuery, request)
        every = await _users(caller_of(request)).entries()
        found = [one for one in every if asked.q.casefold() in one.name.casefold()]
        page = [UserEntry.of(one) for one in found[asked.offset : asked.offset + asked.limit]]
        return JsonResponse(UserPage.model_validate({"users": page, **paging(request, asked, len(found))}))

    @operation(NewToken, body=NewUser, status=201, errors=(409,))
    async def post(self, request: Request) -> Response:
        """Add one; the reply has the token, which is shown this once."""
        caller = caller_of(request)
        asked = validated(NewUser, await read_object(request, caller.settings.body_limit))
        try:
            user, token = await _users(caller).add(asked.name, scopes_of(asked.scopes), asked.days)
        except UserError as refused:
            raise _refused(refused) from None
        log_event("assistant.user.added", user=user.id, by=caller.id, scopes=user.scope_names)
        return JsonResponse(NewToken(user=UserEntry.of(user), token=token), 201, SHOWN_ONCE)


@operation(UserEntry)
async def revoke(request: Request) -> Response:
    """End a user's token, and sign the user's browsers out; what the user has is kept."""
    caller = caller_of(request)
    try:
        user = await _users(caller).revoke(request.path_params["user"])
    except UserError as refused:
        raise _refused(refused) from None
    log_event("assistant.user.revoked", user=user.id, by=caller.id)
    return JsonResponse(UserEntry.of(user))


@operation(NewToken, body=NewTokenDays, body_optional=True)
async def rotate(request: Request) -> Response:
    """Replace a user's token, which the reply shows this once; a revoked user is admitted again."""
    caller = caller_of(request)
    document = await read_object(request, caller.settings.body_limit, optional=True)
    asked = validated(NewTokenDays, document)
    try:
        user, token = await _users(caller).rotate(request.path_params["user"], asked.days)
    except UserError as refused:
        raise _refused(refused) from None
    log_event("assistant.user.rotated", user=user.id, by=caller.id)
    return JsonResponse(NewToken(user=UserEntry.of(user), token=token), headers=SHOWN_ONCE)


@operation(WhoAsks)
async def me(request: Request) -> Response:
    """The user whose token the request carries, and what it allows."""
    user = caller_of(request).user
    return JsonResponse(WhoAsks(user=UserEntry.of(user), is_first=user.id == LOCAL.id))


def _users(caller: Caller) -> Users:
    return Users(caller.assistant.database)


def _refused(error: UserError) -> ApiError:
    match error.code:
        case "user_not_found":
            return ApiError(404, error.code, error.message, f"GET {PATH} lists them.")
        case "name_taken":
            fix = f"Choose another name, or make a new token: POST {PATH}/{{user}}/rotate."
            return ApiError(409, error.code, error.message, fix, "$.name")
        case _:
            return ApiError(422, error.code, error.message, error.fix, "$.name")


routes = [
    Route(PATH, EveryUser),
    Route(f"{PATH}/{{user}}/revoke", revoke, methods=["POST"]),
    Route(f"{PATH}/{{user}}/rotate", rotate, methods=["POST"]),
    Route(ME_PATH, me, methods=["GET"]),
]
