"""The protocol between the client and the flow engine, and the requests that processes of the engine run.

`lfx_runner.protocol` describes it.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from flows.document import Json, JsonObject
from flows.json_values import as_list, as_object
from runtime.options import RunOptions
from runtime.results import RunError, RunFailed
from runtime.sessions.messages import Message

PROTOCOL: Final = 4
"""The version; the engine's greeting must name the same one."""
MAX_REQUEST: Final = 32 * 1024 * 1024
"""Bytes of the longest request line, equal to that of `lfx_runner.protocol`."""
MAX_RESULT: Final = 32 * 1024 * 1024
"""Bytes of the longest result line that is accepted, equal to that of `lfx_runner.protocol`."""
MAX_VALUES: Final = 250_000
"""How many lists and objects a result may have, equal to that of `lfx_runner.protocol`."""
MAX_FILES: Final = 50
MAX_FILES_SIZE: Final = 16 * 1024 * 1024
"""How many files a run may return, and how many bytes of them together."""
MAX_WRITTEN: Final = 64 * 1024 * 1024
"""Bytes that the process of a run may write in all: events, result and files."""
MAX_THREADS: Final = 1_000
"""How many threads a run may have at the same time."""
MAX_MEMORY_MB: Final = 3 * 1024 + 256
"""Memory that a run may hold: its data, and its private folder, equal to those of `lfx_runner.confine.policy`."""
_TOO_LARGE_FIX: Final = "Make the flow smaller, or leave out values that are not JSON."


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """A request, encoded for the process that runs it.

    Attributes:
        policy: the line that comes first: what the process may reach, and the sizes of all that follows.
        files: copies of the files that it may read; their contents come next.
        body: the request itself, which comes last.
        timeout: seconds that it may take.
        models: whether it calls models.
    """

    policy: bytes
    files: tuple[Path, ...]
    body: bytes
    timeout: float
    models: bool


def request_for_process(request: JsonObject, staged: Path | None = None) -> RunRequest:
    """Encode a request of `run_request` or `describe_request`; it blocks: call it in a thread.

    Args:
        request: the request.
        staged: a folder with copies of the files that the run may read.

    Raises:
        RunFailed: it is too large, or holds something that is not JSON.
    """
    body = encode(request)
    paths = sorted(path for path in staged.rglob("*") if path.is_file()) if staged is not None else []
    gateway, timeout, egress = request.get("gateway"), request.get("timeout"), as_object(request.get("egress"))
    ports: list[Json] = [urlsplit(gateway).port or 80] if isinstance(gateway, str) else []
    ports += [port for port in (egress.get("port"), *as_list(egress.get("ports"))) if isinstance(port, int)]
    policy: JsonObject = {
        "type": request["type"],
        "timeout": timeout,
        "ports": ports,
        "files": [[path.relative_to(staged or path).as_posix(), path.stat().st_size] for path in paths],
        "request": len(body),
    }
    return RunRequest(
        policy=encode(policy),
        files=tuple(paths),
        body=body,
        timeout=float(timeout) if isinstance(timeout, int | float) else 0.0,
        models=gateway is not None,
    )


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
    egress: JsonObject | None = None,
    messages: Collection[Message] | None = None,
) -> JsonObject:
    """The request to run nodes and edges.

    Args:
        run_id: identifies the run in every message about it.
        data: nodes and edges, already admitted.
        text: the input, or None.
        options: the run's options.
        gateway: the base URL of the model gateway, or None when the run calls no model.
        egress: how the run reaches hosts: the proxy's `url` and `port`, other `ports` that it may connect to, and
            `addresses` of hosts that it may connect to itself; None when it may reach none.
        messages: the messages of the session, oldest first; None when nothing of it is kept.
    """
    events: list[Json] = [] if options.on_event is None else [*sorted(options.event_kinds)]
    return {
        "id": run_id,
        "type": "run",
        "text": text,
        "session": options.session_name,
        "timeout": options.timeout,
        "want_nodes": options.want_nodes,
        "events": events,
        "max_iterations": options.max_iterations,
        "gateway": gateway,
        "egress": egress,
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
    }


def _cannot_send(reason: str) -> RunFailed:
    return RunFailed(RunError(code="refused", message=f"The flow cannot be sent: {reason}.", fix=_TOO_LARGE_FIX))
