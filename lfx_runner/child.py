"""What a forked run does with itself: cut every tie to the runner, wait for its request, run it, hand back, exit."""

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
from lfx_runner.confine.policy import Closed, Network, confine_network, confine_process
from lfx_runner.engine import models_are_warm, touch
from lfx_runner.execute import exception_chain, run_flow
from lfx_runner.introspect.component import describe
from lfx_runner.node_events import Emit, Sender
from lfx_runner.protocol import MAX_RESULT, encode, run_environment, write_all

SETTLE = 0.2
"""Seconds without a request after which a waiting process warms itself: never between runs in quick succession, which
would have to share the processor with it."""


def live(
    parent: int, request: int, go: int, results: int, events: int, folder: Path, closed: Closed, *, ahead: bool
) -> NoReturn:
    """The life of a forked process. `go` gives one byte when `request` holds a request, or ends when there is none.

    `results` takes one line at the end, and `events` one for each thing that is told before. A process that waits
    for long warms itself meanwhile. `closed` are the ports that an open run is expected to close: that takes long, so
    that a process which will probably be for one does it `ahead`, while nobody waits.
    """
    status = 70
    try:
        isolate(parent, {request, go, results, events}, folder, closed, ahead=ahead)
        if not select.select([go], [], [], SETTLE)[0]:
            touch()
            if models_are_warm() and not select.select([go], [], [], SETTLE)[0]:
                from lfx_runner import models  # imported before the fork

                models.touch()
        if os.read(go, 1):
            size = os.fstat(request).st_size
            write_all(results, answer(os.pread(request, size, 0), Sender(events), closed, ahead=ahead))
        status = 0
    finally:
        os._exit(status)


def isolate(parent: int, keep: set[int], folder: Path, closed: Closed, *, ahead: bool) -> None:
    """Own session, no inherited descriptor but `keep`, private folders, an allow-listed environment, confinement.

    The descriptor of `closed` stays, until it is known what the run may reach.
    """
    os.setsid()
    end_with_parent(parent)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    rules = set[int]() if closed.ruleset is None else {closed.ruleset}
    close_all_but(keep | rules | {0, 1, 2})
    os.umask(0o077)
    home, temporary = folder / "home", folder / "tmp"
    environment = run_environment(dict(os.environ), str(home), str(temporary))
    os.environ.clear()
    os.environ.update(environment)
    confine_process(folder)
    if ahead:
        closed.enforce()
    os.chdir(home)
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
    """lfx read its settings when it was imported: point what it writes at this run's private folder."""
    from lfx.services.deps import get_settings_service  # already imported, kept near its use

    service = get_settings_service()
    if service is not None:
        # Past the setter, which would look at every setting again.
        service.settings.__dict__["config_dir"] = str(home)


def answer(line: bytes, emit: Emit, expected: Closed, *, ahead: bool) -> bytes:
    """Run the request in `line` and give the result as one line.

    `emit` is told what happens, if that was asked for; `expected` are the ports that an open run was expected to close,
    which were closed already if that was done `ahead`.
    """
    request: dict[str, Any] = json.loads(line)
    gateway: str | None = request.get("gateway")
    network: Network = "open" if request.get("network") == "open" else "gateway-only"
    confine_network(
        network,
        float(request["timeout"]),
        urlsplit(gateway).port or 80 if gateway else None,
        closed=frozenset(request.get("closed") or ()),
        expected=expected,
        ahead=ahead,
    )
    expected.let_go()
    if gateway:
        from lfx_runner import models  # imported before the fork: see `Zygote`

        models.use_gateway(gateway)
    if request.get("type") == "describe":
        return handed_back(describe(request), {"described": None})
    result = run_flow(request, emit if request.get("events") else None)
    return handed_back(result, {"output": None, "outputs": {}, "nodes": {}, "types": {}})


def handed_back(result: dict[str, Any], without: dict[str, Any]) -> bytes:
    """A result as one line; one that JSON cannot say, or that is too large, goes `without` its values."""
    try:
        data = encode(result)
    except (ValueError, TypeError, RecursionError) as error:
        return encode({**result, **without, "failure": {"node": None, "chain": exception_chain(error)}})
    if len(data) <= MAX_RESULT:
        return data
    message = f"The results take {len(data) // 1_000_000} MB; at most {MAX_RESULT // 1_000_000} MB are handed back."
    chain = [{"type": "lfx_runner.ResultTooLarge", "message": message, "link": "raised"}]
    return encode({**result, **without, "failure": {"node": None, "chain": chain}})
