"""Forks a process for every run from the warm engine, watches over it, and passes its result on.

One thread and one `select` loop: nothing here survives into a fork but plain data. A spare process is forked ahead of
need, so that a run does not wait for the fork.
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
from typing import Any, Self

from lfx_runner import child
from lfx_runner.confine.linux import adopt_orphans, end_orphans
from lfx_runner.confine.policy import Closed, prepare
from lfx_runner.event_pipe import EventPipe
from lfx_runner.process import Child, peak_of, unlock
from lfx_runner.protocol import MAX_REQUEST, MAX_RESULT, LineBuffer, Message, encode, write_all

CHUNK = 1 << 18
MAX_RUNS = 64
"""Runs at the same time that are accepted; the client asks for far fewer."""
IDLE = 1.0
"""Seconds without a run after which the runner goes on to warm itself: whoever starts it for one run does not wait."""
EXIT_TIME = 1.0
"""Seconds that a process may live on after closing the pipe for its result."""


class Zygote:
    """The loop that serves runs until its input ends; leaving the context ends every run."""

    def __init__(
        self,
        commands: int,
        replies: int,
        folder: Path,
        spares: int = 1,
        closed: frozenset[int] = frozenset(),
        *,
        more: Sequence[Callable[[], object]] = (),
    ) -> None:
        """Read requests from descriptor `commands`, answer on `replies`, keep private folders under `folder`.

        `spares` processes are kept ready ahead of need: one for each run that may begin at the same time. `closed` are
        the ports that open runs are expected to close; each of them says so again. What waits ready is for both kinds
        of runs at first, and then for the kinds that come. `more` is done step by step while nobody waits: the first
        step, at the latest, before the first run that calls models.
        """
        self._commands = commands
        self._replies = replies
        self._folder = folder
        self._children: dict[int, Child] = {}
        self._runs: dict[str, Child] = {}
        self._spares: list[Child] = []
        self._expected = closed
        self._more = deque(more)
        self._before_models = max(0, len(more) - 1)
        """How many steps are left when runs can call models."""
        self._closed = Closed()
        # Of each spare that is owed, whether it closes the ports ahead. One more for each run: a spare that dies unused
        # is not replaced at once.
        self._spares_owed = deque(number % 2 == 0 for number in range(spares))
        self._lines = LineBuffer(MAX_REQUEST)
        self._open = True

    def __enter__(self) -> Self:
        """Start watching the input and the children."""
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
        """Serve until the input ends or a shutdown is asked for."""
        self._close(self._expected)
        while self._open:
            self._fork_spares()
            nearest = min((each.deadline for each in self._runs.values()), default=float("inf"))
            idle = IDLE if self._more and not self._runs else None
            timeout = idle if nearest == float("inf") else max(0.0, nearest - time.monotonic())
            ready = self._selector.select(timeout)
            for key, _ in ready:
                if self._selector.get_map().get(key.fd) is key:  # an earlier event may have ended this one's source
                    key.data()
            self._expire()
            if idle is not None and not ready:
                self._warm()

    def _watch(self, descriptor: int, action: Callable[[], None]) -> None:
        self._selector.register(descriptor, selectors.EVENT_READ, action)

    def _reply(self, message: Message) -> None:
        try:
            write_all(self._replies, encode(message))
        except BrokenPipeError:
            self._open = False

    def _fail(self, run: str, code: str, message: str, **more: Any) -> None:
        self._reply({"id": run, "type": "error", "code": code, "message": message, **more})

    def _warm(self, leave: int | None = None) -> None:
        """Do the next step of warming, or all until so many are left; what waits ready is made anew."""
        steps = 1 if leave is None else len(self._more) - leave
        for _ in range(steps):
            self._more.popleft()()
        if steps > 0:
            self._renew()

    def _renew(self) -> None:
        """Give up the processes that wait ready: they were made for what has changed."""
        for spare in list(self._spares):
            self._remove(spare)
            self._spares_owed.append(spare.ahead)

    def _close(self, ports: frozenset[int]) -> None:
        """Have processes close these ports from now on; those that wait and have closed others are given up."""
        if ports == self._closed.ports:
            return
        self._closed.let_go()
        try:
            self._closed = Closed.made(ports)
        except OSError:
            self._closed = Closed()  # a run tries by itself, and ends if it cannot
        self._renew()

    def _fork_spares(self) -> None:
        """Fork the processes that are owed; when the system gives none, the next run tries again."""
        while self._spares_owed and self._open:
            if (spare := self._fork(ahead=self._spares_owed.popleft())) is not None:
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
                self._warm(0)
                self._reply({"id": run, "type": "pong", "running": len(self._runs)})
            case "shutdown", _:
                self._open = False
            case _:
                self._reply({"id": run, "type": "error", "code": "bad_request", "message": "An unknown request."})

    def _start(self, run: str, line: bytes, request: Message) -> None:
        timeout = request.get("timeout")
        subject = {"run": ("flow", dict), "describe": ("source", str)}[request["type"]]
        fit = isinstance(request.get(subject[0]), subject[1]) and isinstance(timeout, int | float)
        if run in self._runs or not fit:
            message = f"A {request['type']} needs an id of its own, a {subject[0]} and a timeout in seconds."
            self._fail(run, "bad_request", message)
            return
        if len(self._runs) >= MAX_RUNS:
            self._fail(run, "busy", "Too many runs at the same time.")
            return
        if request.get("gateway"):
            self._warm(self._before_models)
        is_open = request.get("network") == "open"
        if is_open:
            self._close(frozenset(request.get("closed") or ()))
        if self._spares or not self._spares_owed:  # else what is owed is more already than this run takes
            self._spares_owed.append(is_open)
        taken = self._spare(ahead=is_open) or self._fork(ahead=is_open)
        if taken is None:
            self._fail(run, "crash", "No process could be started for the run.")
            return
        taken.run = run
        taken.started = time.monotonic()
        taken.deadline = taken.started + timeout
        self._runs[run] = taken
        try:
            write_all(taken.request, line)
            os.write(taken.go, b"1")
        except OSError:  # it died while it was waiting; the reaping reports that as a crash
            return
        self._reply({"id": run, "type": "started", "pid": taken.pid})

    # Children

    def _spare(self, *, ahead: bool) -> Child | None:
        """A process that waits ready, of the kind that is asked for if there is one; each can do for the other kind."""
        fit = next((spare for spare in self._spares if spare.ahead == ahead), next(iter(self._spares), None))
        if fit is not None:
            self._spares.remove(fit)
        return fit

    def _fork(self, *, ahead: bool) -> Child | None:
        """A new process that waits for its request, or None when the system gives none."""
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=self._folder))
        for name in ("home", "tmp"):
            (folder / name).mkdir(mode=0o700)
        request, name = tempfile.mkstemp(dir=folder)
        os.unlink(name)  # noqa: PTH108 - a path from mkstemp
        go_read, go_write = os.pipe()
        results_read, results_write = os.pipe()
        events_read, events_write = os.pipe()
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            for descriptor in (
                request, go_read, go_write, results_read, results_write, events_read, events_write
            ):  # fmt: skip
                os.close(descriptor)
            shutil.rmtree(folder, ignore_errors=True)
            return None
        if pid == 0:
            child.live(parent, request, go_read, results_write, events_write, folder, self._closed, ahead=ahead)
        for descriptor in (go_read, results_write, events_write):
            os.close(descriptor)
        for descriptor in (results_read, events_read):
            os.set_blocking(descriptor, False)
        forked = Child(pid, request, go_write, results_read, EventPipe(events_read), folder, ahead)
        self._children[pid] = forked
        self._watch(results_read, lambda: self._read_result(forked))
        self._watch(events_read, lambda: self._read_events(forked))
        return forked

    def _read_events(self, source: Child) -> None:
        """Pass on what the run tells; when it has told too much, or ended, nothing more is read."""
        self._tell(source, source.events.read())
        if not source.events.open:
            self._selector.unregister(source.events.descriptor)
            source.events.close()

    def _tell(self, source: Child, events: list[Message]) -> None:
        for event in events:
            if source.run is not None:
                self._reply({"id": source.run, "type": "event", "event": event})

    def _read_result(self, source: Child) -> None:
        """Take what the run wrote; a whole line is its result and ends it."""
        try:
            data = os.read(source.results, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._selector.unregister(source.results)
            source.mute = True  # its exit, which follows at once or is brought about, says what happened
            source.deadline = min(source.deadline, time.monotonic() + EXIT_TIME)
            return
        source.received += data
        if data.endswith(b"\n") or len(source.received) > MAX_RESULT + CHUNK:
            self._finish(source)

    def _finish(self, source: Child, *, reaped: bool = False) -> None:
        """Pass a result on; the process, which is ending anyway, is tidied up after when its end is noticed."""
        run, received = source.run, bytes(source.received)
        if run is not None:
            self._tell(source, source.events.rest())
            try:
                result = json.loads(received)
                if not isinstance(result, dict) or len(received) > MAX_RESULT + CHUNK:
                    raise ValueError("not a result")
                self._reply({**result, "id": run, "type": "result"})
            except (ValueError, RecursionError):
                self._fail(run, "crash", "The run's process handed back something that is not a result.")
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
                self._tell(late, late.events.rest())
                peak = self._remove(late)
                if late.mute:
                    self._fail(run, "crash", "The run's process gave up its way to hand back a result.", peak_mb=peak)
                else:
                    self._fail(run, "timeout", "The run took longer than it was allowed.", peak_mb=peak)

    def _reap(self) -> None:
        """A child ended: collect it, and report a run that ended without a result."""
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
            more = {"peak_mb": peak_of(used), "seconds": round(time.monotonic() - each.started, 3)}
            if run is not None and each.received.endswith(b"\n"):
                self._finish(each, reaped=True)
                continue
            self._tell(each, each.events.rest())
            self._remove(each, reaped=True)
            if run is not None:
                code = os.waitstatus_to_exitcode(status)
                if code == -signal.SIGXCPU:
                    self._fail(run, "limit", "The run used more processor time than it was allowed.", **more)
                    continue
                how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
                self._fail(run, "crash", f"The run's process {how} before it gave a result.", **more)

    def _drain(self, source: Child) -> None:
        """Read what a child wrote before it ended."""
        with contextlib.suppress(OSError):
            while len(source.received) <= MAX_RESULT + CHUNK and (data := os.read(source.results, CHUNK)):
                source.received += data

    def _remove(self, each: Child, *, reaped: bool = False) -> float:
        """End a process with its whole group, collect it, and forget and delete everything that was its own.

        Returns the most memory that it had, in MB, or 0 when it was collected before.
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
        shutil.rmtree(each.folder, onerror=unlock)
        if each.run is not None:
            self._runs.pop(each.run, None)
        if each in self._spares:
            self._spares.remove(each)
        return peak
