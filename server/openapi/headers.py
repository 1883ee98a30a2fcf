"""The headers of the API as OpenAPI describes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agent.contract.requests import AGENT_HEADER, TURN_HEADER
from server.idempotency.check import HEADER as KEY
from server.idempotency.check import REPLAYED
from server.middleware.request_id import HEADER as REQUEST_ID
from server.routes.turns import LAST_EVENT

IF_MATCH: Final = "If-Match"
LAST_EVENT_ID: Final = "Last-Event-ID"

_TEXT: Final[Mapping[str, Any]] = {"type": "string"}

REQUEST: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    REQUEST_ID: (
        "The id of the request; one is made if it is missing or is none.",
        {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$"},
    ),
    KEY: (
        "A key of the client's own: within 24 hours the same request with the same key is done once.",
        {"type": "string", "pattern": "^[!-~]{1,255}$"},
    ),
    IF_MATCH: ("The version that the change is based on; takes precedence over `version` in the body.", _TEXT),
    LAST_EVENT_ID: (
        "The id of the event that the client got last: the turn's id, a dot and the event's number.",
        {"type": "string", "pattern": r"^([A-Za-z0-9_-]{1,64}\.)?[0-9]{1,9}$"},
    ),
}
"""What they mean, and their schemas, by name."""

RESPONSE: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    REQUEST_ID: ("The id of the request.", _TEXT),
    "ETag": ("The version that is stored, in quotes.", _TEXT),
    "Location": ("Where it is now.", _TEXT),
    "Retry-After": ("Seconds after which the request may be sent again.", {"type": "string", "pattern": "^[0-9]+$"}),
    "WWW-Authenticate": ("The scheme of the token.", _TEXT),
    "Allow": ("The methods that this address supports.", _TEXT),
    "Content-Disposition": ("The name of the file.", _TEXT),
    "Set-Cookie": ("The session of the browser.", _TEXT),
    TURN_HEADER: ("The id of the turn.", _TEXT),
    AGENT_HEADER: ("The agent and its version.", _TEXT),
    REPLAYED: ("`true` when the answer is that of an earlier request with the same key.", _TEXT),
}
"""What they mean, and their schemas, by name."""


def parameters() -> dict[str, Any]:
    """The headers of requests as `components/parameters`."""
    return {
        name: {"name": name, "in": "header", "description": text, "schema": dict(schema)}
        for name, (text, schema) in REQUEST.items()
    }


def headers() -> dict[str, Any]:
    """The headers of responses as `components/headers`."""
    return {name: {"description": text, "schema": dict(schema)} for name, (text, schema) in RESPONSE.items()}


def taken(names: tuple[str, ...]) -> list[str]:
    """The names of headers as they are written here."""
    return [LAST_EVENT_ID if name == LAST_EVENT else name for name in names]
