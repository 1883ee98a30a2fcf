"""The token check: nothing but health checks and static files is answered without a token or a signed-in browser.

It finds the user of each request, who is `request.user` from here on.
"""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from runtime.database.errors import StoreUnavailable
from server.access.auth import HOOKS_FOLDER, SIGN_IN_PATH, Access, cookie_name
from server.access.failed_sign_ins import FailedSignIns
from server.error_body import error_json
from server.json_response import JsonResponse

OPEN_PATHS: Final = frozenset({"/", "/docs", "/healthz", "/icon.svg", "/openapi.json", "/readyz", SIGN_IN_PATH})
"""What is read without the token: health checks, what is the same on every server, and signing in."""

OPEN_FOLDER: Final = "/assets/"
"""The files of the page, which are likewise open."""

RETRY_SECONDS: Final = "5"
_READS: Final = frozenset({"GET", "HEAD"})
_POLICY_VIOLATION: Final = 1008


class TokenCheck:
    """ASGI middleware that refuses requests without the token; stands before the route table.

    Args:
        app: the application that gets the requests that pass.
        access: knows the tokens and the signed-in browsers.
        failures: counts the wrong tokens of each address.
    """

    def __init__(self, app: ASGIApp, access: Access, failures: FailedSignIns) -> None:
        self._app = app
        self._access = access
        self._failures = failures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        method = scope["method"] if scope["type"] == "http" else "CONNECT"
        refusal = await self._refusal(method, scope)
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await refusal(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})

    async def _refusal(self, method: str, scope: Scope) -> JsonResponse | None:
        """The response that refuses a request, or None when it may pass; its user is then in the scope."""
        path: str = scope["path"]
        if method in _READS and (path in OPEN_PATHS or path.startswith(OPEN_FOLDER)):
            return None
        if method == "POST" and (path == SIGN_IN_PATH or path.startswith(HOOKS_FOLDER)):
            return None
        headers = Headers(scope=scope)
        given = headers.getlist("authorization")
        try:
            if given:
                return await self._refusal_of_token(given, scope, headers)
            return await self._refusal_of_session(method, scope, headers)
        except StoreUnavailable as failure:
            error = error_json("store_unavailable", failure.message, failure.fix)
            return JsonResponse(error, 503, {"Retry-After": RETRY_SECONDS, **_closing(headers)})

    async def _refusal_of_token(self, given: list[str], scope: Scope, headers: Headers) -> JsonResponse | None:
        user = await self._access.user_of(bearer(given[0])) if len(given) == 1 else None
        if user is not None:
            scope["user"] = user
            return None
        seconds = self._failures.count(address_of(scope))
        return _no_token(headers, given=True) if not seconds else _too_many(headers, seconds)

    async def _refusal_of_session(self, method: str, scope: Scope, headers: Headers) -> JsonResponse | None:
        session = session_of(scope)
        foreign = headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}
        user = None if session is None or foreign else await self._access.user_of_session(session)
        if user is None:
            return _no_token(headers, given=False)
        scope["user"] = user
        own = f"{scope.get('scheme', 'http')}://{headers.get('host', '').lower()}"
        if method in _READS or headers.get("origin", "").lower() == own:
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


def address_of(scope: Scope) -> str:
    """The address that a request comes from; behind a trusted proxy, the one that the proxy names."""
    client: tuple[str, int] | None = scope.get("client")
    return "" if client is None else client[0]


def _too_many(headers: Headers, seconds: int) -> JsonResponse:
    message = "Too many wrong tokens came from this address."
    fix = f"Wait {seconds} s. A right token is answered all the same."
    error = error_json("too_many_failures", message, fix)
    return JsonResponse(error, 429, {"Retry-After": str(seconds), **_closing(headers)})


def _no_token(headers: Headers, *, given: bool) -> JsonResponse:
    message = "The token of this request is not the one of this server." if given else "This request has no token."
    fix = (
        "Send the header `Authorization: Bearer TOKEN`; `wirewright token` prints the token, and "
        "`wirewright token --link` a link that signs a browser in."
    )
    error = error_json("unauthorized", message, fix)
    challenge = 'Bearer error="invalid_token"' if given else "Bearer"
    return JsonResponse(error, 401, {"WWW-Authenticate": challenge, **_closing(headers)})


def _foreign_change(headers: Headers) -> JsonResponse:
    message = "A signed-in browser may change something from the server's own page only."
    fix = "Use the server's own address, or send the token in the header Authorization."
    return JsonResponse(error_json("forbidden_origin", message, fix), 403, _closing(headers))


def _closing(headers: Headers) -> dict[str, str]:
    # A client that expects `100 Continue` may omit its body, and then its next request would be read as that body.
    return {"Connection": "close"} if headers.get("expect", "").lower() == "100-continue" else {}
