"""Signing a browser in with a one-time link or a token, and out again."""

from __future__ import annotations

from pydantic import Field
from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from agent.contract.model import ContractModel
from runtime.database.errors import StoreUnavailable
from server.access.auth import SESSION_SECONDS, SIGN_IN_PATH, Access, cookie_name
from server.errors import ApiError, not_ready
from server.middleware.token_check import address_of, port_of, session_of
from server.requests.body import read_object
from server.requests.operation import operation

BODY_LIMIT = 4_096
"""Bytes of a request that signs in."""


class SignInQuery(ContractModel):
    """The link of a browser that signs in.

    Attributes:
        code: the code of the link, which is valid once.
    """

    code: str = ""


class GivenToken(ContractModel):
    """The token of a user who signs a browser in."""

    token: str = Field(min_length=1)


class SignIn(HTTPEndpoint):
    """The session of a browser."""

    @operation(query=SignInQuery, status=303, headers=("Location", "Set-Cookie"))
    async def get(self, request: Request) -> Response:
        """Sign in with the code of the link, and go on to the page; the code is valid once."""
        if request.method == "HEAD":  # a preview of the link must not use its code
            return Response()
        session = _access(request).sign_in(request.query_params.get("code", ""))
        if session is None:
            fix = "`wirewright token --link` prints another one."
            raise ApiError(403, "code_invalid", "This sign-in link was used before, or is too old.", fix)
        return _signed_in(request, session)

    @operation(body=GivenToken, status=303, headers=("Location", "Set-Cookie"), errors=(429, 503))
    async def post(self, request: Request) -> Response:
        """Sign in with a user's token, from the field `token` of the body."""
        token = (await _given_token(request)).encode("utf-8", "replace")
        try:
            session = await _access(request).sign_in_with(token)
        except StoreUnavailable as failure:
            raise not_ready("store_unavailable", failure.message, failure.fix) from None
        if session is not None:
            return _signed_in(request, session)
        seconds = request.app.state.failures.count(address_of(request.scope))
        if seconds:
            fix, headers = f"Wait {seconds} s.", {"Retry-After": str(seconds)}
            raise ApiError(
                429, "too_many_failures", "Too many wrong tokens came from this address.", fix, None, headers
            )
        fix = "`wirewright users rotate NAME` makes another one, and `wirewright token` prints the first user's."
        raise ApiError(403, "token_invalid", "This token is unknown, revoked or expired.", fix)

    @operation(headers=("Set-Cookie",))
    async def delete(self, request: Request) -> Response:
        """Sign out."""
        session = session_of(request.scope)
        if session is not None:
            _access(request).sign_out(session)
        reply = Response(status_code=204)
        reply.delete_cookie(cookie_name(port_of(request.scope)), httponly=True, samesite="strict")
        return reply


def _signed_in(request: Request, session: str) -> Response:
    reply = RedirectResponse("/", 303)
    secure = request.url.scheme == "https"
    name = cookie_name(port_of(request.scope))
    reply.set_cookie(name, session, max_age=SESSION_SECONDS, httponly=True, samesite="strict", secure=secure)
    return reply


async def _given_token(request: Request) -> str:
    """The token that a browser sends.

    Raises:
        ApiError: the body is too large, or has no token.
    """
    found = (await read_object(request, BODY_LIMIT)).get("token")
    if not isinstance(found, str) or not found.strip():
        raise ApiError(422, "invalid_request", "There is no token.", 'Send {"token": …}.', "$.token")
    return found.strip()


def _access(request: Request) -> Access:
    return request.app.state.access


routes = [Route(SIGN_IN_PATH, SignIn)]
