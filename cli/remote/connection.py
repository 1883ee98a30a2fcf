"""Requests to a server, with its token and typed answers."""

from __future__ import annotations

import ssl
from collections.abc import Collection, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, TypeAdapter

from cli.remote.failures import failures, refused

T = TypeVar("T")

SECONDS: Final = 30.0
"""How long a server may be silent."""


class Server:
    """A server, and the token that it takes. Redirections are not followed: the token goes to this origin alone.

    Args:
        origin: its scheme, host and port.
        token: what requests carry.
        from_environment: whether the token came from the environment.
    """

    def __init__(self, origin: str, token: str, *, from_environment: bool = False) -> None:
        self.origin = origin
        self._from_environment = from_environment
        self._options: dict[str, Any] = {
            "base_url": origin,
            "headers": {"Authorization": f"Bearer {token}", "User-Agent": "wirewright"},
            "timeout": SECONDS,
            "verify": _trusted(origin),
            "trust_env": False,  # neither a proxy nor a .netrc may see or replace the token
            "follow_redirects": False,
        }

    def client(self) -> httpx.AsyncClient:
        """A client for streams, which its caller closes."""
        return httpx.AsyncClient(**self._options)

    def send(self, method: str, path: str, *, also: Collection[int] = (), **more: Any) -> httpx.Response:
        """Send a request; returns the reply, which was read.

        Args:
            method: the HTTP method.
            path: below the origin.
            also: statuses that are answers like those below 300.
            more: what httpx's `request` takes.

        Raises:
            CommandError: the server refuses it, or cannot be reached.
        """
        with failures(self.origin), httpx.Client(**self._options) as client:
            response = client.request(method, path, **more)
        if response.status_code >= httpx.codes.MULTIPLE_CHOICES and response.status_code not in also:
            raise self.refusal(response)
        return response

    def refusal(self, response: httpx.Response) -> Exception:
        """The error for a reply of 300 or more, which was read."""
        return refused(response, self.origin, from_environment=self._from_environment)

    def read(self, kind: type[T], path: str, query: Mapping[str, str | int] | None = None) -> T:
        """Read a document.

        Args:
            kind: its type.
            path: below the origin.
            query: parameters.
        """
        return self.typed(kind, self.send("GET", path, params=dict(query or {})))

    def change(
        self, kind: type[T], method: str, path: str, body: BaseModel | Mapping[str, Any] | None = None, **more: Any
    ) -> T:
        """Send a document, and read the reply.

        Args:
            kind: the type of the reply.
            method: the HTTP method.
            path: below the origin.
            body: the document.
            more: what httpx's `request` takes.
        """
        sent = body.model_dump(mode="json", exclude_none=True) if isinstance(body, BaseModel) else body
        return self.typed(kind, self.send(method, path, json=sent, **more))

    def typed(self, kind: type[T], response: httpx.Response) -> T:
        """The document in a reply."""
        with failures(self.origin):
            return TypeAdapter(kind).validate_json(response.content)


def segment(name: str) -> str:
    """A name as one part of a path."""
    return quote(name, safe="")


def _trusted(origin: str) -> ssl.SSLContext | bool:
    """The authorities of certificates: httpx's or those of SSL_CERT_FILE, and the system's."""
    if not origin.startswith("https:"):
        return True
    context = httpx.create_ssl_context(trust_env=True)
    context.load_default_certs()
    return context
