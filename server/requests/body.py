"""Reading a request's body, the one place that does: bounded in size and time, as pieces or as JSON of a model."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json
from starlette.requests import Request

from agent.contract.problems import reason
from flows.document import Flow, FlowFormatError, JsonObject
from runtime.web import body as web
from runtime.web.body import READ_SECONDS
from server.errors import ApiError

NODES = 1_000
EDGES = 5_000
"""The most components and connections of a flow: checks and layouts take time for each pair of them."""

_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    rb"""\\(?:
        u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}  # a pair
        | (?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})
        | .  # another escape, also of a backslash
    )""",
    re.VERBOSE | re.DOTALL,
)

T = TypeVar("T", bound=BaseModel)


async def read_object(request: Request, limit: int, *, optional: bool = False, mends_text: bool = False) -> JsonObject:
    """The JSON object that a request carries.

    Args:
        request: the request; its body has not been read yet.
        limit: the most bytes that it may have.
        optional: whether an empty body counts as an empty object.
        mends_text: whether half of a surrogate pair becomes U+FFFD, as in browsers. Clients that send their whole chat
            with every request could send nothing any more once a message of it was cut within a character.

    Raises:
        ApiError: 400 not JSON, 408 too slow, 413 too large, 415 another content type, 422 not an object.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not optional:
        raise _not_json()
    body = bytearray()
    async for piece in pieces(request, limit, READ_SECONDS):
        body += piece
    if optional and not body.strip():
        return {}
    if kind not in ("application/json", ""):
        raise _not_json()
    try:
        document: object = from_json(with_whole_characters(body) if mends_text else body, allow_inf_nan=False)
    except ValueError:
        raise ApiError(400, "not_json", "The body is not JSON.", "Send one JSON object, in UTF-8.", "$") from None
    if isinstance(document, dict):
        return cast("JsonObject", document)
    raise ApiError(422, "invalid_request", "The body must be a JSON object.", "Send {…}.", "$")


def with_whole_characters(body: bytes | bytearray) -> bytes | bytearray:
    """JSON in which U+FFFD stands for each escape that is half of a surrogate pair."""
    return _ESCAPE.sub(_whole, body) if _HALF.search(body) else body


def _whole(escape: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if escape["half"] else escape[0]


async def pieces(request: Request, limit: int, seconds: float) -> AsyncGenerator[bytes]:
    """The body piece by piece, as `runtime.web.body.pieces` reads it.

    Args:
        request: the request; its body has not been read yet.
        limit: the most bytes that it may have.
        seconds: how long a client may take to send it.

    Raises:
        ApiError: 408 too slow, 413 too large.
    """
    try:
        async for piece in web.pieces(request, limit, seconds):
            yield piece
    except web.BodyRefused as refused:
        headers = {"Connection": "close"} if refused.closes else {}
        raise ApiError(refused.status, refused.code, refused.message, refused.fix, headers=headers) from None


def _not_json() -> ApiError:
    return ApiError(
        415, "unsupported_media_type", "The body must be JSON.", "Send the header Content-Type: application/json."
    )


def validated(model: type[T], document: object) -> T:
    """A model from a document.

    Raises:
        ApiError: 422, naming the first five places that are wrong.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        message = "; ".join(f"{_path(problem)}: {reason(problem)}" for problem in problems[:5])
        raise ApiError(
            422, "invalid_request", message, "Correct the named fields.", f"$.{_path(problems[0])}"
        ) from None


def flow_of(document: object, where: str = "$", nodes: int = NODES) -> Flow:
    """The flow in a part of a request.

    Args:
        document: a Langflow export, or bare nodes and edges.
        where: the JSON path of that part.
        nodes: how many components it may have.

    Raises:
        ApiError: 422, naming the place.
    """
    try:
        flow = Flow.from_json(document)
    except FlowFormatError as error:
        place = where + error.path.removeprefix("$")
        raise ApiError(422, "invalid_flow", f"This is not a flow: {place} {error.message}.", error.fix, place) from None

    if len(flow.nodes) > nodes or len(flow.edges) > EDGES:
        message = f"The flow has more than {nodes:,} components or {EDGES:,} connections."
        raise ApiError(422, "flow_too_large", message, "Split it into several flows.", where)
    return flow


def _path(problem: ErrorDetails) -> str:
    return ".".join(str(step) for step in problem["loc"]) or "body"
