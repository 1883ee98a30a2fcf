"""The errors of the API as OpenAPI describes them: their model, and which of them a route can answer with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agent.contract.model import Received, optional
from server.requests.operation import Operation
from server.routes.flows.models import SeenVersion


class ErrorDetail(Received):
    """What is wrong.

    Attributes:
        code: a stable name of the kind of error.
        message: what is wrong, in words for the user.
        fix: what the client can do; empty if there is nothing.
        where: the place in the request, such as a JSON path, a parameter or a header; null if there is none.
        request_id: the id of the request, under which the server's log has it.
    """

    code: str
    message: str
    fix: str
    where: str | None
    request_id: str | None = optional()


class ErrorReply(Received):
    """Any error."""

    error: ErrorDetail


MEANINGS: Final[Mapping[int, str]] = {
    400: "The body is not what its type says, or a header or the named provider cannot be used.",
    401: "The request has no token, or one that is nobody's.",
    403: "The token lacks the scope, or the host or the origin is a foreign one.",
    404: "The user has no such thing.",
    405: "This address does not support this method.",
    408: "The body took too long to arrive.",
    409: "It does not fit how things stand now: an outdated version, a limit of the user, or a repeated key.",
    410: "The events are too old to be kept.",
    413: "The body or the message is too long.",
    415: "The body is of another media type.",
    422: "A field, a parameter or a header is missing or wrong.",
    428: "The version that the change is based on is missing.",
    429: "Too much at once, too much today, or too many wrong tokens; `Retry-After` says when to try again.",
    500: "Something went wrong inside the server.",
    502: "The model's provider failed.",
    503: "Something is not ready, or the server is stopping; `Retry-After` says when to try again.",
    504: "It took longer than it may.",
}
"""What the statuses mean."""

RESPONSE_HEADERS: Final[Mapping[int, tuple[str, ...]]] = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    409: ("ETag", "Wirewright-Turn"),
    429: ("Retry-After",),
    503: ("Retry-After",),
}
"""The headers of errors, beside those of every response."""

NEEDS_USER: Final = (401, 403, 429, 503)
WITH_BODY: Final = (400, 408, 413, 415, 422)
WITH_KEY: Final = (400, 408, 409, 422, 429)
WITH_VERSION: Final = (409, 422, 428)


def has_version(operation: Operation) -> bool:
    """Whether a route changes a version that the client has seen."""
    return isinstance(operation.body, type) and issubclass(operation.body, SeenVersion)


def statuses(operation: Operation, *, open_to_all: bool, takes_key: bool, named: bool) -> list[int]:
    """The errors that a route can answer with, in order.

    Args:
        operation: what it declares.
        open_to_all: whether it needs no token.
        takes_key: whether it takes an `Idempotency-Key`.
        named: whether its address has parameters.
    """
    found = {403, *operation.errors}
    found |= set(() if open_to_all else NEEDS_USER)
    found |= set(WITH_BODY if operation.body is not None else ())
    found |= set(WITH_KEY if takes_key else ())
    found |= set(WITH_VERSION if has_version(operation) else ())
    found |= {404} if named else set()
    found |= {422} if operation.query is not None or operation.takes else set()
    return sorted(found - set(operation.also))


def responses() -> dict[str, Any]:
    """The errors as `components/responses`, by the name that `name_of` gives them."""
    return {
        name_of(status): {
            "description": meaning,
            "headers": {
                name: {"$ref": f"#/components/headers/{name}"}
                for name in ("X-Request-ID", *RESPONSE_HEADERS.get(status, ()))
            },
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorReply"}}},
        }
        for status, meaning in MEANINGS.items()
    }


def name_of(status: int) -> str:
    """The name of an error among the responses."""
    return f"Error{status}"
