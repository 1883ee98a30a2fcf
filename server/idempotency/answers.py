"""Answers as they are kept for a repeated request."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Final, cast

from starlette.types import Message

LIMIT: Final = 256 * 1024
"""Bytes of an answer that is kept."""

_KEPT_HEADERS: Final = frozenset({b"content-type", b"location", b"etag", b"content-disposition", b"wirewright-turn"})
STREAM: Final = "text/event-stream"


@dataclass(frozen=True)
class Answer:
    """An answer.

    Attributes:
        status: its HTTP status.
        headers: those that belong to it.
        body: its bytes.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @classmethod
    def of(cls, start: Message, body: bytes) -> Answer:
        """The answer of an ASGI application.

        Args:
            start: its first message.
            body: its whole body.
        """
        headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in start.get("headers", ())
            if name.lower() in _KEPT_HEADERS
        )
        return cls(start["status"], headers, body)

    def to_text(self) -> str:
        """The answer as text."""
        body = base64.b64encode(self.body).decode()
        return json.dumps({"status": self.status, "headers": self.headers, "body": body})

    @classmethod
    def from_text(cls, text: str) -> Answer:
        """The answer that `to_text` wrote."""
        read = json.loads(text)
        headers = tuple((str(name), str(value)) for name, value in cast("list[list[str]]", read["headers"]))
        return cls(int(read["status"]), headers, base64.b64decode(read["body"]))


def header_of(start: Message, name: str) -> str:
    """A header of an answer; empty when it has none of this name.

    Args:
        start: the first message of the answer.
        name: the header.
    """
    wanted = name.lower().encode("latin-1")
    found = (value for key, value in start.get("headers", ()) if key.lower() == wanted)
    return next((value.decode("latin-1") for value in found), "")
