"""Reads the events of one run: what its process writes can only become well-formed events, and not without limit."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Final

from flows.document import Json, JsonObject

MAX_EVENT: Final = 16 * 1024
"""Bytes of the longest event, as a line."""
MAX_EVENTS: Final = 20_000
MAX_EVENTS_SIZE: Final = 4 * 1024 * 1024
"""How many events of one run, and how many bytes of them, are forwarded; the rest is cut off."""

_NUMBER = (int, float)
_FIELDS: Mapping[str, Mapping[str, type | tuple[type, ...]]] = {
    "node_started": {"node": str, "iteration": int},
    "node_finished": {"node": str, "iteration": int, "seconds": _NUMBER, "ok": bool},
    "token": {"node": str, "text": str},
    "cut": {},
}
"""The fields of each kind of event, with their types. Nothing else is forwarded."""


class EventFilter:
    """Forwards the events of one run until there are too many; then it says so, once."""

    def __init__(self, forward: Callable[[JsonObject], None] | None) -> None:
        """Forward to `forward`; None wants no events."""
        self._forward = forward
        self._events_left = MAX_EVENTS
        self._bytes_left = MAX_EVENTS_SIZE

    def feed(self, line: bytes) -> None:
        """Take in one line; costs next to nothing once the events are cut."""
        if self._forward is None:
            return
        self._bytes_left -= len(line)
        event = event_of(line) if len(line) <= MAX_EVENT else None
        if event is not None:
            self._events_left -= 1
            self._forward(event)
        cut = event is not None and event["kind"] == "cut"
        if not cut and (self._bytes_left < 0 or not self._events_left):
            self._forward({"kind": "cut"})
            cut = True
        if cut:
            self._forward = None


def event_of(line: bytes) -> JsonObject | None:
    """The event in a line, reduced to the fields of its kind; None if it is not an event."""
    try:
        message: Json = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not isinstance(kind := message.get("kind"), str):
        return None
    fields = _FIELDS.get(kind)
    if fields is None or not all(_has_type(message.get(name), expected) for name, expected in fields.items()):
        return None
    return {"kind": kind, **{name: message[name] for name in fields}}


def _has_type(value: Json, expected: type | tuple[type, ...]) -> bool:
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return isinstance(value, expected) and (expected is bool or not isinstance(value, bool))
