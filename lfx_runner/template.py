"""Forks a process for every run from the warm engine, supervises it, and forwards its events and its result.

One thread and one `select` loop, so a fork inherits nothing but plain data. Spare processes are forked in advance, so
that a run does not wait for the fork.
"""

import contextlib
import json
import os
import selectors
import shutil
import signal
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from lfx_runner import child
from lfx_runner.confine.linux import adopt_orphans, end_orphans
from lfx_runner.confine.policy import PARTS, ClosedPorts, prepare
from lfx_runner.event_pipe import EventPipe
from lfx_runner.process import Child, peak_of
from lfx_runner.protocol import MAX_REQUEST, MAX_RESULT, LineBuffer, Message, encode, write_all
from lfx_runner.stores.files import given_folder, hand_over

CHUNK = 1 << 18
MAX_RUNS = 64
"""Concurrent runs that are accepted; the client sends far fewer."""
IDLE = 1.0
"""Seconds without a run before the next warm-up step: a runner started for a single run does not wait for it."""
EXIT_TIME = 1.0
"""Seconds that a process may live after closing the pipe for its result."""


class Template:
    """The loop that serves runs until its input ends; leaving the context ends every run."""

    def __init__(
        self,
        commands: int,
        replies: int,
        folder: Path,
        spares: int = 1,
        closed_ports: frozenset[int] = frozenset(),
        *,
        warm_ups: Sequence[Callable[[], object]] = (),
    ) -> None:
        """Start nothing yet.

        Args:
            commands: the descriptor that requests are read from.
            replies: the descriptor that messages are written to.
            folder: where the private folders of runs go.
            spares: how many processes are kept ready, one for each run that may start at the same time. Half of them
                close ports at first; later ones follow the runs that come.
            closed_ports: the ports that open runs are expected to close; each request states them again.
            warm_ups: steps that run one by one while the runner is idle; all but the last run before the first run
                that calls models.
        """
        self._commands = commands
        self._replies = replies
        self._folder = folder
        self._children: dict[int, Child] = {}
        self._runs: dict[str, Child] = {}
        self._spares: list[Child] = []
        self._expected = closed_ports
        self._warm_ups = deque(warm_ups)
        self._optional_warm_ups = max(0, len(warm_ups) - 1)
        """How many steps a run that calls models does not need."""
        self._closed = ClosedPorts()
        # For each spare to fork, whether it closes the ports. Only a run adds one: a spare that dies unused is not
        # replaced at once.
        self._spares_to_fork = deque(number % 2 == 0 for number in range(spares))
        self._lines = LineBuffer(MAX_REQUEST)
        self._open = True

    def __enter__(self) -> Self:
        """Start watching the input and the child processes."""
        adopt_orphans()
        prepare()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._wake_read, wake_write = os.pipe()
        for descriptor in (self._wake_read, wake_write, self._commands):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        self._selector = selectors.DefaultSelector()
        self._watch(self._commands, self._read_commands)
        self._watch(self._wake_read, self._reap)
        return self

    def __exit__(self, *_: object) -> None:
        """End every run and remove every private folder."""
        for each in list(self._children.values()):
            self._remove(each)
        shutil.rmtree(self._folder, ignore_errors=True)

    def serve(self) -> None:
        """Serve until the input ends or a shutdown is requested."""
        self._close_ports(self._expected)
        while self._open:
            self._fork_spares()
            nearest = min((each.deadline for each in self._runs.values()), default=float("inf"))
            idle = IDLE if self._warm_ups and not self._runs else None
            timeout = idle if nearest == float("inf") else max(0.0, nearest - time.monotonic())
            ready = self._selector.select(timeout)
            for key, _ in ready:
                if self._selector.get_map().get(key.fd) is key:  # an earlier event may have unregistered it
                    key.data()
            self._expire()
            if idle is not None and not ready:
                self._warm_up(len(self._warm_ups) - 1)

    def _watch(self, descriptor: int, action: Callable[[], None]) -> None:
        self._selector.register(descriptor, selectors.EVENT_READ, action)

    def _reply(self, message: Message) -> None:
        try:
            write_all(self._replies, encode(message))
        except BrokenPipeError:
            self._open = False

    def _fail(self, run: str, code: str, message: str, **metrics: float) -> None:
        self._reply({"id": run, "type": "error", "code": code, "message": message, **metrics})

    def _warm_up(self, remaining: int) -> None:
        """Run warm-up steps until `remaining` are left, and replace the spares, which were forked before them."""
        if len(self._warm_ups) <= remaining:
            return
        while len(self._warm_ups) > remaining:
            self._warm_ups.popleft()()
        self._replace_spares()

    def _replace_spares(self) -> None:
        """Remove the spares, which were forked in an outdated state, and fork as many again."""
        for spare in list(self._spares):
            self._remove(spare)
            self._spares_to_fork.append(spare.ports_closed)

    def _close_ports(self, ports: frozenset[int]) -> None:
        """Close these ports in processes that are forked from now on, and replace spares that closed others."""
        if ports == self._closed.ports:
            return
        self._closed.close()
        try:
            self._closed = ClosedPorts.create(ports)
        except OSError:
            self._closed = ClosedPorts()  # each run tries again, and ends if it fails
        self._replace_spares()

    def _fork_spares(self) -> None:
        """Fork the missing spares; when the system refuses, the next run tries again."""
        while self._spares_to_fork and self._open:
            if (spare := self._fork(ports_closed=self._spares_to_fork.popleft())) is not None:
                self._spares.append(spare)

    # Requests

    def _read_commands(self) -> None:
        try:
            data = os.read(self._commands, CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._open = False
            return
        for line in self._lines.feed(data):
            if line is None:
                message = f"A request may take {MAX_REQUEST // (1024 * 1024)} MB at most."
                self._reply({"type": "error", "code": "too_large", "message": message})
            elif line.strip():
                self._handle(line)

    def _handle(self, line: bytes) -> None:
        try:
            request = json.loads(line)
            kind, run = request["type"], request.get("id")
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            self._reply({"type": "error", "code": "bad_request", "message": "A request is not a JSON object."})
            return
        match kind, run:
            case "run" | "describe", str():
                self._start(run, line, request)
            case "cancel", str():
                if (running := self._runs.get(run)) is not None:
                    self._remove(running)
                    self._fail(run, "cancelled", "The run was cancelled.")
            case "ping", _:
                self._reply({"id": run, "type": "pong", "running": len(self._runs)})
            case "warm", _:
                self._warm_up(0)
                self._reply({"id": run, "type": "pong", "running": len(self._runs)})
            case "shutdown", _:
                self._open = False
            case _:
                self._reply({"id": run, "type": "error", "code": "bad_request", "message": "An unknown request."})

    def _start(self, run: str, line: bytes, request: Message) -> None:
        timeout = request.get("timeout")
        name, kind = {"run": ("flow", dict), "describe": ("source", str)}[request["type"]]
        if run in self._runs or not isinstance(request.get(name), kind) or not isinstance(timeout, int | float):
            message = f"A {request['type']} needs a new id, a {name} and a timeout in seconds."
            self._fail(run, "bad_request", message)
            return
        if len(self._runs) >= MAX_RUNS:
            self._fail(run, "busy", "Too many runs at the same time.")
            return
        if request.get("gateway"):
            self._warm_up(self._optional_warm_ups)
        is_open = request.get("network") == "open"
        if is_open:
            self._close_ports(frozenset(request.get("closed_ports") or ()))
        if self._spares or not self._spares_to_fork:  # otherwise enough are about to be forked
            self._spares_to_fork.append(is_open)
        process = self._take_spare(ports_closed=is_open) or self._fork(ports_closed=is_open)
        if process is None:
            self._fail(run, "crash", "No process could be started for the run.")
            return
        process.run = run
        process.started = time.monotonic()
        process.deadline = process.started + timeout
        self._runs[run] = process
        try:
            hand_over(request.get("files"), given_folder(process.folder))
            write_all(process.request, line)
            os.write(process.go, b"1")
        except OSError:  # it died while it was waiting; `_reap` reports that as a crash
            return
        self._reply({"id": run, "type": "started", "pid": process.pid})

    # Children

    def _take_spare(self, *, ports_closed: bool) -> Child | None:
        """A spare, preferably with its ports closed or open as asked; either kind can run any request."""
        if not self._spares:
            return None
        spare = next((spare for spare in self._spares if spare.ports_closed == ports_closed), self._spares[0])
        self._spares.remove(spare)
        return spare

    def _fork(self, *, ports_closed: bool) -> Child | None:
        """A new process that waits for its request, or None when the system refuses to fork."""
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=self._folder))
        for part in (given_folder(folder), *(folder / name for name in PARTS)):
            part.mkdir(mode=0o700)
        request, name = tempfile.mkstemp(dir=folder)
        os.unlink(name)  # noqa: PTH108 - a path from mkstemp
        (go_read, go_write), (results_read, results_write), (events_read, events_write) = pipes = (
            os.pipe(), os.pipe(), os.pipe()
        )  # fmt: skip
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            for descriptor in (request, *(end for pipe in pipes for end in pipe)):
                os.close(descriptor)
            for each in (folder, given_folder(folder)):
                shutil.rmtree(each, ignore_errors=True)
            return None
        if pid == 0:
            child.main(
                parent, request, go_read, results_write, events_write, folder, self._closed, ports_closed=ports_closed
            )
        for descriptor in (go_read, results_write, events_write):
            os.close(descriptor)
        for descriptor in (results_read, events_read):
            os.set_blocking(descriptor, False)
        forked = Child(pid, request, go_write, results_read, EventPipe(events_read), folder, ports_closed)
        self._children[pid] = forked
        self._watch(results_read, lambda: self._read_result(forked))
        self._watch(events_read, lambda: self._read_events(forked))
        return forked

    def _read_events(self, source: Child) -> None:
        """Forward the run's events; stop reading after its last one, or when there are too many."""
        self._forward(source, source.events.read())
        if not source.events.open:
            self._selector.unregister(source.events.descriptor)
            source.events.close()

    def _forward(self, source: Child, events: list[Message]) -> None:
        for event in events:
            if source.run is not None:
                self._reply({"id": source.run, "type": "event", "event": event})

    def _read_result(self, source: Child) -> None:
        """Read what the run wrote; a complete line is its result and ends it."""
        try:
            data = os.read(source.results, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._selector.unregister(source.results)
            source.results_closed = True  # its exit, which follows now or is forced, says what happened
            source.deadline = min(source.deadline, time.monotonic() + EXIT_TIME)
            return
        source.received += data
        if data.endswith(b"\n") or len(source.received) > MAX_RESULT + CHUNK:
            self._finish(source)

    def _finish(self, source: Child, *, reaped: bool = False) -> None:
        """Forward a result. The process, which is about to end, is removed when it is reaped."""
        run, received = source.run, bytes(source.received)
        if run is not None:
            self._forward(source, source.events.rest())
            try:
                result = json.loads(received)
                if not isinstance(result, dict) or len(received) > MAX_RESULT + CHUNK:
                    raise ValueError("not a result")
                self._reply({**result, "id": run, "type": "result"})
            except (ValueError, RecursionError):
                self._fail(run, "crash", "The run's process returned something that is not a result.")
            self._runs.pop(run, None)
        source.run = None
        if reaped:
            self._remove(source, reaped=True)
            return
        self._selector.unregister(source.results)
        with contextlib.suppress(OSError):
            os.killpg(source.pid, signal.SIGKILL)

    def _expire(self) -> None:
        now = time.monotonic()
        for run, late in list(self._runs.items()):
            if late.deadline <= now:
                self._forward(late, late.events.rest())
                peak = self._remove(late)
                if late.results_closed:
                    self._fail(run, "crash", "The run's process closed the pipe for its result.", peak_mb=peak)
                else:
                    self._fail(run, "timeout", "The run took longer than it was allowed.", peak_mb=peak)

    def _reap(self) -> None:
        """Reap children that have ended, and report runs that ended without a result."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, 4096)
        for each in list(self._children.values()):
            try:
                pid, status, used = os.wait4(each.pid, os.WNOHANG)
            except ChildProcessError:
                pid, status, used = each.pid, 0, None
            if pid == 0:
                continue
            self._drain(each)
            run = each.run
            metrics = {"peak_mb": peak_of(used), "seconds": round(time.monotonic() - each.started, 3)}
            if run is not None and each.received.endswith(b"\n"):
                self._finish(each, reaped=True)
                continue
            self._forward(each, each.events.rest())
            self._remove(each, reaped=True)
            if run is not None:
                code = os.waitstatus_to_exitcode(status)
                if code == -signal.SIGXCPU:
                    self._fail(run, "limit", "The run used more processor time than it was allowed.", **metrics)
                    continue
                how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
                self._fail(run, "crash", f"The run's process {how} before it gave a result.", **metrics)

    def _drain(self, source: Child) -> None:
        """Read what a child wrote to its result pipe before it ended."""
        with contextlib.suppress(OSError):
            while len(source.received) <= MAX_RESULT + CHUNK and (data := os.read(source.results, CHUNK)):
                source.received += data

    def _remove(self, each: Child, *, reaped: bool = False) -> float:
        """Kill a process and its whole group, reap it, and release everything that belongs to it.

        Returns its peak memory in MB, or 0 when it was reaped before.
        """
        peak = 0.0
        with contextlib.suppress(OSError):
            os.killpg(each.pid, signal.SIGKILL)
        if not reaped:
            with contextlib.suppress(OSError):
                os.kill(each.pid, signal.SIGKILL)  # before setsid, the group does not exist yet
            with contextlib.suppress(ChildProcessError):
                peak = peak_of(os.wait4(each.pid, 0)[2])
        watched = self._selector.get_map()
        for descriptor in (each.results, each.events.descriptor):
            if descriptor >= 0 and descriptor in watched:
                self._selector.unregister(descriptor)
        each.events.close()
        for descriptor in (each.request, each.go, each.results):
            os.close(descriptor)
        self._children.pop(each.pid, None)
        end_orphans(self._children)
        each.remove_folders()
        if each.run is not None:
            self._runs.pop(each.run, None)
        if each in self._spares:
            self._spares.remove(each)
        return peak
