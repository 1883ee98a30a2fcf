"""Host and origin checks, and the security headers of every response.

A server that executes flows must not be driven by a web page that happens to be open on the same machine: host names
that the server does not have are refused (DNS rebinding), and so are changes requested by pages of other origins,
unless the operator names them.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.error_body import error_json
from server.json_response import JsonResponse
from server.settings import is_loopback

SECURITY_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}
"""On every response."""

PAGE_PATH: Final = "/"
PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; "  # the canvas places its nodes by styles of elements
    "img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What the page may load: what this server serves, and nothing else."""

_POLICY: Final = b"content-security-policy"
_SECURED = {name.lower().encode(): value.encode() for name, value in SECURITY_HEADERS.items()}
_CACHE = (b"cache-control", b"no-store")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?", re.ASCII | re.IGNORECASE)
_LAST_PORT = 65_535

_READS = frozenset({"GET", "HEAD", "OPTIONS"})


class HostCheck:
    """ASGI middleware that refuses foreign hosts and origins and adds the security headers.

    Args:
        app: the application that gets the requests that pass.
        names: the names and addresses of the server, in lower case, beside those of this machine.
        origins: the origins whose pages may use it, in lower case.
    """

    def __init__(self, app: ASGIApp, names: Collection[str] = (), origins: Collection[str] = ()) -> None:
        self._app = app
        self._names = frozenset(names)
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = with_security_headers(message.get("headers", ()), scope["path"])
            await send(message)

        refusal = refusal_of(scope["method"], Headers(scope=scope), self._names, self._origins)
        await (refusal or self._app)(scope, receive, secured)


def with_security_headers(headers: Iterable[tuple[bytes, bytes]], path: str = "") -> list[tuple[bytes, bytes]]:
    """The headers of a response with those of every response, which replace its own; an own Cache-Control stays.

    Args:
        headers: pairs of a name in lower case and a value, as ASGI has them.
        path: what was asked for: the page alone may run scripts.
    """
    kept = [pair for pair in headers if pair[0] not in _SECURED]
    cached = any(name == _CACHE[0] for name, _ in kept)
    secured = {**_SECURED, _POLICY: PAGE_POLICY.encode()} if path == PAGE_PATH else _SECURED
    return [*kept, *secured.items(), *(() if cached else (_CACHE,))]


def refusal_of(
    method: str, headers: Headers, names: Collection[str] = (), origins: Collection[str] = ()
) -> JsonResponse | None:
    """The response that refuses a request, or None when it may pass.

    Args:
        method: the HTTP method.
        headers: the request's headers.
        names: the names and addresses of the server, beside those of this machine.
        origins: the origins whose pages may use it.
    """
    host = headers.get("host", "")
    name = _name(host)
    if not is_loopback(name) and name.rstrip(".") not in names:
        return _refusal(
            "forbidden_host",
            "This server answers only to its own names."
            if names
            else "This server answers only to the names of this machine.",
            "Use one of its names." if names else "Use 127.0.0.1 or localhost.",
        )
    origin = headers.get("origin")
    if method in _READS or (origin is not None and origin.lower() in origins):
        return None
    foreign = origin is not None and _netloc(origin) != host.lower()
    if foreign or headers.get("sec-fetch-site") in {"cross-site", "same-site"}:
        return _refusal(
            "forbidden_origin",
            "Pages of other origins may not use this server.",
            "Use the server's own address.",
        )
    return None


def _netloc(origin: str) -> str | None:
    """The host and port of an `Origin` header in lower case; None when it cannot be read."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _name(host: str) -> str:
    """The host of a `Host` header, without port and brackets; empty when it is not one host with at most a port."""
    found = _HOST.fullmatch(host)
    if found is None or int(found[2] or 0) > _LAST_PORT:
        return ""
    return found[1].strip("[]").lower()


def _refusal(code: str, message: str, fix: str) -> JsonResponse:
    return JsonResponse(error_json(code, message, fix), 403)
