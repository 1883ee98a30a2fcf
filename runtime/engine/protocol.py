"""The protocol between the client and the flow engine: one JSON document per line, in both directions."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Final

from flows.document import Json, JsonObject
from runtime.options import RunOptions
from runtime.results import RunError, RunFailed
from runtime.sessions.messages import Message

PROTOCOL: Final = 1
"""The version; the engine's greeting must name the same one."""
MAX_REQUEST: Final = 32 * 1024 * 1024
"""Bytes of the longest request line, equal to that of `lfx_runner.protocol`."""
MAX_LINE: Final = 40 * 1024 * 1024
"""Bytes of the longest line that is accepted from the engine."""
_TOO_LARGE_FIX: Final = "Make the flow smaller, or leave out values that are not JSON."


def encode(message: JsonObject) -> bytes:
    """Encode a message as one line.

    Raises:
        RunFailed: it is too large, or holds something that is not JSON.
    """
    try:
        line = json.dumps(message, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"
    except (ValueError, TypeError, RecursionError):
        raise _cannot_send("it holds a value that JSON cannot express") from None
    if len(line) > MAX_REQUEST:
        raise _cannot_send(f"it takes more than {MAX_REQUEST // (1024 * 1024)} MB")
    return line


def run_request(
    run_id: str,
    data: JsonObject,
    text: str | None,
    options: RunOptions,
    *,
    gateway: str | None = None,
    closed_ports: Collection[int] = (),
    messages: Collection[Message] | None = None,
) -> JsonObject:
    """The request to run nodes and edges.

    Args:
        run_id: identifies the run in every message about it.
        data: nodes and edges, already admitted.
        text: the input, or None.
        options: the run's options.
        gateway: the base URL of the model gateway, or None when the run calls no model.
        closed_ports: TCP ports that a run with an open network may not connect to.
        messages: the messages of the session, oldest first; None when nothing of it is kept.
    """
    return {
        "id": run_id,
        "type": "run",
        "text": text,
        "session": options.session_name,
        "timeout": options.timeout,
        "want_nodes": options.want_nodes,
        "network": options.network,
        "closed_ports": [] if options.verification else list[Json](closed_ports),
        "events": options.on_event is not None,
        "max_iterations": options.max_iterations,
        "gateway": gateway,
        "messages": None if messages is None else [message.to_json() for message in messages],
        "flow": data,
    }


def describe_request(request_id: str, source: str, name: str, timeout: float) -> JsonObject:
    """The request to create the component class `name` of `source` and describe it, without a network."""
    return {
        "id": request_id,
        "type": "describe",
        "source": source,
        "class": name,
        "timeout": timeout,
        "network": "gateway-only",
    }


def _cannot_send(reason: str) -> RunFailed:
    return RunFailed(RunError(code="refused", message=f"The flow cannot be sent: {reason}.", fix=_TOO_LARGE_FIX))
