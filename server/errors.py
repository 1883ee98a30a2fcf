"""Errors as clients receive them: a status and `{"error": {"code", "message", "fix", "where", "request_id"}}`.

An exception's own text never reaches a client.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from agent.errors import AssistantUnavailable
from agent.turn.result import TurnError
from runtime.database.errors import StoreUnavailable
from runtime.jobs.errors import (
    BadSchedule,
    BatchNotFound,
    IdReused,
    JobError,
    JobNotFound,
    QueueFull,
    ScheduleNotFound,
    WebhookRefused,
)
from runtime.keychain.master_key import SecretKeyUnavailable
from server.error_body import error_json
from server.json_response import JsonResponse
from server.middleware.host_check import SECURITY_HEADERS
from server.middleware.request_id import request_id_headers
from server.store.flows import FlowNotStored, RevisionNotKept, TooManyFlows, VersionConflict

log = logging.getLogger(__name__)

RETRY_SECONDS = "5"
"""Seconds after which a client may try again."""


class ApiError(Exception):
    """A request that is answered with an error.

    Args:
        status: the HTTP status.
        code: a stable name of the kind of error.
        message: what is wrong.
        fix: what the client can do.
        where: the place in the request, such as a JSON path.
        headers: headers that belong to the reply.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        fix: str = "",
        where: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.fix = fix
        self.where = where
        self.headers = dict(headers or {})

    def reply(self) -> JsonResponse:
        """The error as a response."""
        return JsonResponse(error_json(self.code, self.message, self.fix, self.where), self.status, self.headers)


def not_ready(code: str, message: str, fix: str) -> ApiError:
    """The error for what may work later."""
    return ApiError(503, code, message, fix, headers={"Retry-After": RETRY_SECONDS})


class ClientGone(Exception):
    """The client has disconnected."""


def not_stored(flow_id: str, where: str | None = None) -> ApiError:
    """The error for a flow that does not exist, whatever its id looks like."""
    shown = flow_id if len(flow_id) <= 80 else f"{flow_id[:80]}…"
    return ApiError(
        404, "flow_not_found", f"There is no flow {shown!r}.", "GET /api/v1/flows lists the stored flows.", where
    )


def conflict(error: VersionConflict) -> ApiError:
    """The error for a change to an outdated version."""
    return ApiError(
        409,
        "version_conflict",
        f"The flow has changed since; its version is {error.current}.",
        "Load the flow again, repeat the change on it, and send it with that version.",
        headers={"ETag": f'"{error.current}"'},
    )


def turn_failed(error: TurnError, seconds: int) -> ApiError:
    """The error for a failed turn; its code decides the status.

    Args:
        error: why it failed.
        seconds: after which one of the turns before it must have ended.
    """
    status = _TURN_STATUS.get(error.code, 502)
    headers = {"Retry-After": str(seconds)} if status == HTTPStatus.TOO_MANY_REQUESTS else None
    return ApiError(status, error.code, error.message, error.fix, headers=headers)


_TURN_STATUS: Mapping[str, int] = {
    "nothing_pending": 409,
    "already_answered": 409,
    "unknown_approval": 404,
    "flow_not_found": 404,
    "message_too_long": 413,
    "queue_full": 429,
    "limit": 422,
    "internal": 500,
    "catalogue_missing": 503,
    "runner_unavailable": 503,
    "model_timeout": 504,
    "timeout": 504,
}

_KNOWN: Mapping[int, tuple[str, str]] = {
    404: ("not_found", "Nothing was found at this address."),
    405: ("method_not_allowed", "This address does not support this method."),
}


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  (registered for this class alone; narrows the type)
    status = error.status_code
    code, message = _KNOWN.get(status, ("http_error", HTTPStatus(status).phrase + "."))
    headers = dict(error.headers or {})
    allowed = headers.get("Allow")
    fix = f"Use {allowed}." if allowed else "See GET /."
    return ApiError(status, code, message, fix, f"{request.method} {request.url.path[:200]}", headers).reply()


async def _known_error(_: Request, error: Exception) -> Response:
    match error:
        case ApiError():
            return error.reply()
        case FlowNotStored():
            return not_stored(error.flow_id).reply()
        case RevisionNotKept():
            fix = "GET /api/v1/flows/{id}/revisions lists the versions that are kept."
            return ApiError(404, "revision_not_found", f"The flow has no version {error.version}.", fix).reply()
        case VersionConflict():
            return conflict(error).reply()
        case TooManyFlows():
            message = f"You have {error.limit:,} flows, which is the limit; nothing was stored."
            return ApiError(409, "too_many_flows", message, "Remove flows that are not needed.").reply()
        case AssistantUnavailable():
            return not_ready(error.error.code, error.error.message, error.error.fix).reply()
        case SecretKeyUnavailable():
            return not_ready("secret_key_unavailable", error.message, error.fix).reply()
        case StoreUnavailable():
            log.error("store.unavailable", exc_info=error)
            return not_ready("store_unavailable", error.message, error.fix).reply()
        case _:
            raise error


async def _job_error(_: Request, error: Exception) -> Response:
    if not isinstance(error, JobError):
        raise error
    status, headers = 409, {}
    where = error.where if isinstance(error, BadSchedule) else None
    match error:
        case QueueFull():
            status, headers = 429, {"Retry-After": RETRY_SECONDS}
        case BadSchedule() | IdReused():
            status = 422
        case WebhookRefused():
            status, headers = 401, {"WWW-Authenticate": "Bearer"}
        case JobNotFound() | BatchNotFound() | ScheduleNotFound():
            status = 404
        case _:
            pass
    return ApiError(status, error.code, error.message, error.fix, where, headers).reply()


async def _gone(_: Request, __: Exception) -> Response:
    return Response(status_code=499)


async def _unexpected(_: Request, __: Exception) -> Response:
    failure = ApiError(500, "internal", "Something went wrong inside the server.", "The server's log has the details.")
    failure.headers.update({**SECURITY_HEADERS, **request_id_headers()})  # no middleware of ours sees this reply
    return failure.reply()


HANDLERS: Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    **dict.fromkeys(
        (
            ApiError,
            FlowNotStored,
            RevisionNotKept,
            TooManyFlows,
            VersionConflict,
            AssistantUnavailable,
            StoreUnavailable,
        ),
        _known_error,
    ),
    JobError: _job_error,
    HTTPException: _http_error,
    **dict.fromkeys((ClientGone, ClientDisconnect), _gone),
    Exception: _unexpected,
}
"""The handlers of exceptions, by their class."""
