"""The flow engine process as its client sees it: started, used through its pipes, and ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
from asyncio.subprocess import PIPE
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flows.document import Json, JsonObject
from flows.json_values import as_object, as_text
from runtime.engine.protocol import MAX_LINE, PROTOCOL
from runtime.files.lock import FileLock
from runtime.processes import kill_group

PARSE_IN_THREAD = 256 * 1024
"""Bytes from which a message is parsed in a thread."""
CLOSE_TIMEOUT = 3.0
"""Seconds that the engine has to exit by itself."""
DRAIN_TIMEOUT = 0.5
"""Seconds that the pipes of a killed engine may stay open: a process that it started may hold them."""
KEPT_STDERR = 64 * 1024
"""Bytes of the engine's standard error that are kept for diagnosis; never shown to users."""


class EngineDied(Exception):
    """The engine process ended, or broke its protocol."""


@dataclass
class _Request:
    """A request that waits for its answer."""

    answer: asyncio.Future[JsonObject]
    on_started: Callable[[int], None] | None
    on_event: Callable[[JsonObject], None] | None
    pid: int | None = None


class Engine:
    """One running engine process. All methods belong to the event loop that started it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        """Take over a process whose standard streams are pipes; call `start` instead."""
        self._process = process
        self._requests: dict[str, _Request] = {}
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
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                env=variables,
                cwd=folder,
                start_new_session=True,
                pass_fds=() if lock is None or lock.descriptor is None else (lock.descriptor,),
            )
        except OSError:
            raise EngineDied("its program could not be started") from None
        finally:
            if lock is not None:
                lock.release()
        engine = cls(process)
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
        """Whether it takes messages."""
        return not self._over and self._process.returncode is None

    @property
    def stderr_tail(self) -> str:
        """The end of what it wrote to standard error: for diagnosis, never for users."""
        return b"".join(self._stderr).decode("utf-8", errors="replace")

    def send(self, line: bytes) -> None:
        """Write one message without waiting; raises EngineDied when the process has ended."""
        if not self.alive or self._process.stdin is None:
            raise EngineDied("it ended")
        self._process.stdin.write(line)

    def expect(
        self,
        request: str,
        on_started: Callable[[int], None] | None = None,
        on_event: Callable[[JsonObject], None] | None = None,
    ) -> asyncio.Future[JsonObject]:
        """Return a future for the answer to the request of this id; it raises EngineDied when the engine dies first.

        `on_started` is called with the process id of its run, and `on_event` with each of its events, in order and
        before the answer.
        """
        future: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        if not self.alive:
            future.set_exception(EngineDied("it ended"))
            return future
        self._requests[request] = _Request(future, on_started, on_event)
        return future

    def forget(self, request: str) -> None:
        """Drop a request whose answer nobody waits for."""
        if (dropped := self._requests.pop(request, None)) is not None:
            dropped.answer.cancel()

    async def idle(self, timeout: float) -> None:
        """Wait up to `timeout` seconds until its runs are over."""
        if self._requests:
            await asyncio.wait({request.answer for request in self._requests.values()}, timeout=timeout)

    def end_run(self, request: str) -> None:
        """Kill the processes of a run without the engine, which has not confirmed its end."""
        if (running := self._requests.get(request)) is not None and running.pid is not None:
            kill_group(running.pid)

    async def close(self) -> None:
        """Ask the engine to end; kill it when it has not within `CLOSE_TIMEOUT`, or when this is cancelled."""
        try:
            with contextlib.suppress(EngineDied, OSError):
                self.send(b'{"type":"shutdown"}\n')
                if self._process.stdin is not None:
                    self._process.stdin.close()
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
        self._process._transport.close()  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]  (it has no public name)
        await asyncio.sleep(0)  # pipes are closed by the loop

    def _end(self, why: str) -> None:
        if self._over:
            return
        self._over = True
        for future in (self._hello, *(request.answer for request in self._requests.values())):
            if not future.done():
                future.set_exception(EngineDied(why))
            future.exception() if not future.cancelled() else None  # mark as seen: nobody may be waiting
        self._requests.clear()

    async def _read(self) -> None:
        """Read messages until the engine's output ends."""
        assert self._process.stdout is not None  # noqa: S101 - a pipe, see start
        rest = bytearray()
        while chunk := await self._process.stdout.read(1 << 18):
            *lines, tail = chunk.split(b"\n")
            for line in lines:
                rest += line
                whole = bytes(rest)
                rest.clear()
                if not await self._receive(whole):
                    await self._give_up()
                    return
            rest += tail
            if len(rest) > MAX_LINE:
                await self._give_up()
                return
        self._end("it ended")

    async def _give_up(self) -> None:
        """Kill an engine that broke the protocol: nothing that it sends later can be trusted."""
        self._end("it broke the protocol")
        with contextlib.suppress(ProcessLookupError, PermissionError):
            self._process.kill()

    async def _receive(self, line: bytes) -> bool:
        """Deliver one message; returns whether it belongs to the protocol."""
        try:
            parsed: Json = (
                await asyncio.to_thread(json.loads, line) if len(line) > PARSE_IN_THREAD else json.loads(line)
            )
        except (ValueError, RecursionError):
            return False
        message = as_object(parsed)
        kind, request_id = message.get("type"), as_text(message.get("id"))
        if kind in {"hello", "failed"}:
            if not self._hello.done():
                self._hello.set_result(message)
            return True
        request = self._requests.get(request_id)
        match kind:
            case "started":
                pid = message.get("pid")
                if request is not None and isinstance(pid, int):
                    request.pid = pid
                    if request.on_started is not None:
                        request.on_started(pid)
            case "event":
                if request is not None and request.on_event is not None:
                    request.on_event(as_object(message.get("event")))
            case "result" | "error" | "pong":
                if request is not None:
                    del self._requests[request_id]
                    if not request.answer.done():
                        request.answer.set_result(message)
            case _:
                return False
        return True

    async def _read_stderr(self) -> None:
        """Keep the end of what it writes to standard error, so that its pipe never fills."""
        assert self._process.stderr is not None  # noqa: S101 - a pipe, see start
        while chunk := await self._process.stderr.read(8192):
            self._stderr.append(chunk)
            self._stderr_size += len(chunk)
            while self._stderr_size > KEPT_STDERR:
                self._stderr_size -= len(self._stderr.popleft())
