"""What a Langflow server, or the way to it, refuses: as errors with a remedy."""

from __future__ import annotations

import json
import ssl
from collections.abc import Generator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import ValidationError

from flows.document import Json
from flows.fields.keys import without_keys
from flows.json_values import as_object, as_text
from runtime.egress.outgoing import AddressRefused
from runtime.gateway.limits.responses import BodyTooLarge, BodyUnreadable
from runtime.langflow.addresses import refused_address
from runtime.langflow.connections import Connection
from runtime.langflow.errors import LangflowError

E = TypeVar("E", bound=BaseException)

_SHOWN: Final = 300
"""Characters of the server's own words that are shown."""
_CONFLICT: Final = "flow_version_conflict"
_AGAIN: Final = "Read it again, repeat the change on it, and send that."


@contextmanager
def failures(connection: Connection) -> Generator[None]:
    """Turn what fails on the way to a server into errors.

    Args:
        connection: the server.

    Raises:
        LangflowError: it cannot be reached, is too slow, answers too much or something that is not Langflow's.
    """
    url = connection.url
    try:
        yield
    except httpx.ConnectError as failure:
        if _cause(failure, AddressRefused) is not None:
            raise refused_address(urlsplit(url).hostname or "") from None
        wrong = _cause(failure, ssl.SSLCertVerificationError)
        if wrong is None:
            raise _unreachable(url) from None
        message = f"The certificate of {url} cannot be trusted: {wrong.verify_message}."
        fix = "Correct the certificate, or name its authority's file in SSL_CERT_FILE."
        raise LangflowError("bad_certificate", message, fix) from None
    except httpx.ConnectTimeout:
        raise _unreachable(url) from None
    except (httpx.TimeoutException, TimeoutError):
        raise LangflowError("langflow_timeout", f"{url} takes too long to answer.", "Try again later.") from None
    except (BodyTooLarge, BodyUnreadable):
        message = f"{url} answers more than is read of one answer, or something that cannot be unpacked."
        raise LangflowError("answer_too_large", message, "Make the flow smaller there.") from None
    except (httpx.TransportError, httpx.DecodingError):
        raise LangflowError("connection_lost", f"The connection to {url} was lost.", "Try again.") from None
    except (ValidationError, httpx.InvalidURL):
        raise not_langflow(url) from None


def refused(connection: Connection, response: httpx.Response, what: str) -> LangflowError:
    """The error for an answer of 300 or more.

    Args:
        connection: the server.
        response: the answer, which was read.
        what: what was asked for, such as `the flow "Echo"`.
    """
    url, status = connection.url, response.status_code
    detail = _detail(response)
    words = _words(detail, connection)
    server_error = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    if response.is_redirect or status < HTTPStatus.BAD_REQUEST:
        return LangflowError(
            "langflow_redirects",
            f"{url} sends requests on to another address{_named(response)}; the key was not sent there.",
            "Connect the address itself.",
        )
    if status == HTTPStatus.UNAUTHORIZED or (status == HTTPStatus.FORBIDDEN and "api key" in words.lower()):
        fix = f"Connect it with another key: wirewright langflow connect {url} --name {connection.name}"
        return LangflowError("key_refused", f"{url} does not take the key of {connection.name!r}.", fix)
    if detail is None and not server_error:
        return not_langflow(url, status)
    if status == HTTPStatus.LOCKED:
        return LangflowError("flow_locked", f"{what} is locked at {url}; nothing was changed.", "Unlock it there.")
    if status == HTTPStatus.FORBIDDEN:
        return LangflowError("not_allowed", f"{url} does not allow this: {words or what}.", "Ask who runs it.")
    if status == HTTPStatus.NOT_FOUND:
        fix = "It was removed there, or is another user's. `wirewright langflow flows` lists those of the key's user."
        return LangflowError("flow_not_there", f"{url} does not have {what}.", fix)
    if as_text(as_object(detail).get("code")) == _CONFLICT or status == HTTPStatus.PRECONDITION_FAILED:
        return LangflowError("flow_moved_on", f"{what} was changed at {url} meanwhile; nothing was sent.", _AGAIN)
    if "unique" in words.lower():
        return LangflowError("name_taken", f"{url} has another flow of this name already.", "Give it another name.")
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        return LangflowError("langflow_busy", f"{url} is busy ({status}).", "Try again later.")
    if server_error:
        told = f": {words}" if words else ""
        return LangflowError("langflow_failed", f"{url} failed ({status}){told}", "Its log says why.")
    message = f"{url} refuses this ({status}): {words or what}"
    return LangflowError("langflow_refused", message, "Correct what it names.")


def not_langflow(url: str, status: int | None = None) -> LangflowError:
    """The error for an answer that no Langflow gives.

    Args:
        url: the address.
        status: its status, if that is of interest.
    """
    answered = "" if status is None else f" ({status})"
    fix = "Check the address: it is the one under which Langflow is opened in the browser, without a page."
    return LangflowError("not_langflow", f"{url} does not answer as Langflow{answered}.", fix)


def _unreachable(url: str) -> LangflowError:
    fix = "Check the address, and that Langflow is running."
    return LangflowError("langflow_unreachable", f"{url} cannot be reached.", fix)


def _cause(failure: BaseException, kind: type[E]) -> E | None:
    """What of a kind a failure comes from."""
    cause: BaseException | None = failure
    while cause is not None:
        if isinstance(cause, kind):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def _detail(response: httpx.Response) -> Json:
    """What the server says is wrong; None for an answer that is not of its form."""
    try:
        found: Json = json.loads(response.content)
    except (ValueError, RecursionError):
        return None
    return as_object(found).get("detail", as_object(found).get("message"))


def _words(detail: Json, connection: Connection) -> str:
    """The server's own words, as one short line without keys."""
    said = detail if isinstance(detail, str) else as_text(as_object(detail).get("message"))
    plain = "".join(letter if letter.isprintable() else " " for letter in said.replace(connection.key, ""))
    return " ".join(without_keys(plain).split())[:_SHOWN]


def _named(response: httpx.Response) -> str:
    """The host of a redirection, in words."""
    try:
        host = urlsplit(str(response.headers.get("location", ""))).hostname
    except ValueError:
        return ""
    return f" ({host[:100]})" if host and host.isprintable() else ""
