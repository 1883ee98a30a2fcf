"""Sends requests to the engine, a few at a time, each answered or ended within its time limit; the others wait."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path

from flows.document import Json, JsonObject
from runtime.engine.confinement import ConfinementRule
from runtime.engine.process import KILL_TIMEOUT, Engine, EngineDied
from runtime.engine.protocol import RunRequest, request_for_process
from runtime.engine.run_results import ended_without_result
from runtime.engine.runs.child import RunProcess
from runtime.engine.runs.conversation import Answer, converse
from runtime.engine.spares import Spares
from runtime.engine.supervisor import EngineSupervisor
from runtime.results import BUSY, ENGINE_CLOSED, RunFailed

MAX_WAITING = 64
"""Requests that may wait for their turn; one more is refused as busy."""


class RequestQueue:
    """The active requests and those that wait. All methods belong to one event loop."""

    def __init__(self, supervisor: EngineSupervisor, concurrency: int, confinement: ConfinementRule) -> None:
        """Send to the engine that `supervisor` keeps running, at most `concurrency` requests at the same time.

        No process whose confinement lacks a required part is given one, unless the rule says `available`.
        """
        self._supervisor = supervisor
        self._concurrency = concurrency
        self._confinement: ConfinementRule = confinement
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
        *,
        staged: Path | None = None,
        on_started: Callable[[int], None] | None = None,
        on_event: Callable[[JsonObject], None] | None = None,
        at_once: bool = False,
    ) -> Answer:
        """Have a process of the engine run a request when its turn comes, and return its answer.

        Args:
            request: with its `timeout`, in seconds.
            staged: a folder with copies of the files that it may read.
            on_started: called with the process id of the request's own process.
            on_event: called with each event, in order and before the answer.
            at_once: whether the request is so short that it is encoded here, and not in a thread.

        Raises:
            RunFailed: there is no engine, it ended, its process is not confined, or the request cannot be sent.
        """
        encode = request_for_process
        encoded = encode(request, staged) if at_once else await asyncio.to_thread(encode, request, staged)
        spares = await self._slot()
        try:
            run = spares.take(models=encoded.models)
        except EngineDied:
            self._slots.release()
            raise self._engine_died(encoded) from None
        try:
            answer = await converse(
                run,
                encoded,
                confinement=self._confinement,
                on_started=on_started,
                on_event=on_event,
                on_sent=spares.fill,
            )
        except BaseException as error:
            self._supervisor.run_in_background(self._end(spares.engine, run))
            if isinstance(error, EngineDied):
                raise self._engine_died(encoded) from None
            raise
        finally:
            spares.done()
        # of the kernel's and our own account, whatever the process says
        refused: dict[str, Json] = {}
        if answer.unknown_calls is not None:
            refused |= answer.unknown_calls.counts(spares.engine.call_numbers)
        seen: JsonObject = {"refused_calls": refused, "missing_protections": [*answer.missing]}
        answer = replace(answer, message={**answer.message, **seen})
        if answer.is_result:
            spares.engine.collect(run)
            self._slots.release()
            return answer
        self._supervisor.run_in_background(self._end(spares.engine, run))
        await asyncio.wait([run.ended], timeout=KILL_TIMEOUT)
        peak = run.ended.result().peak_mb if run.ended.done() else 0.0  # one that ends slowly was looked at before
        return replace(answer, message={**answer.message, "peak_mb": max(peak, run.peak_mb)})

    async def _slot(self) -> Spares:
        """Wait for a free slot and return the processes that wait; the caller releases the slot."""
        await self._slots.acquire()
        try:
            return await self._supervisor.running()
        except BaseException:
            self._slots.release()
            raise

    async def _end(self, engine: Engine, run: RunProcess) -> None:
        """End a process that has given no result, then release the slot."""
        try:
            await engine.end(run)
        finally:
            self._slots.release()

    def _engine_died(self, request: RunRequest) -> RunFailed:
        closed = self._supervisor.state == "closed"
        return RunFailed(ENGINE_CLOSED if closed else ended_without_result("crash", request.timeout))
