"""Signing a browser in with a one-time link, and out again."""

from __future__ import annotations

from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from server.auth import SESSION_SECONDS, SIGN_IN_PATH, Access, cookie_name
from server.errors import ApiError
from server.middleware.token_check import port_of, session_of


class SignIn(HTTPEndpoint):
    """The session of a browser."""

    async def get(self, request: Request) -> Response:
        """Sign in with the code of the link, and go on to the page; the code is valid once."""
        if request.method == "HEAD":  # a preview of the link must not use its code
            return Response()
        session = _access(request).sign_in(request.query_params.get("code", ""))
        if session is None:
            fix = "`wirewright token --link` prints another one."
            raise ApiError(403, "code_invalid", "This sign-in link was used before, or is too old.", fix)
        reply = RedirectResponse("/", 303)
        name = cookie_name(port_of(request.scope))
        reply.set_cookie(name, session, max_age=SESSION_SECONDS, httponly=True, samesite="strict")
        return reply

    async def delete(self, request: Request) -> Response:
        """Sign out."""
        session = session_of(request.scope)
        if session is not None:
            _access(request).sign_out(session)
        reply = Response(status_code=204)
        reply.delete_cookie(cookie_name(port_of(request.scope)), httponly=True, samesite="strict")
        return reply


def _access(request: Request) -> Access:
    return request.app.state.access


routes = [Route(SIGN_IN_PATH, SignIn)]
