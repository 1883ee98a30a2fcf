"""What client and process say to each other during one run: request, events, result, all over the run's own socket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from flows.document import Json, JsonObject
from flows.json_values import as_list, as_object
from runtime.engine.confinement import Confinement, ConfinementRule
from runtime.engine.process import EngineDied
from runtime.engine.protocol import (
    MAX_FILES,
    MAX_FILES_SIZE,
    MAX_RESULT,
    MAX_VALUES,
    MAX_WRITTEN,
    RunRequest,
)
from runtime.engine.runs.child import RunProcess
from runtime.engine.runs.event_filter import EventFilter
from runtime.engine.runs.process_limits import ProcessLimits
from runtime.engine.runs.unknown_calls import UnknownCalls
from runtime.results import RunFailed

CHUNK = 1 << 18
PARSE_IN_THREAD = 256 * 1024
"""Bytes from which a result is parsed in a thread."""
_TEXT = re.compile(rb'"[^"\\]*+(?:\\(?:.|\Z)[^"\\]*+)*+(?:"|\Z)', re.DOTALL)
"""A text in JSON, ended or not, so that every line is read in one pass."""
GRACE = 5.0
"""Seconds that a process may take to be ready, besides the run's own time limit."""
EXIT_TIME = 1.0
"""Seconds that a process may live after closing its socket."""
RESULT = b'{"type":"result"'
EVENT = b'{"kind":'


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a process answered.

    Attributes:
        message: its result, or an error with a `code` and a `message`.
        files: the content of each file that the run wrote, by its path.
        unknown_calls: the system calls that the run tried and its filter does not know.
        missing: the protections that it had to do without.
    """

    message: JsonObject
    files: Sequence[tuple[str, bytes]] = ()
    unknown_calls: UnknownCalls | None = None
    missing: tuple[str, ...] = ()

    @property
    def is_result(self) -> bool:
        """Whether the process gave a result."""
        return self.message.get("type") == "result"


class _Unusable(Exception):
    """What the process wrote is not an answer."""


async def converse(
    run: RunProcess,
    request: RunRequest,
    *,
    confinement: ConfinementRule = "required",
    on_started: Callable[[int], None] | None = None,
    on_event: Callable[[JsonObject], None] | None = None,
    on_sent: Callable[[], None] = lambda: None,
) -> Answer:
    """Have a process run a request, and return its answer; the process still has to be ended.

    Args:
        run: the process, which has not run anything.
        request: what it runs.
        confinement: whether it is given the request when a required part of its confinement does not hold.
        on_started: called with its process id when its time limit starts.
        on_event: called with each event, in order and before the answer.
        on_sent: called once, when the process has what it needs or will not get it.

    Raises:
        EngineDied: the engine has ended, and the process with it.
        RunFailed: its confinement does not hold; it was not given the request.
    """
    run.running = True
    reader = _Reader(run.connection)
    started = monotonic()
    unknown: UnknownCalls | None = None
    limits: ProcessLimits | None = None
    sending: asyncio.Task[None] | None = None
    answered = False
    missing: tuple[str, ...] = ()
    try:
        async with asyncio.timeout(request.timeout + GRACE) as limit:
            with contextlib.suppress(OSError):  # the end of the process is noticed by its reader
                await asyncio.get_running_loop().sock_sendall(run.connection, request.policy)
            held = _confinement(await reader.line())
            if (refusal := held.refusal(confinement)) is not None:
                raise RunFailed(refusal)
            missing = held.missing
            unknown = UnknownCalls(reader.take_passed())
            sending = asyncio.create_task(_send(run.connection, request))  # a process that is not confined gets no flow
            sending.add_done_callback(lambda _: on_sent())
            pid = await run.pid
            started = monotonic()
            limit.reschedule(asyncio.get_running_loop().time() + request.timeout)
            limits = ProcessLimits(pid, limit)
            if on_started is not None:
                on_started(pid)
            answer = await _answer(reader, EventFilter(on_event))
            answered = answer.is_result
    except TimeoutError:
        if limits is not None and limits.exceeded is not None:
            answer = _error("limit", limits.exceeded, started)
        else:
            answer = _error("timeout", "The run took longer than it was allowed.", started)
    except _Unusable as unusable:
        answer = _error("crash", f"The run's process {unusable}.", started)
    except (EOFError, ConnectionError):
        answer = await _explain_end(run, started)
    finally:
        if sending is None:
            on_sent()
        else:
            sending.cancel()
        reader.close()
        if limits is not None:
            limits.close(look=not answered)
            run.peak_mb = limits.peak_mb
        if unknown is not None:
            unknown.close()
    return replace(answer, unknown_calls=unknown, missing=missing)


def _confinement(line: bytes) -> Confinement:
    """What a process says of its confinement before it is given anything; raises _Unusable for anything else."""
    try:
        message = as_object(json.loads(line))
    except (ValueError, RecursionError):
        message = {}
    if message.get("type") != "confined":
        raise _Unusable("returned something that is not a result")
    return Confinement.read(message)


async def _send(connection: socket.socket, request: RunRequest) -> None:
    """Send the files and the request to a process that is confined."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(OSError):  # the end of the process is noticed by its reader
        for path in request.files:
            with path.open("rb") as content:
                await loop.sock_sendfile(connection, content)
        await loop.sock_sendall(connection, request.body)


async def _answer(reader: _Reader, events: EventFilter) -> Answer:
    while not (line := await reader.line()).startswith(RESULT):
        if line.startswith(EVENT):
            events.feed(line)
    try:
        parsed = await asyncio.to_thread(_parse, line) if len(line) > PARSE_IN_THREAD else _parse(line)
    except (ValueError, RecursionError):
        raise _Unusable("returned something that is not a result") from None
    message = as_object(parsed)
    return Answer(message=message, files=[(path, await reader.block(size)) for path, size in _files(message)])


def _parse(line: bytes) -> Json:
    """A line as JSON; raises _Unusable when it has too many lists and objects, and ValueError when it is not JSON."""
    if len(line) > MAX_VALUES < line.count(b"[") + line.count(b"{"):
        brackets = _TEXT.sub(b"", line)
        if brackets.count(b"[") + brackets.count(b"{") > MAX_VALUES:
            raise _Unusable("returned a result that is too large")
    return json.loads(line)


def _files(message: JsonObject) -> list[tuple[str, int]]:
    """The paths and sizes of the files that follow a result."""
    found: list[tuple[str, int]] = []
    for each in as_list(message.get("files")):
        match each:
            case [str(path), int(size)] if 0 <= size <= MAX_FILES_SIZE:
                found.append((path, size))
            case _:
                raise _Unusable("returned something that is not a result")
    if len(found) > MAX_FILES or sum(size for _, size in found) > MAX_FILES_SIZE:
        raise _Unusable("returned more files than it may")
    return found


async def _explain_end(run: RunProcess, started: float) -> Answer:
    """The error of a process that closed its socket before it gave a result: by ending, or by itself."""
    await asyncio.wait([run.ended], timeout=EXIT_TIME)
    if not run.ended.done():
        return _error("crash", "The run's process closed the connection for its result.", started)
    ended = run.ended.result()
    if ended.engine_died:
        raise EngineDied("it ended")
    if ended.code is None:
        return _error("crash", "No process could be started for the run.", started)
    if ended.code == -signal.SIGXCPU:
        return _error("limit", "The run used more processor time than it was allowed.", started, ended.peak_mb)
    how = f"was ended by signal {-ended.code}" if ended.code < 0 else f"ended with exit code {ended.code}"
    return _error("crash", f"The run's process {how} before it gave a result.", started, ended.peak_mb)


def _error(code: str, message: str, started: float, peak_mb: float = 0) -> Answer:
    seconds = round(monotonic() - started, 3)
    return Answer(message={"type": "error", "code": code, "message": message, "seconds": seconds, "peak_mb": peak_mb})


class _Reader:
    """Reads lines and blocks of bytes from a process, which may write anything.

    It watches the socket from the first line on, and reads ahead: to begin to watch it for each line would take longer
    than to read most of them.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._held = bytearray()
        self._left = MAX_WRITTEN
        self._first = True
        self._passed: int | None = None
        self._watches = False
        self._more: asyncio.Future[None] | None = None
        """Done when something was read, while somebody waits for it."""
        self._end: Exception | None = None
        """Why nothing more is read."""

    async def line(self) -> bytes:
        """The next line.

        Raises:
            EOFError: the process closed the connection.
            _Unusable: it writes too much.
        """
        searched = 0
        while (end := self._held.find(b"\n", searched)) < 0:
            searched = len(self._held)
            if searched > MAX_RESULT:
                raise _Unusable("returned a result that is too large")
            await self._receive()
        line = bytes(self._held[:end])
        del self._held[: end + 1]
        return line

    async def block(self, size: int) -> bytes:
        """The next `size` bytes; raises what `line` does."""
        while len(self._held) < size:
            await self._receive()
        block = bytes(self._held[:size])
        del self._held[:size]
        return block

    def take_passed(self) -> int | None:
        """The descriptor that came with the first line, if one did; the caller closes it."""
        passed, self._passed = self._passed, None
        return passed

    def close(self) -> None:
        """Read no more, and close a descriptor that nobody took."""
        self._pause()
        if (passed := self.take_passed()) is not None:
            os.close(passed)

    async def _receive(self) -> None:
        """Wait until more is held."""
        held = len(self._held)
        if self._end is None:
            if not self._watches:
                self._loop.add_reader(self._connection, self._read)
                self._watches = True
            self._more = self._loop.create_future()
            try:
                await self._more
            finally:
                self._more = None
        if self._end is not None and len(self._held) == held:
            raise self._end

    def _read(self) -> None:
        """Take in what has arrived."""
        try:
            data = self._read_first() if self._first else self._connection.recv(CHUNK)  # which drops descriptors
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._end = error
        else:
            self._left -= len(data)
            if not data:
                self._end = EOFError()
            elif self._left < 0:
                self._end = _Unusable("wrote more than it may")
            else:
                self._held += data
        if self._end is not None or len(self._held) > CHUNK:
            self._pause()
        if self._more is not None and not self._more.done():
            self._more.set_result(None)

    def _read_first(self) -> bytes:
        """The first bytes, which come before anything is run, and the descriptor that comes with them."""
        data, passed, _, _ = socket.recv_fds(self._connection, CHUNK, 1)
        self._first = False
        self._passed = next(iter(passed), None)
        return data

    def _pause(self) -> None:
        if self._watches:
            self._loop.remove_reader(self._connection)
            self._watches = False
