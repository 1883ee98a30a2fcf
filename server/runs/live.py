"""The runs that go on in this server: each has a task of its own, can be followed from its beginning, and be ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final, TypeAlias

import anyio

from runtime.database.errors import StoreUnavailable
from runtime.options import OnEvent
from runtime.results import RunError, RunFailed, RunResult
from runtime.run_events import EventsCut, RunEvent
from runtime.sessions.run_entry import RunEntry, RunState
from runtime.sessions.runs import RunLog
from server.streams.sse import frame

FRAMES_BYTES: Final = 4_000_000
"""Bytes of events that are kept for late followers of a run; the rest is left out, and `cut` says so."""

LISTEN_SECONDS: Final = 0.3
"""How often a server looks whether it is to end a run for another one, while it has some."""

CLEANUP_SECONDS: Final = 5.0
"""How long a run that is ended may take to clean up."""

Execute: TypeAlias = Callable[[OnEvent], Awaitable[RunResult]]
"""Runs a flow; what it is given is called with each event."""

log = logging.getLogger(__name__)


class LiveRun:
    """One run that goes on, or has just ended.

    Args:
        user: whose it is.
        entry: what the log of runs knows of it.

    Attributes:
        user: whose it is.
        entry: what the log of runs knows of it; what came of it once it has ended.
        result: what it gave; None while it runs, and when it was ended early.
    """

    def __init__(self, user: str, entry: RunEntry) -> None:
        self.user = user
        self.entry = entry
        self.result: RunResult | None = None
        self._frames: list[bytes] = []
        self._bytes = 0
        self._cut = False
        self._news = asyncio.Event()
        self._ended = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._ends_as: RunState = "cancelled"

    @property
    def has_ended(self) -> bool:
        """Whether nothing more comes of it."""
        return self._ended.is_set()

    async def frames(self) -> AsyncGenerator[bytes]:
        """Its events from the first, each as one frame of a stream, until it has ended; for any number of followers."""
        given = 0
        while True:
            news = self._news
            while given < len(self._frames):
                given += 1
                yield self._frames[given - 1]
            if self._ended.is_set():
                return
            await news.wait()

    async def wait(self) -> RunResult | None:
        """What it gave, once it has ended; None when it was ended early."""
        await self._ended.wait()
        return self.result

    async def cancel(self, state: RunState = "cancelled") -> None:
        """End it, with its process, and wait within limits until that is done.

        Args:
            state: how it is said to have ended.
        """
        task = self._task
        if task is None or task.done():
            return
        self._ends_as = state
        task.cancel()
        with anyio.move_on_after(CLEANUP_SECONDS, shield=True):
            await asyncio.wait([task])

    def begin(self, execute: Execute, ended: Callable[[LiveRun], None]) -> asyncio.Task[None]:
        """Start it.

        Args:
            execute: runs the flow.
            ended: called once, when it has ended.
        """

        async def run() -> None:
            try:
                self.result = await execute(self._add)
                self.entry = self.entry.ended(self.result)
            except asyncio.CancelledError:
                self.entry = self.entry.ended_early(self._ends_as)
                raise
            except Exception:
                log.exception("run.failed")
                error = RunError(code="crash", message="Something went wrong inside the server.", fix="Run it again.")
                self.result = RunResult.failed(self.entry.id, RunFailed(error))
                self.entry = self.entry.ended(self.result)
            finally:
                self._ended.set()
                self._tell()
                ended(self)

        self._task = asyncio.create_task(run(), name="run")
        return self._task

    def _add(self, event: RunEvent) -> None:
        if self._cut:
            return
        made = frame(event)
        if self._bytes + len(made) > FRAMES_BYTES:
            self._cut, made = True, frame(EventsCut())
        self._bytes += len(made)
        self._frames.append(made)
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


class LiveRuns:
    """The runs that go on here, by user and id; what comes of them is kept in the log of runs.

    Args:
        run_log: keeps what ran.
    """

    def __init__(self, run_log: RunLog) -> None:
        self._log = run_log
        self._runs: dict[tuple[str, str], LiveRun] = {}
        self._listening: asyncio.Task[None] | None = None

    def get(self, user: str, run: str) -> LiveRun | None:
        """The run with this id, if it goes on here."""
        return self._runs.get((user, run))

    async def start(self, user: str, entry: RunEntry, execute: Execute, *, stored: bool = False) -> LiveRun:
        """Start a run.

        Args:
            user: whose it is.
            entry: says that it has begun.
            execute: runs the flow.
            stored: whether to return only when it is stored that it has begun.

        Raises:
            StoreUnavailable: that cannot be stored; the run is ended.
        """
        live = LiveRun(user, entry)
        self._runs[user, entry.id] = live
        task = live.begin(execute, self._end)
        if self._log.is_shared and (self._listening is None or self._listening.done()):
            self._listening = asyncio.create_task(self._listen(), name="runs-listening")
        await asyncio.sleep(0)  # one that is refused at once, because too many wait, leaves no trace
        if task.done():
            return live
        if not stored:
            self._log.begin(user, entry)
            return live
        try:
            await self._log.store_begun(user, entry)
        except BaseException:
            await live.cancel()
            raise
        return live

    async def aclose(self) -> None:
        """Interrupt every run, and wait until what came of them is stored."""
        if self._listening is not None:
            self._listening.cancel()
        runs = list(self._runs.values())
        async with anyio.create_task_group() as ending:
            for live in runs:
                ending.start_soon(live.cancel, "interrupted")
        await self._log.aclose()

    async def _listen(self) -> None:
        """Cancel what other servers ask to cancel, while anything runs."""
        while True:
            await asyncio.sleep(LISTEN_SECONDS)
            if not self._runs:
                return
            try:
                asked = await self._log.asked_to_stop([run for _, run in self._runs])
            except StoreUnavailable:
                log.exception("runs.listening_failed")
                continue
            found = [self._runs[key] for key in asked if key in self._runs]
            await asyncio.gather(*(live.cancel() for live in found))

    def _end(self, live: LiveRun) -> None:
        self._runs.pop((live.user, live.entry.id), None)
        if live.result is None or not live.result.busy:
            self._log.record(live.user, live.entry, live.result)
