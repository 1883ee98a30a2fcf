"""cURL commands: what a request's other fields become when one is pasted into it, as the engine refreshes them.

The engine itself reads most commands; where it misreads one (data without a method, credentials, long options), what
cURL would do counts here.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from flows.actions import NodeChange, field_path
from flows.document import Node
from flows.fields.values import FieldValueError
from flows.json_values import Json, JsonObject, as_object, same_json, texts

COMMAND = "curl_input"
_FILLED = ("url_input", "method", "headers", "body")
_FIX = "Write it as: curl -X POST https://example.com/path -H 'Name: value' -d '{\"key\": \"value\"}'."
_DATA = frozenset({"-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json"})
_HEADERS = {
    **dict.fromkeys(("-A", "--user-agent"), "User-Agent"),
    **dict.fromkeys(("-b", "--cookie"), "Cookie"),
    **dict.fromkeys(("-e", "--referer"), "Referer"),
}
_BARE = (
    "-k",
    "-s",
    "-S",
    "-L",
    "-i",
    "-v",
    "-f",
    "-g",
    "-N",
    "-#",
    "-4",
    "-6",
    "--insecure",
    "--silent",
    "--show-error",
)
_BARE_LONG = ("--location", "--include", "--verbose", "--fail", "--globoff", "--no-buffer", "--progress-bar")
_IGNORED = frozenset((*_BARE, *_BARE_LONG, "--compressed", "--http1.1", "--http2"))
_IGNORED_WITH_VALUE = frozenset(
    ("-o", "--output", "-m", "--max-time", "--connect-timeout", "--retry", "-w", "--write-out")
)
_JOINED = re.compile(r"-[XHdAbeuom](?P<value>.+)", re.DOTALL)


@dataclass
class _Request:
    """What a command asks for."""

    url: str = ""
    method: str = ""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    data: list[str] = field(default_factory=list[str])
    as_query: bool = False


def curl_changes(node: Node, name: str) -> tuple[NodeChange, ...]:
    """Return what the command in a node changes in its other fields, after `name` was set.

    Nothing, unless the node takes a command, is in cURL mode and has one.

    Raises:
        FieldValueError: the command is not understood.
    """
    command = node.value(COMMAND)
    ready = name in ("mode", COMMAND) and node.value("mode") == "cURL" and isinstance(command, str) and command.strip()
    if not ready or any(node.field(other) is None for other in _FILLED):
        return ()
    values = curl_values(str(command))
    methods = texts(as_object(node.field("method")).get("options"))
    if methods and values["method"] not in methods:
        raise FieldValueError("bad_value", f"asks for {values['method']}", f"Use one of {', '.join(methods)}.")
    return tuple(
        NodeChange((*field_path(other), "value"), node.value(other), value)
        for other, value in values.items()
        if not same_json(node.value(other), value)
    )


def curl_values(command: str) -> JsonObject:
    """Return the fields of a request by name: `url_input`, `method`, `headers` and `body`, the last two as rows.

    Raises:
        FieldValueError: the command is not understood.
    """
    try:
        words = [word for word in shlex.split(re.sub(r"\\\r?\n", " ", command.strip())) if word.strip()]
    except ValueError:
        raise FieldValueError("bad_value", "has a quote that is not closed", _FIX) from None
    if not words or words[0].rpartition("/")[2].removesuffix(".exe") != "curl":
        raise FieldValueError("bad_value", "is no cURL command", _FIX)
    request = _request(words[1:])
    if not request.url:
        raise FieldValueError("bad_value", "names no address", _FIX)
    url = request.url if re.match(r"https?://", request.url, re.IGNORECASE) else f"https://{request.url}"
    if request.as_query and request.data:
        url += ("&" if "?" in url else "?") + "&".join(request.data)
        request.data = []
    headers: list[Json] = [{"key": key, "value": value} for key, value in request.headers.items()]
    method = request.method or ("POST" if request.data else "GET")
    return {"url_input": url, "method": method, "headers": headers, "body": _rows("&".join(request.data))}


def _request(words: list[str]) -> _Request:
    request, left = _Request(), list(words)
    while left:
        word = left.pop(0)
        joined = _JOINED.fullmatch(word)
        if joined is not None and not word.startswith("--"):
            left.insert(0, joined["value"])
            word = word[:2]
        elif word.startswith("--") and "=" in word:
            word, _, value = word.partition("=")
            left.insert(0, value)
        if not word.startswith("-"):
            request.url = word
        elif word in _IGNORED or _is_bundle(word):
            continue
        elif word in ("-G", "--get"):
            request.as_query = True
        elif not left:
            raise FieldValueError("bad_value", f"ends after {word}, or does not know it", _FIX)
        else:
            _option(request, word, left.pop(0))
    return request


def _is_bundle(word: str) -> bool:
    return len(word) > 2 and word[1] != "-" and all(f"-{letter}" in _IGNORED for letter in word[1:])


def _option(request: _Request, word: str, value: str) -> None:
    if word in ("-X", "--request"):
        request.method = value.upper()
    elif word == "--url":
        request.url = value
    elif word in ("-H", "--header"):
        key, _, content = value.partition(":")
        request.headers[key.strip()] = content.strip()
    elif word in _HEADERS:
        request.headers[_HEADERS[word]] = value
    elif word in ("-u", "--user"):
        told = base64.b64encode(value.encode()).decode()
        request.headers["Authorization"] = f"Basic {told}"
    elif word in _DATA:
        if value.startswith("@") and word != "--data-raw":
            raise FieldValueError("bad_value", "sends a file, which the component cannot", "Write the data itself.")
        request.data.append(value)
        if word == "--json":
            request.headers.setdefault("Content-Type", "application/json")
    elif word not in _IGNORED_WITH_VALUE:
        raise FieldValueError("bad_value", f"has an option that is not known here: {word}", _FIX)


def _rows(data: str) -> list[Json]:
    if not data:
        return []
    try:
        parsed: Json = json.loads(data)
    except (ValueError, RecursionError):
        return [{"key": "data", "value": data}]
    if not isinstance(parsed, Mapping):
        return [{"key": "data", "value": json.dumps(parsed)}]
    return [
        {"key": key, "value": json.dumps(value) if isinstance(value, dict | list) else str(value)}
        for key, value in parsed.items()
    ]
