"""What a server, or the way to it, refuses: as errors of a command."""

import ssl
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from cli.errors import CommandError

_SHOWN = 2_000
"""Characters of a server's message that are shown."""

_REMEDIES = {
    "flow_not_found": "wirewright flow list --server {origin} lists the stored flows.",
    "run_not_found": "wirewright runs list --server {origin} shows them.",
    "file_not_found": "wirewright files list --server {origin} shows your files.",
    "variable_not_found": "wirewright variables list --server {origin} shows them.",
    "conversation_not_found": "wirewright conversations list --server {origin} shows them.",
    "template_not_found": "wirewright flow templates --server {origin} lists them.",
    "bundle_not_found": "wirewright bundles list --server {origin} lists them.",
    "job_not_found": "wirewright jobs list --server {origin} lists them.",
    "batch_not_found": "wirewright jobs list --server {origin} lists them.",
    "schedule_not_found": "wirewright flow schedule list --server {origin} lists them.",
    "evaluation_not_found": "wirewright eval results list --server {origin} lists them.",
    "user_not_found": "wirewright users list --server {origin} names them.",
    "name_taken": "Choose another name, or make a new token: wirewright users rotate NAME --server {origin}",
    "session_not_found": "wirewright flow sessions list F --server {origin} lists them.",
    "version_conflict": "Read it again: wirewright flow export F --server {origin}",
}
"""What to do in the terminal, where the server names a request."""

_NO_ROUTE = frozenset({"not_found", "method_not_allowed"})
"""Codes with which a server says that it does not know an address, as those of other versions do."""


class _Problem(BaseModel):
    model_config = ConfigDict(extra="ignore")

    code: str
    message: str
    fix: str = ""
    where: str | None = None
    request_id: str | None = None


class _Body(BaseModel):
    error: _Problem


def refused(response: httpx.Response, origin: str, *, from_environment: bool) -> CommandError:
    """The error for a reply of 300 or more.

    Args:
        response: the reply, which was read.
        origin: the server.
        from_environment: whether the token came from the environment.
    """
    status = response.status_code
    problem = _problem(response)
    if status == HTTPStatus.UNAUTHORIZED:
        fix = (
            "Correct WIREWRIGHT_TOKEN, or leave it out." if from_environment else f"Sign in: wirewright login {origin}"
        )
        return CommandError("not_signed_in", f"{origin} does not take this token.", fix=fix, where="--server")
    if problem is None and status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return _too_large(origin)
    if problem is None:
        return _unreadable(origin, status) if status < HTTPStatus.INTERNAL_SERVER_ERROR else _broken(response, origin)
    if problem.code in _NO_ROUTE:
        return _unreadable(origin, status)
    fix = _REMEDIES.get(problem.code, "").format(origin=origin) or problem.fix
    if status == HTTPStatus.FORBIDDEN and problem.code == "missing_scope":
        fix = f"{fix} Or sign in with another token: wirewright login {origin}".strip()
    if status == HTTPStatus.TOO_MANY_REQUESTS or "retry-after" in response.headers:
        fix = f"{fix} {_wait(response)}".strip()
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR and problem.request_id:
        fix = f"{fix} The server's log has it under the request id {problem.request_id}.".strip()
    return CommandError(problem.code, problem.message[:_SHOWN], fix=fix[:_SHOWN], where=problem.where)


@contextmanager
def failures(origin: str) -> Generator[None]:
    """Turn what fails on the way to a server into errors of a command.

    Raises:
        CommandError: it cannot be reached, its certificate is wrong, it is too slow, or the connection is lost.
    """
    try:
        yield
    except httpx.ConnectError as failure:
        if (wrong := _certificate_error(failure)) is not None:
            message = f"The certificate of {origin} cannot be trusted: {wrong.verify_message}."
            fix = "Correct the certificate, or name its authority's file in SSL_CERT_FILE."
            raise CommandError("bad_certificate", message, fix=fix, where="--server") from None
        if _has(failure, ssl.SSLError):
            message = f"What answers at {origin} does not speak TLS."
            fix = f"Check the port, or write http{origin.removeprefix('https')} where nobody is on the way."
            raise CommandError("no_tls", message, fix=fix, where="--server") from None
        raise unreachable(origin) from None
    except httpx.ConnectTimeout:
        raise unreachable(origin) from None
    except httpx.TimeoutException:
        message = f"{origin} takes too long to answer."
        raise CommandError("server_timeout", message, fix="Try again later.", where="--server") from None
    except (httpx.TransportError, httpx.DecodingError):
        message = f"The connection to {origin} was lost."
        tls = f" If the server takes TLS alone, write https{origin.removeprefix('http')}"
        fix = f"Try again.{tls if origin.startswith('http:') else ''}"
        raise CommandError("connection_lost", message, fix=fix, where="--server") from None
    except ValidationError:
        raise _unreadable(origin) from None


def unreachable(origin: str) -> CommandError:
    """The error for a server that does not answer."""
    fix = "Check the address, and that the server is running."
    return CommandError("server_unreachable", f"{origin} cannot be reached.", fix=fix, where="--server")


def _certificate_error(failure: BaseException) -> ssl.SSLCertVerificationError | None:
    found = (cause for cause in _causes(failure) if isinstance(cause, ssl.SSLCertVerificationError))
    return next(found, None)


def _has(failure: BaseException, kind: type[BaseException]) -> bool:
    return any(isinstance(cause, kind) for cause in _causes(failure))


def _causes(failure: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = failure
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _problem(response: httpx.Response) -> _Problem | None:
    try:
        return _Body.model_validate_json(response.content).error
    except ValidationError:
        return None


def _wait(response: httpx.Response) -> str:
    seconds: Any = response.headers.get("retry-after", "")
    if not seconds.isdecimal():
        return "Try again later."
    return f"Try again in {seconds} {'second' if int(seconds) == 1 else 'seconds'}."


def _broken(response: httpx.Response, origin: str) -> CommandError:
    request = response.headers.get("x-request-id", "")
    fix = f"Its log has it under the request id {request}." if request else "Its log says why."
    return CommandError("server_failed", f"{origin} failed ({response.status_code}).", fix=fix, where="--server")


def _too_large(origin: str) -> CommandError:
    """The error for a request that a proxy refuses for its size, which does not answer as a server of ours."""
    message = f"The request is larger than what is in front of {origin} takes."
    fix = "Send less, or ask the operator for a higher limit of the proxy."
    return CommandError("too_large", message, fix=fix, where="--server")


def _unreadable(origin: str, status: int | None = None) -> CommandError:
    answered = "" if status is None else f" ({status})"
    message = f"{origin} does not answer as a Wirewright server of this version{answered}."
    fix = "Check the address, and that both have the same version: wirewright --version"
    return CommandError("unreadable_answer", message, fix=fix, where="--server")
