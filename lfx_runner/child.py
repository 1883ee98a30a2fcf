"""The forked process of a run: isolate it from the runner, wait for its request, run it, return the result, exit."""

import contextlib
import json
import os
import random
import select
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from lfx_runner.confine.linux import end_with_parent
from lfx_runner.confine.policy import ClosedPorts, Network, confine_network, confine_process
from lfx_runner.engine import models_are_warm, rehearse
from lfx_runner.execute import exception_chain, run_flow
from lfx_runner.introspect.component import describe
from lfx_runner.node_events import Emit, Sender
from lfx_runner.protocol import MAX_RESULT, encode, run_environment, write_all
from lfx_runner.stores.files import (
    WORK,
    EmptyFile,
    FilesTooLarge,
    given_folder,
    keep_locally,
    place_fields,
    stamps,
    take_files,
    without_folder,
    written_files,
)

SETTLE = 0.2
"""Seconds without a request before a waiting process rehearses a run; runs in quick succession need the processor."""


def main(
    parent: int,
    request: int,
    go: int,
    results: int,
    events: int,
    folder: Path,
    prepared: ClosedPorts,
    *,
    ports_closed: bool,
) -> NoReturn:
    """Everything that a forked process does. While it waits for long, it rehearses a run.

    Args:
        parent: the process id of the runner.
        request: the descriptor of a file that will hold the request.
        go: a pipe that gives one byte when the request is there, or ends when there is none.
        results: a pipe that takes the result as one line.
        events: a pipe that takes one line per event.
        folder: the private folder.
        prepared: the ports that an open run is expected to close.
        ports_closed: whether to close them now: it takes long, and nobody waits yet.
    """
    status = 70
    try:
        isolate(parent, {request, go, results, events}, folder, prepared, ports_closed=ports_closed)
        if not select.select([go], [], [], SETTLE)[0]:
            rehearse()
            if models_are_warm() and not select.select([go], [], [], SETTLE)[0]:
                from lfx_runner import models  # imported before the fork

                models.rehearse()
        if os.read(go, 1):
            size = os.fstat(request).st_size
            line = os.pread(request, size, 0)
            write_all(results, answer(line, Sender(events), prepared, folder, ports_closed=ports_closed))
        status = 0
    finally:
        os._exit(status)


def isolate(parent: int, keep: set[int], folder: Path, prepared: ClosedPorts, *, ports_closed: bool) -> None:
    """Start a session, close every descriptor but `keep`, use private folders and an allow-listed environment, confine.

    The descriptor of `prepared` stays open until it is known what the run may reach.
    """
    os.setsid()
    end_with_parent(parent)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    rules = set[int]() if prepared.ruleset is None else {prepared.ruleset}
    close_all_but(keep | rules | {0, 1, 2})
    os.umask(0o077)
    home, temporary = folder / "home", folder / "tmp"
    environment = run_environment(dict(os.environ), str(home), str(temporary))
    os.environ.clear()
    os.environ.update(environment)
    confine_process(folder, given_folder(folder))
    if ports_closed:
        prepared.enforce()
    os.chdir(folder / WORK)
    tempfile.tempdir = None
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    _move_engine_home(home)


def close_all_but(keep: set[int]) -> None:
    """Close every descriptor that is not in `keep`."""
    try:
        opened = [int(name) for name in os.listdir("/dev/fd" if sys.platform == "darwin" else "/proc/self/fd")]  # noqa: PTH208 - a run waits for it
    except OSError:
        opened = list(range(3, os.sysconf("SC_OPEN_MAX")))
    for descriptor in opened:
        if descriptor not in keep:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _move_engine_home(home: Path) -> None:
    """Point lfx's settings, which it read when it was imported, at this run's private folder."""
    from lfx.services.deps import get_settings_service  # imported before the fork

    service = get_settings_service()
    if service is not None:
        # Not through the setter, which would validate every setting again.
        service.settings.__dict__["config_dir"] = str(home)


def answer(line: bytes, emit: Emit, prepared: ClosedPorts, folder: Path, *, ports_closed: bool) -> bytes:
    """Run the request in `line` and return the result as one line.

    Args:
        line: the request.
        emit: called with each event, if the request asks for events.
        prepared: the ports that an open run was expected to close.
        folder: the private folder.
        ports_closed: whether they are closed already.
    """
    request: dict[str, Any] = json.loads(line)
    gateway: str | None = request.get("gateway")
    network: Network = "open" if request.get("network") == "open" else "gateway-only"
    confine_network(
        network,
        float(request["timeout"]),
        urlsplit(gateway).port or 80 if gateway else None,
        closed_ports=frozenset(request.get("closed_ports") or ()),
        prepared=prepared,
        ports_closed=ports_closed,
    )
    prepared.close()
    if gateway:
        from lfx_runner import models  # imported before the fork: see `Template`

        models.use_gateway(gateway)
    if request.get("type") == "describe":
        return encode_result(describe(request), {"described": None})
    return _run(request, folder, emit if request.get("events") else None)


def _run(request: dict[str, Any], folder: Path, emit: Emit | None) -> bytes:
    """Run the flow with the files that it is given, and return the result with the files that it wrote."""
    work = folder / WORK
    take_files(given_folder(folder), work)
    try:
        place_fields(request["flow"], request.get("file_fields") or [], work)
    except Exception as error:  # noqa: BLE001 - whatever a damaged workbook raises
        return encode_result(_unread(error), {})
    keep_locally()
    before = stamps(work)
    result = run_flow(request, emit)
    try:
        result["files"] = written_files(work, before)
    except (FilesTooLarge, OSError) as error:
        result["failure"] = result["failure"] or {"node": None, "chain": exception_chain(error)}
    empty: dict[str, Any] = {"output": None, "outputs": {}, "nodes": {}, "types": {}, "messages": None, "files": []}
    return without_folder(encode_result(result, empty), work)


def _unread(error: Exception) -> dict[str, Any]:
    """The result of a run with a workbook that cannot be read."""
    reason = error if isinstance(error, EmptyFile) else ValueError(f"The workbook cannot be read: {error}")
    return {"output": None, "outputs": {}, "failure": {"node": None, "chain": exception_chain(reason)}}


def encode_result(result: dict[str, Any], empty: dict[str, Any]) -> bytes:
    """A result as one line; `empty` values and a failure replace those that are not JSON or are too large."""
    try:
        data = encode(result)
    except (ValueError, TypeError, RecursionError) as error:
        chain = exception_chain(error)
    else:
        if len(data) <= MAX_RESULT:
            return data
        size, most = len(data) // 1_000_000, MAX_RESULT // 1_000_000
        message = f"The results take {size} MB; at most {most} MB are returned."
        chain = [{"type": "lfx_runner.ResultTooLarge", "message": message, "link": "raised"}]
    return encode({**result, **empty, "failure": {"node": None, "chain": chain}})
