"""The protocol between the engine's processes and their client.

With the template: one JSON document per line in both directions, over a socket that also passes the sockets of runs.
With each run, over a socket of its own: the client writes a line with the policy, which names how many bytes follow of
each file and of the request, and these bytes; the run writes a line that says which parts of its confinement hold, its
events, a line with its result, and the bytes of the files that the result names.
"""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

PROTOCOL = 4
MAX_REQUEST = 32 * 1024 * 1024
"""Bytes of the longest request line that is accepted."""
MAX_RESULT = 32 * 1024 * 1024
"""Bytes of the largest result that a run may return; files come besides."""
MAX_VALUES = 250_000
"""How many lists and objects a result may have: each takes the client up to a hundred times the memory of its text."""
MAX_EVENT = 16 * 1024
"""Bytes of the longest event of a run, as a line."""
MAX_EVENTS = 20_000
MAX_EVENTS_SIZE = 4 * 1024 * 1024
"""How many events of one run, and how many bytes of them, are forwarded; the rest is cut off."""

_TEXT = re.compile(rb'"[^"\\]*+(?:\\(?:.|\Z)[^"\\]*+)*+(?:"|\Z)', re.DOTALL)
"""A text in JSON, ended or not, so that every line is read in one pass."""

Message = dict[str, Any]

# Environment variables that a run gets. None of them can hold a secret; all others are dropped.
PASSED_VARIABLES = frozenset(
    {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"}
)
ENGINE_VARIABLES = {
    "DO_NOT_TRACK": "1",
    "LANGFLOW_DO_NOT_TRACK": "true",
    "LANGFLOW_LOG_LEVEL": "CRITICAL",
    "LANGFLOW_PRETTY_LOGS": "false",
    "ANONYMIZED_TELEMETRY": "false",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


def run_environment(source: dict[str, str], home: str, temporary: str) -> dict[str, str]:
    """The whole environment of a run: the allowed variables of `source`, and its private folders."""
    kept = {name: value for name, value in source.items() if name in PASSED_VARIABLES}
    return {**kept, **ENGINE_VARIABLES, "HOME": home, "TMPDIR": temporary}


def encode(message: Message) -> bytes:
    """A message as one line. Raises ValueError for `NaN` and infinities, which are not JSON."""
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", errors="replace") + b"\n"


def count_values(line: bytes) -> int:
    """How many lists and objects a line of JSON has at most; brackets inside texts do not count."""
    brackets = _TEXT.sub(b"", line) if line.count(b"[") + line.count(b"{") > MAX_VALUES else line
    return brackets.count(b"[") + brackets.count(b"{")


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte to a blocking descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


class LineBuffer:
    """Splits a byte stream into lines of at most `limit` bytes; a longer line is dropped and reported as None."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield each line that `data` completes, without its newline."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            if self._dropping:
                self._dropping = False
                continue
            self._held += line
            whole = bytes(self._held)
            self._held.clear()
            yield whole if len(whole) <= self._limit else None
        if self._dropping:
            return
        self._held += rest
        if len(self._held) > self._limit:
            self._held.clear()
            self._dropping = True
            yield None
