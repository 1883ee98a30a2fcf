"""The forked process of a run: isolate it from the template, wait for its run, run it, return the result, exit."""

import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn

from lfx_runner.confine.linux import end_with_parent
from lfx_runner.confine.policy import PARTS, confine_network, confine_process
from lfx_runner.confine.proxy import use_proxy
from lfx_runner.connection import Incoming, Outgoing
from lfx_runner.engine import models_are_warm, rehearse
from lfx_runner.execute import exception_chain, run_flow
from lfx_runner.introspect.component import describe
from lfx_runner.node_events import Emit
from lfx_runner.protocol import MAX_RESULT, MAX_VALUES, count_values, encode, run_environment
from lfx_runner.results.logs import discard_output, silence
from lfx_runner.stores.files import (
    WORK,
    EmptyFile,
    FilesTooLarge,
    keep_locally,
    place_fields,
    stamps,
    without_folder,
    written_files,
)

SETTLE = 0.2
"""Seconds without a request before a waiting process rehearses a run; runs in quick succession need the processor."""


def main(parent: int, connection: int, folder: Path) -> NoReturn:
    """Everything that a forked process does. While it waits for long, it rehearses a run.

    Args:
        parent: the process id of the template.
        connection: the descriptor of its socket to the client.
        folder: the private folder.
    """
    status = 70
    try:
        held = isolate(parent, connection, folder)
        incoming = Incoming(connection)
        if not incoming.wait(SETTLE):
            rehearse()
            if models_are_warm() and not incoming.wait(SETTLE):
                from lfx_runner import models  # imported before the fork

                models.rehearse()
        if line := incoming.line():
            serve(json.loads(line), incoming, Outgoing(connection), folder, held)
        status = 0
    finally:
        os._exit(status)


def isolate(parent: int, connection: int, folder: Path) -> list[str]:
    """Start a session, close every other descriptor, use private folders and an allow-listed environment, confine.

    Returns:
        The names of the parts of the confinement that hold.
    """
    os.setsid()
    end_with_parent(parent)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    close_all_but(connection)
    os.umask(0o077)
    home, temporary, work = (f"{folder}/{part}" for part in PARTS)
    environment = run_environment(dict(os.environ), home, temporary)
    os.environ.clear()
    os.environ.update(environment)
    held = confine_process(folder)
    os.chdir(work)
    discard_output()
    tempfile.tempdir = None
    if "numpy" in sys.modules:  # Python's own generator has a new seed after each fork
        sys.modules["numpy"].random.seed(int.from_bytes(os.urandom(4)))
    _move_engine_home(home)
    return held


def close_all_but(connection: int) -> None:
    """Close every descriptor but the standard ones and `connection`."""
    try:
        last = max(int(name) for name in os.listdir("/dev/fd" if sys.platform == "darwin" else "/proc/self/fd"))  # noqa: PTH208 - a run waits for it
    except OSError:
        last = os.sysconf("SC_OPEN_MAX")
    os.closerange(3, connection)
    os.closerange(connection + 1, last + 1)


def prepare() -> None:
    """Do once, before processes are forked, what each of them would do in the same way."""
    silence()
    # A run may not change modes, times and attributes, not even those of its own files: copies do without.
    shutil.copymode = shutil.copystat = lambda *_, **__: None


def _move_engine_home(home: str) -> None:
    """Point lfx's settings, which it read when it was imported, at this run's private folder."""
    from lfx.services.deps import get_settings_service  # imported before the fork

    service = get_settings_service()
    if service is not None:
        # Not through the setter, which would validate every setting again.
        service.settings.__dict__["config_dir"] = home


def serve(policy: dict[str, Any], incoming: Incoming, outgoing: Outgoing, folder: Path, held: list[str]) -> None:
    """Confine this process as the policy says, take its files and its request, and write the result.

    Args:
        policy: what the run may reach, and how many bytes its files and its request have.
        incoming: gives the files, then the request.
        outgoing: takes events and the result.
        folder: the private folder.
        held: the parts of the confinement that hold already.
    """
    listeners: list[int] = []
    held = held + confine_network(
        policy["timeout"],
        policy["ports"],
        on_listener=listeners.append,
    )
    outgoing.confined(held, listeners)
    for name, size in policy["files"]:
        path = folder / WORK / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("xb") as copy:
            copy.writelines(incoming.blocks(size))
    request: dict[str, Any] = json.loads(b"".join(incoming.blocks(policy["request"])))
    if gateway := request.get("gateway"):
        from lfx_runner import models  # imported before the fork: see `runtime.engine.spares`

        models.use_gateway(gateway)
    if egress := request.get("egress"):
        use_proxy(egress["url"], egress["addresses"], gateway)
    if policy["type"] == "describe":
        outgoing.result(encode_result(describe(request), {"described": None}), [])
        return
    outgoing.result(*_run(request, folder / WORK, outgoing.event))


def _run(request: dict[str, Any], work: Path, emit: Emit) -> tuple[bytes, list[bytes]]:
    """Run the flow; the result as a line, and the content of the files that it wrote."""
    try:
        place_fields(request["flow"], request.get("file_fields") or [], work)
    except Exception as error:  # noqa: BLE001 - whatever a damaged workbook raises
        return encode_result(_unread(error), {}), []
    keep_locally()
    before = stamps(work)
    result = run_flow(request, emit)
    written: dict[str, bytes] = {}
    try:
        written = written_files(work, before)
    except (FilesTooLarge, OSError) as error:
        result["failure"] = result["failure"] or {"node": None, "chain": exception_chain(error)}
    result["files"] = [[path, len(content)] for path, content in written.items()]
    empty: dict[str, Any] = {"output": None, "outputs": {}, "nodes": {}, "types": {}, "messages": None}
    return without_folder(encode_result(result, empty), work), list(written.values())


def _unread(error: Exception) -> dict[str, Any]:
    """The result of a run with a workbook that cannot be read."""
    reason = error if isinstance(error, EmptyFile) else ValueError(f"The workbook cannot be read: {error}")
    return {"output": None, "outputs": {}, "failure": {"node": None, "chain": exception_chain(reason)}}


def encode_result(result: dict[str, Any], empty: dict[str, Any]) -> bytes:
    """A result as one line; `empty` values and a failure replace those that are not JSON or are too large."""
    try:
        data = encode({"type": "result", **result})
    except (ValueError, TypeError, RecursionError, MemoryError) as error:
        chain = exception_chain(error)
    else:
        if len(data) <= MAX_RESULT and (len(data) <= MAX_VALUES or count_values(data) <= MAX_VALUES):
            return data
        size, most = len(data) / 1024**2, MAX_RESULT // 1024**2
        message = f"The results take {size:.1f} MB; at most {most} MB in {MAX_VALUES:,} lists and objects are returned."
        chain = [{"type": "lfx_runner.ResultTooLarge", "message": message, "link": "raised"}]
    return encode({"type": "result", **result, **empty, "failure": {"node": None, "chain": chain}})
