"""The token check: nothing but health checks and static files is answered without the token or a signed-in browser."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from server.auth import SIGN_IN_PATH, Access, cookie_name
from server.json_response import JsonResponse

OPEN_PATHS: Final = frozenset({"/", "/healthz", "/readyz", SIGN_IN_PATH})
"""What is read without the token: health checks, the page, and signing in, which has a code of its own."""

_READS: Final = frozenset({"GET", "HEAD"})
_POLICY_VIOLATION: Final = 1008


class TokenCheck:
    """ASGI middleware that refuses requests without the token; stands before the route table.

    Args:
        app: the application that gets the requests that pass.
        access: knows the token and the signed-in browsers.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        method = scope["method"] if scope["type"] == "http" else "CONNECT"
        refusal = self._refusal(method, scope)
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await refusal(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})

    def _refusal(self, method: str, scope: Scope) -> JsonResponse | None:
        """The response that refuses a request, or None when it may pass."""
        if method in _READS and scope["path"] in OPEN_PATHS:
            return None
        headers = Headers(scope=scope)
        given = headers.getlist("authorization")
        if given:
            known = len(given) == 1 and self._access.knows(bearer(given[0]))
            return None if known else _no_token(headers, given=True)
        session = session_of(scope)
        foreign = headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}
        if session is None or foreign or not self._access.has_session(session):
            return _no_token(headers, given=False)
        if method in _READS or headers.get("origin", "").lower() == f"http://{headers.get('host', '').lower()}":
            return None
        return _foreign_change(headers)


def bearer(header: str) -> bytes:
    """The token of an `Authorization` header; empty for any other scheme."""
    scheme, _, token = header.strip().partition(" ")
    return token.strip().encode("latin-1") if scheme.lower() == "bearer" else b""


def session_of(scope: Scope) -> str | None:
    """The session that a request's cookie names."""
    cookies = SimpleCookie()
    try:
        cookies.load(Headers(scope=scope).get("cookie", ""))
    except CookieError:
        return None
    found = cookies.get(cookie_name(port_of(scope)))
    return None if found is None else found.value


def port_of(scope: Scope) -> int:
    """The port at which a request arrived."""
    server: tuple[str, int | None] | None = scope.get("server")
    return 0 if server is None else server[1] or 0


def _no_token(headers: Headers, *, given: bool) -> JsonResponse:
    message = "The token of this request is not the one of this server." if given else "This request has no token."
    fix = (
        "Send the header `Authorization: Bearer TOKEN`; `wirewright token` prints the token, and "
        "`wirewright token --link` a link that signs a browser in."
    )
    error = {"code": "unauthorized", "message": message, "fix": fix, "where": None}
    challenge = 'Bearer error="invalid_token"' if given else "Bearer"
    return JsonResponse({"error": error}, 401, {"WWW-Authenticate": challenge, **_closing(headers)})


def _foreign_change(headers: Headers) -> JsonResponse:
    message = "A signed-in browser may change something from the server's own page only."
    fix = "Use the server's own address, or send the token in the header Authorization."
    error = {"code": "forbidden_origin", "message": message, "fix": fix, "where": None}
    return JsonResponse({"error": error}, 403, _closing(headers))


def _closing(headers: Headers) -> dict[str, str]:
    # A client that expects `100 Continue` may omit its body, and then its next request would be read as that body.
    return {"Connection": "close"} if headers.get("expect", "").lower() == "100-continue" else {}
