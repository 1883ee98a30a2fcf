"""The flow engine's template process as its client sees it: started, asked for processes of runs, and ended."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
from asyncio.subprocess import DEVNULL, PIPE
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from flows.document import JsonObject
from flows.json_values import as_object, as_text
from runtime.engine.confinement import Confinement
from runtime.engine.control import Control, ProtocolBroken
from runtime.engine.protocol import PROTOCOL
from runtime.engine.runs.child import Ended, RunProcess
from runtime.files.lock import FileLock
from runtime.processes import kill_group

CLOSE_TIMEOUT = 3.0
"""Seconds that the engine has to exit by itself."""
DRAIN_TIMEOUT = 0.5
"""Seconds that the pipes of a killed engine may stay open: a process that it started may hold them."""
EXIT_TIME = 0.2
"""Seconds that a process may live after its result."""
KILL_TIMEOUT = 0.5
"""Seconds after which a run's process that should be killed is killed from here."""
CANCEL_TIMEOUT = 10.0
"""Seconds after which an engine that did not notice that is killed itself; one that warms itself up takes a few."""
KEPT_STDERR = 64 * 1024
"""Bytes of the engine's standard error that are kept for diagnosis; never shown to users."""


class EngineDied(Exception):
    """The engine process ended, or broke its protocol."""


class Engine:
    """One running engine process. All methods belong to the event loop that started it."""

    def __init__(self, process: asyncio.subprocess.Process, control: Control) -> None:
        """Take over a process whose standard input is the other end of `control`; call `start` instead."""
        self._process = process
        self._control = control
        self._numbers = itertools.count(1)
        self._runs: dict[int, RunProcess] = {}
        self._warming: dict[int, asyncio.Future[None]] = {}
        self._hello: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._stderr: deque[bytes] = deque()
        self._stderr_size = 0
        self._over = False
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._read_stderr())]

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        variables: Mapping[str, str],
        folder: Path,
        *,
        limit: float,
        lock: FileLock | None = None,
    ) -> Engine:
        """Start the engine and wait for its greeting.

        Args:
            command: the program and its arguments.
            variables: its whole environment.
            folder: its working directory.
            limit: seconds to wait for its greeting.
            lock: a lock that the engine inherits and holds for as long as it lives; it is released here.

        Raises:
            EngineDied: it does not greet in time, or speaks another protocol.
        """
        ours, theirs = socket.socketpair()
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=theirs.fileno(),
                stdout=DEVNULL,
                stderr=PIPE,
                env=variables,
                cwd=folder,
                start_new_session=True,
                pass_fds=() if lock is None or lock.descriptor is None else (lock.descriptor,),
            )
        except BaseException as error:
            ours.close()
            if isinstance(error, OSError):
                raise EngineDied("its program could not be started") from None
            raise
        finally:
            theirs.close()
            if lock is not None:
                lock.release()
        engine = cls(process, Control(ours))
        try:
            async with asyncio.timeout(limit):
                hello = await engine._hello
            if hello.get("type") != "hello" or hello.get("protocol") != PROTOCOL:
                raise EngineDied(as_text(hello.get("message")) or "it speaks another protocol")
        except TimeoutError:
            await engine.kill()
            raise EngineDied("it did not get ready in time") from None
        except BaseException:
            await engine.kill()
            raise
        return engine

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it takes commands."""
        return not self._over and self._process.returncode is None

    @property
    def warm_ups(self) -> int:
        """How many steps it can be asked to warm up."""
        steps = self._hello.result().get("warm_ups") if self._hello.done() else 0
        return steps if isinstance(steps, int) else 0

    @property
    def confinement(self) -> Confinement:
        """What its kernel says it has of what every run must be confined by."""
        return Confinement.read(self._hello.result() if self._hello.done() else {})

    @property
    def call_numbers(self) -> JsonObject:
        """The numbers of the machine's system calls, by name."""
        return as_object(self._hello.result().get("calls")) if self._hello.done() else {}

    @property
    def busy(self) -> bool:
        """Whether one of its processes runs something."""
        return any(run.running for run in self._runs.values())

    @property
    def stderr_tail(self) -> str:
        """The end of what it wrote to standard error: for diagnosis, never for users."""
        return b"".join(self._stderr).decode("utf-8", errors="replace")

    def fork(self, warm_steps: int = 0) -> RunProcess:
        """Ask for a process that waits for its run, and return it; whether it starts shows later.

        Args:
            warm_steps: how many steps of warming up were asked for before.

        Raises:
            EngineDied: the engine has ended.
        """
        ours, theirs = socket.socketpair()
        run = RunProcess(next(self._numbers), ours, warm_steps)
        self._runs[run.number] = run
        try:
            self._send({"type": "fork", "id": run.number}, theirs)
        except EngineDied:
            theirs.close()
            run.end(Ended())
            raise
        return run

    def warming(self, steps: int) -> asyncio.Future[None]:
        """Have the engine do its first `steps` steps of warming up before its next command; done when it has.

        Raises:
            EngineDied: it ended before.
        """
        number = next(self._numbers)
        self._send({"type": "warm", "id": number, "steps": steps})
        self._warming[number] = asyncio.get_running_loop().create_future()
        return self._warming[number]

    def discard(self, run: RunProcess) -> None:
        """Have a process killed, without waiting for its end."""
        run.close()
        if not run.ended.done():
            with contextlib.suppress(EngineDied):
                self._send({"type": "kill", "id": run.number})

    def collect(self, run: RunProcess) -> None:
        """Let a process that gave its result end by itself, and have it killed if it does not."""
        run.close()
        asyncio.get_running_loop().call_later(EXIT_TIME, self.discard, run)

    async def end(self, run: RunProcess) -> Ended:
        """Have a process killed and wait for its end; an engine that does not bring it about is killed itself."""
        self.discard(run)
        await asyncio.wait([run.ended], timeout=KILL_TIMEOUT)
        if not run.ended.done():
            if run.pid.done() and run.pid.result() > 0:
                kill_group(run.pid.result())
            await asyncio.wait([run.ended], timeout=CANCEL_TIMEOUT)
        if not run.ended.done():
            await self.kill()
        return await run.ended

    async def idle(self, timeout: float) -> None:
        """Wait up to `timeout` seconds until its runs are over."""
        if running := [run.ended for run in self._runs.values() if run.running]:
            await asyncio.wait(running, timeout=timeout)

    async def close(self) -> None:
        """Ask the engine to end; kill it when it has not within `CLOSE_TIMEOUT`, or when this is cancelled."""
        try:
            with contextlib.suppress(EngineDied, OSError, TimeoutError):
                self._send({"type": "shutdown"})
                async with asyncio.timeout(CLOSE_TIMEOUT):
                    await self._process.wait()
        finally:
            await self.kill()

    async def kill(self) -> None:
        """Kill the engine and everything in its process group; also when this is cancelled."""
        self._end("it was killed")
        kill_group(self._process.pid)
        reaped = asyncio.create_task(self._reap())
        try:
            await asyncio.shield(reaped)
        except asyncio.CancelledError:
            await reaped  # takes a moment; otherwise its pipes would outlive the loop
            raise

    async def _reap(self) -> None:
        """Wait a few seconds for the end of the process, then close its pipes, even if another process holds them."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await asyncio.wait(self._tasks, timeout=DRAIN_TIMEOUT)
                for task in self._tasks:
                    task.cancel()
                await asyncio.gather(*self._tasks, return_exceptions=True)
                await self._process.wait()
        self._control.close()
        self._process._transport.close()  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]  (it has no public name)
        await asyncio.sleep(0)  # pipes are closed by the loop

    def _send(self, command: JsonObject, passed: socket.socket | None = None) -> None:
        if not self.alive:
            raise EngineDied("it ended")
        try:
            self._control.send(command, passed)
        except OSError:
            raise EngineDied("it ended") from None

    def _end(self, why: str) -> None:
        if self._over:
            return
        self._over = True
        for future in (self._hello, *self._warming.values()):
            if not future.done():
                future.set_exception(EngineDied(why))
            future.exception() if not future.cancelled() else None  # mark as seen: nobody may be waiting
        for run in list(self._runs.values()):
            run.end(Ended(engine_died=True))
        self._runs.clear()

    async def _read(self) -> None:
        """Read messages until the engine closes its socket."""
        try:
            async for message in self._control.messages():
                self._receive(message)
        except ProtocolBroken:
            self._end("it broke the protocol")
            with contextlib.suppress(ProcessLookupError, PermissionError):
                self._process.kill()  # nothing that it sends later can be trusted
        self._end("it ended")

    def _receive(self, message: JsonObject) -> None:
        """Take in one message.

        Raises:
            ProtocolBroken: it does not belong to the protocol.
        """
        number = message.get("id")
        run = self._runs.get(number) if isinstance(number, int) else None
        match message.get("type"):
            case "hello" | "failed":
                if not self._hello.done():
                    self._hello.set_result(message)
            case "forked":
                if run is not None:
                    run.forked(message)
            case "ended":
                if run is not None:
                    del self._runs[run.number]
                    run.end(Ended.read(message))
            case "warm":
                warmed = self._warming.pop(number, None) if isinstance(number, int) else None
                if warmed is not None and not warmed.done():
                    warmed.set_result(None)
            case _:
                raise ProtocolBroken

    async def _read_stderr(self) -> None:
        """Keep the end of what it writes to standard error, so that its pipe never fills."""
        assert self._process.stderr is not None  # noqa: S101 - a pipe, see start
        while chunk := await self._process.stderr.read(8192):
            self._stderr.append(chunk)
            self._stderr_size += len(chunk)
            while self._stderr_size > KEPT_STDERR:
                self._stderr_size -= len(self._stderr.popleft())
