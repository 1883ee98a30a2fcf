"""cURL commands: how a pasted command fills the other fields of an HTTP request, as the engine's refresh does.

Where the engine misreads a command (data without a method, credentials, long options), this does what cURL would.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Mapping
from getopt import GetoptError, gnu_getopt

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
_SHORT = "X:H:d:u:A:b:e:o:m:w:GksSLivfgN#46"
_LONG = (
    *("request=", "url=", "header=", "user=", "user-agent=", "cookie=", "referer=", "get"),
    *(f"{option[2:]}=" for option in sorted(_DATA) if option.startswith("--")),
    # Options that do not change the request:
    *("insecure", "silent", "show-error", "location", "include", "verbose", "fail", "globoff", "no-buffer"),
    *("progress-bar", "compressed", "http1.1", "http2"),
    *("output=", "max-time=", "connect-timeout=", "retry=", "write-out="),
)


def curl_changes(node: Node, name: str) -> tuple[NodeChange, ...]:
    """Return what the command in a node changes in its other fields, after `name` was set.

    Nothing, unless the node accepts a command, is in cURL mode and has one.

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
        raise FieldValueError("bad_value", "has an unclosed quote", _FIX) from None
    if not words or words[0].rpartition("/")[2].removesuffix(".exe") != "curl":
        raise FieldValueError("bad_value", "is not a cURL command", _FIX)
    try:
        options, addresses = gnu_getopt(words[1:], _SHORT, _LONG)
    except GetoptError as error:
        option = f"{'-' if len(error.opt) == 1 else '--'}{error.opt}"
        what = f"ends after {option}" if "requires" in error.msg else f"has an unsupported option: {option}"
        raise FieldValueError("bad_value", what, _FIX) from None
    url = (addresses or [value for option, value in options if option == "--url"] or [""])[-1]
    if not url:
        raise FieldValueError("bad_value", "has no URL", _FIX)
    url = url if re.match(r"https?://", url, re.IGNORECASE) else f"https://{url}"
    data = [_data(option, value) for option, value in options if option in _DATA]
    method = next((value.upper() for option, value in reversed(options) if option in ("-X", "--request")), "")
    if data and any(option in ("-G", "--get") for option, _ in options):
        url += ("&" if "?" in url else "?") + "&".join(data)
        data = []
    headers: list[Json] = [{"key": key, "value": value} for key, value in _headers(options).items()]
    body = _rows("&".join(data))
    return {"url_input": url, "method": method or ("POST" if data else "GET"), "headers": headers, "body": body}


def _data(option: str, value: str) -> str:
    if value.startswith("@") and option != "--data-raw":
        raise FieldValueError("bad_value", "sends a file, which the component cannot", "Write the data itself.")
    return value


def _headers(options: list[tuple[str, str]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for option, value in options:
        if option in ("-H", "--header"):
            key, _, content = value.partition(":")
            headers[key.strip()] = content.strip()
        elif option in _HEADERS:
            headers[_HEADERS[option]] = value
        elif option in ("-u", "--user"):
            headers["Authorization"] = f"Basic {base64.b64encode(value.encode()).decode()}"
        elif option == "--json":
            headers.setdefault("Content-Type", "application/json")
    return headers


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
