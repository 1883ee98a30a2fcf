"""Reads the error bodies of providers: their codes, their messages, and the innermost cause, safe to show."""

import re
import socket
import ssl
from collections.abc import Iterator

from pydantic_ai import exceptions as ai
from pydantic_core import from_json

from flows.fields.secrets import redact
from flows.json_values import Json
from runtime.failures import scrub

DEPTH = 8
"""How deep an error body is read; gateways wrap one provider's body in another's."""

SHOWN = 300
"""Characters of a cause that are shown."""

_INNER = (
    *("error", "Error", "errors", "detail", "details", "metadata", "raw", "innererror", "cause", "message", "body"),
    "violations",
)
_MESSAGES = ("message", "Message", "msg", "detail", "error", "raw", "error_description")
_CODES = ("code", "Code", "type", "status", "reason", "__type", "quotaId")
_MASKED = re.compile(r"[\w-]*\*{3,}[\w-]*|\b(?=[\w-]*[0-9])(?=[\w-]*[A-Za-z])[A-Za-z0-9_-]{36,}\b")

_NETWORK: tuple[tuple[type[BaseException], str], ...] = (
    (ssl.SSLCertVerificationError, "Its certificate cannot be verified."),
    (ssl.SSLError, "A secure connection could not be established."),
    (socket.gaierror, "Its name cannot be found."),
    (ConnectionRefusedError, "Nothing listens at its address."),
    (ConnectionResetError, "The connection was cut."),
    (TimeoutError, "It does not answer in time."),
)


def body_of(failure: Exception) -> Json:
    """The error body of a failure, or None; plain text becomes its message."""
    body = failure.body if isinstance(failure, ai.ModelAPIError) else None
    if not isinstance(body, str):
        return body  # pyright: ignore[reportReturnType]  (an SDK's JSON)
    parsed = _parsed(body)
    return {"message": parsed} if isinstance(parsed, str) and not parsed.lstrip().startswith("<") else parsed


def body_text(failure: Exception) -> str:
    """The codes and messages of a failure's body in lower case, without other parts that may echo the request."""
    return "\n".join([text for _, text in _messages(body_of(failure), 0)] + list(_codes(body_of(failure), 0))).lower()


def innermost_cause(failure: Exception) -> str:
    """The innermost cause in the words of the provider or the network, without secrets; empty if there is none."""
    if isinstance(failure, ai.ModelConnectionError):
        return _network(failure)
    found = [(depth, text) for depth, text in _messages(body_of(failure), 0) if text.strip()]
    if not found:
        return ""
    inner = max(depth for depth, _ in found)
    return redacted(next(text for depth, text in found if depth == inner))


def redacted(text: str) -> str:
    """A provider's message without secrets, local paths and line breaks, shortened."""
    plain = " ".join(str(redact(scrub(text))).split())
    plain = _MASKED.sub("***", plain)
    return plain if len(plain) <= SHOWN else f"{plain[:SHOWN]}…"


def _network(failure: BaseException) -> str:
    chain: list[BaseException] = []
    step: BaseException | None = failure
    while step is not None and step not in chain and len(chain) < DEPTH * 2:
        chain.append(step)
        step = step.__cause__ or step.__context__
    for raised in reversed(chain):
        for kind, words in _NETWORK:
            if isinstance(raised, kind):
                return words
    return ""


def _messages(value: Json, depth: int) -> Iterator[tuple[int, str]]:
    """The messages in a body with their depths, outer ones first."""
    if depth > DEPTH:
        return
    if isinstance(value, list):
        for item in value[:DEPTH]:
            yield from _messages(item, depth)
    if not isinstance(value, dict):
        return
    for name in _MESSAGES:
        text = value.get(name)
        if isinstance(text, str):
            inner = _parsed(text)
            if isinstance(inner, dict | list):
                yield from _messages(inner, depth + 1)
            else:
                yield depth, text
    for name in _INNER:
        inner = value.get(name)
        if isinstance(inner, dict | list):
            yield from _messages(inner, depth + 1)


def _codes(value: Json, depth: int) -> Iterator[str]:
    if depth > DEPTH:
        return
    if isinstance(value, list):
        for item in value[:DEPTH]:
            yield from _codes(item, depth)
    if isinstance(value, dict):
        yield from (str(code) for code in (value.get(name) for name in _CODES) if isinstance(code, str | int))
        for name in _INNER:
            inner = value.get(name)
            yield from _codes(_parsed(inner) if isinstance(inner, str) else inner, depth + 1)


def _parsed(text: str) -> Json:
    """The JSON in a text, wherever it begins; the text itself if there is none."""
    start = min((at for at in (text.find("{"), text.find("[{")) if at >= 0), default=-1)
    if start < 0:
        return text
    try:
        parsed: Json = from_json(text[start : text.rfind("]" if text[start] == "[" else "}") + 1])
    except ValueError:
        return text
    return parsed if isinstance(parsed, dict | list) else text
