"""What was used, over HTTP: by oneself, and for admins by all users."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.model import ContractModel, Received, optional
from runtime.accounts.user import LOCAL
from runtime.usage.report import UnreadableReport, UsageReport
from server.access.caller import Caller, caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.operation import operation

USAGE_PATH = "/api/v1/usage"


class UsageQuery(ContractModel):
    """Asks for a report of usage.

    Attributes:
        first: the first day in UTC, `YYYY-MM-DD`; 29 days before the last one if it is missing.
        last: the last day, which is included; today if it is missing.
        by: some of `day`, `model` and `user`, separated by commas; `day` if it is missing.
        users: whose usage it is; `all` needs the scope admin.
    """

    first: str = Field(default="", alias="from")
    last: str = Field(default="", alias="to")
    by: str = ""
    users: Literal["own", "all"] = "own"


class UsageFigures(Received):
    """What was used.

    Attributes:
        input_tokens: tokens sent, those from a cache too.
        output_tokens: tokens received.
        cached_tokens: how many of those sent were read from a cache.
        requests: requests to models.
        turns: turns of the assistant.
        runs: the user's own runs of flows.
        cost: in US dollars; null when the price of any part is not known.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int
    requests: int
    turns: int
    runs: int
    cost: float | None


class UsageRow(UsageFigures):
    """What was used in one group.

    Attributes:
        day: the day, where they are grouped by day.
        model: the model, where they are grouped by model.
        user: the user's name, where they are grouped by user.
    """

    day: str | None = optional()
    model: str | None = optional()
    user: str | None = optional()


class UsageReply(Received):
    """A report of usage.

    Attributes:
        first: the first day.
        last: the last day.
        by: what it is grouped by.
        usage: the groups.
        total: all of them together.
    """

    first: str = Field(alias="from")
    last: str = Field(alias="to")
    by: list[str]
    usage: list[UsageRow]
    total: UsageFigures


@operation(UsageReply, query=UsageQuery)
async def usage(request: Request) -> Response:
    """Tokens, requests, turns, runs and cost from a day to a day: one's own, or an admin's of all users."""
    caller, asked = caller_of(request), request.query_params
    today = caller.assistant.usage_log.clock().date()
    try:
        report = UsageReport.read(asked.get("from", ""), asked.get("to", ""), asked.get("by", ""), today)
    except UnreadableReport as wrong:
        raise ApiError(422, "invalid_request", wrong.message, wrong.fix, f"?{wrong.parameter}") from None
    whose = asked.get("users", "own")
    if whose not in ("own", "all"):
        fix = "Send own, or all with the scope admin."
        raise ApiError(422, "invalid_request", f"There is no usage of {whose[:40]!r}.", fix, "?users")
    if whose == "all" and "admin" not in caller.user.scopes:
        fix = "Leave users out to see your own."
        raise ApiError(403, "missing_scope", "Only an admin sees what others use.", fix, "?users")
    user = caller.id if whose == "own" else None
    return JsonResponse(await report.made(caller.assistant.usage_log, user, await _names(request, caller)))


async def _names(request: Request, caller: Caller) -> dict[str, str]:
    """The names of the users that a report may show, by id."""
    users = request.app.state.access.users
    if users is None or "admin" not in caller.user.scopes:
        return {caller.id: caller.user.name}
    return {LOCAL.id: LOCAL.name, **{each.id: each.name for each in await users.entries()}}


routes = [Route(USAGE_PATH, usage, methods=["GET"])]
