"""What was used, over HTTP: by oneself, and for admins by all users."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from runtime.accounts.user import LOCAL
from runtime.usage.report import UnreadableReport, UsageReport
from server.access.caller import Caller, caller_of
from server.errors import ApiError
from server.json_response import JsonResponse

USAGE_PATH = "/api/v1/usage"


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
