"""Sends requests to the engine, a few at a time, each answered or ended within its time limit; the others wait."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Generator

from flows.document import JsonObject
from runtime.engine.process import Engine, EngineDied
from runtime.engine.protocol import encode
from runtime.engine.run_results import ended_without_result
from runtime.engine.supervisor import EngineSupervisor
from runtime.results import BUSY, ENGINE_CLOSED, RunFailed

GRACE = 5.0
"""Seconds after a request's own time limit by which the engine must have reported it."""
KILL_TIMEOUT = 0.5
"""Seconds after which the processes of a cancelled run are killed from here."""
CANCEL_TIMEOUT = 10.0
"""Seconds after which an engine that did not notice that is killed itself; one that warms itself up takes a few."""
MAX_WAITING = 64
"""Requests that may wait for their turn; one more is refused as busy."""


class RequestQueue:
    """The active requests and those that wait. All methods belong to one event loop."""

    def __init__(self, supervisor: EngineSupervisor, concurrency: int) -> None:
        """Send to the engine that `supervisor` keeps running, at most `concurrency` requests at the same time."""
        self._supervisor = supervisor
        self._concurrency = concurrency
        self._slots = asyncio.Semaphore(concurrency)
        self._entered = 0

    @contextlib.contextmanager
    def enter(self) -> Generator[None]:
        """Count as an active or waiting request meanwhile.

        Raises:
            RunFailed: too many requests wait already.
        """
        if self._entered >= self._concurrency + MAX_WAITING:
            raise RunFailed(BUSY)
        self._entered += 1
        try:
            yield
        finally:
            self._entered -= 1

    async def send(
        self,
        request: JsonObject,
        timeout: float,
        *,
        on_started: Callable[[int], None] | None = None,
        on_event: Callable[[JsonObject], None] | None = None,
    ) -> JsonObject:
        """Send a request when its turn comes, and return the message that answers it.

        Args:
            request: with its `id`.
            timeout: seconds that the engine has for it; it enforces them itself, and is given up soon after.
            on_started: called with the process id of the request's own process.
            on_event: called with each event, in order and before the answer.

        Raises:
            RunFailed: there is no engine, it ended, it did not answer in time, or the request cannot be sent.
        """
        request_id, line = str(request["id"]), await asyncio.to_thread(encode, request)
        engine = await self._slot()
        answer = engine.expect(request_id, on_started, on_event)
        try:
            engine.send(line)
            done, _ = await asyncio.wait([answer], timeout=timeout + GRACE)
        except EngineDied:
            done = {answer}
        except asyncio.CancelledError:
            self._supervisor.run_in_background(self._abandon(engine, request_id, answer))
            raise
        if not done:  # the engine does not enforce its own time limits
            self._supervisor.run_in_background(self._abandon(engine, request_id, answer))
            raise RunFailed(ended_without_result("timeout", timeout), seconds=timeout)
        self._slots.release()
        try:
            return answer.result()
        except (EngineDied, asyncio.CancelledError):
            closed = self._supervisor.state == "closed"
            raise RunFailed(ENGINE_CLOSED if closed else ended_without_result("crash", timeout)) from None

    async def _slot(self) -> Engine:
        """Wait for a free slot and return the engine; the caller releases the slot."""
        await self._slots.acquire()
        try:
            return await self._supervisor.running()
        except BaseException:
            self._slots.release()
            raise

    async def _abandon(self, engine: Engine, request_id: str, answer: asyncio.Future[JsonObject]) -> None:
        """End a request that nobody waits for; kill the engine when it does not confirm. Then release the slot."""
        try:
            with contextlib.suppress(EngineDied):
                engine.send(encode({"id": request_id, "type": "cancel"}))
            done, _ = await asyncio.wait([answer], timeout=KILL_TIMEOUT)
            if not done:
                engine.end_run(request_id)
                done, _ = await asyncio.wait([answer], timeout=CANCEL_TIMEOUT)
            if not done:
                await engine.kill()
        finally:
            engine.forget(request_id)
            self._slots.release()
