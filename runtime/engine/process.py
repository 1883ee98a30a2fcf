"""The client's end of the flow engine process: starts it, speaks its protocol, notices its death, ends it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from flows.document import Json, JsonObject
from flows.json_values import as_object, as_text
from runtime.files.lock import FileLock

PROTOCOL = 1
MAX_LINE = 40 * 1024 * 1024
"""Bytes of the longest message that is accepted from the engine."""
PARSE_ASIDE = 256 * 1024
"""Bytes from which a message is parsed in a thread, not on the loop."""
CLOSE_TIMEOUT = 3.0
DRAIN_TIMEOUT = 0.5
"""Seconds that the pipes of an engine which was killed may stay open: something that it started may hold them."""
KEPT_ERRORS = 64 * 1024
"""Bytes of what the engine said on standard error that are kept for a diagnosis; never shown to users."""


class EngineDied(Exception):
    """The engine process ended, or said something that is not its protocol."""


class Engine:
    """One running engine process. All methods belong to the loop that started it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        """Take over a process whose standard streams are pipes; `start` is the way to make one."""
        self._process = process
        self._waiting: dict[str, asyncio.Future[JsonObject]] = {}
        self._started: dict[str, Callable[[int], None]] = {}
        self._told: dict[str, Callable[[JsonObject], None]] = {}
        self._pids: dict[str, int] = {}
        self._hello: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._said: deque[bytes] = deque()
        self._said_bytes = 0
        self._over = False
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._listen())]

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        variables: Mapping[str, str],
        folder: Path,
        *,
        limit: float,
        holding: FileLock | None = None,
    ) -> tuple[Engine, JsonObject]:
        """Start the engine and wait up to `limit` seconds for its greeting, which is returned with it.

        `holding` is a lock that the engine holds from then on, and that is let go here.

        Raises EngineDied when it does not greet, or speaks another protocol.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=variables,
                cwd=folder,
                start_new_session=True,
                pass_fds=() if holding is None or holding.descriptor is None else (holding.descriptor,),
            )
        except OSError:
            raise EngineDied("its program could not be started") from None
        finally:
            if holding is not None:
                holding.release()
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
        return engine, hello

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can still be spoken to."""
        return not self._over and self._process.returncode is None

    @property
    def said(self) -> str:
        """The end of what it wrote to standard error: for whoever looks after it, never for a user."""
        return b"".join(self._said).decode("utf-8", errors="replace")

    def send(self, line: bytes) -> None:
        """Queue one message; raises EngineDied when it is gone."""
        if not self.alive or self._process.stdin is None:
            raise EngineDied("it ended")
        self._process.stdin.write(line)

    def expect(
        self,
        request: str,
        started: Callable[[int], None] | None = None,
        told: Callable[[JsonObject], None] | None = None,
    ) -> asyncio.Future[JsonObject]:
        """The answer that ends `request`, to come.

        `started` is called with the process id of its run, and `told` with each of its events, in order and before the
        answer. The future raises EngineDied when the engine dies first.
        """
        future: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        if not self.alive:
            future.set_exception(EngineDied("it ended"))
            return future
        self._waiting[request] = future
        if started is not None:
            self._started[request] = started
        if told is not None:
            self._told[request] = told
        return future

    def forget(self, request: str) -> None:
        """Let go of a request whose answer nobody waits for any more."""
        self._let_go(request)
        if (future := self._waiting.pop(request, None)) is not None:
            future.cancel()

    async def idle(self, timeout: float) -> None:
        """Wait up to `timeout` seconds until every run that it has is over."""
        if self._waiting:
            await asyncio.wait(set(self._waiting.values()), timeout=timeout)

    def end_run(self, request: str) -> None:
        """End the processes of a run without the engine's help: it is busy, and has not said that the run is over."""
        pid = self._pids.get(request)
        if pid is not None and sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)

    def _let_go(self, request: str) -> None:
        for known in (self._started, self._told, self._pids):
            known.pop(request, None)

    async def close(self) -> None:
        """Ask it to end and give it a moment, then end it. Never takes longer than a few seconds.

        It has ended as well when this is cancelled: whoever cancels does not wait that moment.
        """
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
        """End it and everything it started, at once; also when this is cancelled while it waits for the end."""
        self._end("it was ended")
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)
        gone = asyncio.create_task(self._gone())
        try:
            await asyncio.shield(gone)
        except asyncio.CancelledError:
            await gone  # a moment: what was killed would otherwise be left to a loop that may be closed by then
            raise

    async def _gone(self) -> None:
        """Wait a few seconds until nothing of its process is left, then close its pipes, whoever else holds them."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await asyncio.wait(self._tasks, timeout=DRAIN_TIMEOUT)
                for task in self._tasks:
                    task.cancel()
                await asyncio.gather(*self._tasks, return_exceptions=True)
                await self._process.wait()
        self._process._transport.close()  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType, reportAttributeAccessIssue]  (it has no public name)
        await asyncio.sleep(0)  # pipes are closed by the loop

    def _end(self, why: str) -> None:
        if self._over:
            return
        self._over = True
        for future in (self._hello, *self._waiting.values()):
            if not future.done():
                future.set_exception(EngineDied(why))
            future.exception() if not future.cancelled() else None  # mark as seen: nobody may be waiting
        for known in (self._waiting, self._started, self._told, self._pids):
            known.clear()

    async def _read(self) -> None:
        """Take messages until the engine's output ends."""
        assert self._process.stdout is not None  # noqa: S101 - a pipe, see start
        held = bytearray()
        while chunk := await self._process.stdout.read(1 << 18):
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                held += line
                whole = bytes(held)
                held.clear()
                if not await self._take(whole):
                    await self._stop_reading()
                    return
            held += rest
            if len(held) > MAX_LINE:
                await self._stop_reading()
                return
        self._end("it ended")

    async def _stop_reading(self) -> None:
        """It does not keep to the protocol: nothing that it says later can be trusted."""
        self._end("it broke the protocol")
        with contextlib.suppress(ProcessLookupError, PermissionError):
            self._process.kill()

    async def _take(self, line: bytes) -> bool:
        try:
            parsed: Json = await asyncio.to_thread(json.loads, line) if len(line) > PARSE_ASIDE else json.loads(line)
        except (ValueError, RecursionError):
            return False
        message = as_object(parsed)
        kind, request = message.get("type"), as_text(message.get("id"))
        if kind in {"hello", "failed"}:
            if not self._hello.done():
                self._hello.set_result(message)
        elif kind == "started":
            pid = message.get("pid")
            if isinstance(pid, int) and request in self._waiting:
                self._pids[request] = pid
                if (call := self._started.pop(request, None)) is not None:
                    call(pid)
        elif kind == "event":
            if (tell := self._told.get(request)) is not None:
                tell(as_object(message.get("event")))
        elif kind in {"result", "error", "pong"}:
            self._let_go(request)
            if (future := self._waiting.pop(request, None)) is not None and not future.done():
                future.set_result(message)
        else:
            return False
        return True

    async def _listen(self) -> None:
        """Keep the end of what it writes to standard error, so that its pipe never fills."""
        assert self._process.stderr is not None  # noqa: S101 - a pipe, see start
        while chunk := await self._process.stderr.read(8192):
            self._said.append(chunk)
            self._said_bytes += len(chunk)
            while self._said_bytes > KEPT_ERRORS:
                self._said_bytes -= len(self._said.popleft())
