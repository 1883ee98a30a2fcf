"""Processes that wait for runs, so that a run need not wait for a fork; and warming up the engine while it is idle."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Collection

from runtime.engine.process import Engine, EngineDied
from runtime.engine.runs.child import RunProcess

IDLE = 1.0
"""Seconds without a run before the next warm-up step: a runner started for a single run does not wait for it."""
MODEL_STEPS = 1
"""How many steps of warming up a run that calls models needs."""
REST = 0.15
"""Seconds without a run, or without two at once, after which the reserve is given up: before it rehearses."""


PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
"""How many processors this process may use."""


class Spares:
    """The processes of one engine that wait. All methods belong to one event loop.

    To start one takes as much of a processor as half a run does. So none is started while runs have all processors;
    to make up for it, twice as many wait as long as runs come several at a time.
    """

    def __init__(self, engine: Engine, count: int, processors: int | None = None) -> None:
        """Start as many processes.

        Args:
            engine: whose processes.
            count: how many wait, one for each run that may start at the same time.
            processors: how many runs have a processor of their own; by default as many as this process may use.
        """
        self.engine = engine
        self._count = count
        self._processors = PROCESSORS if processors is None else processors
        self._running = 0
        self._reserve = 0
        self._overlapped = 0.0
        self._closed = False
        self._rest: asyncio.TimerHandle | None = None
        self._waiting: list[RunProcess] = []
        self._missing = count
        """How many to start. Only a run adds one: a process that ends before it is used is not replaced at once."""
        self._steps = 0
        self._changed = asyncio.get_running_loop().time()
        self._warming = asyncio.create_task(self._warm_up_while_idle())
        self.fill()

    def take(self, *, models: bool) -> RunProcess:
        """A process for a run, preferably one that waits; `fill` starts the next one, `done` follows the run's end.

        Args:
            models: whether it calls models.

        Raises:
            EngineDied: the engine has ended.
        """
        self._changed = asyncio.get_running_loop().time()
        needed = min(MODEL_STEPS, self.engine.warm_ups) if models else 0
        if self._steps < needed:
            self._steps = needed
            self.engine.warming(needed)
        self._replace([each for each in self._waiting if each.warm_steps < needed])
        self._waiting = [each for each in self._waiting if not each.ended.done()]
        if self._waiting or not self._missing:  # otherwise enough are about to be started
            self._missing += 1
        run = self._waiting.pop(0) if self._waiting else self.engine.fork(self._steps)
        self._running += 1
        self._stop_resting()
        if self._changed - self._overlapped >= REST:
            self._reserve = 0
        self._missing = max(0, min(self._missing, self._count + self._reserve - len(self._waiting)))
        return run

    def fill(self) -> None:
        """Start processes that are missing: all if nothing runs, one if a processor is free, otherwise none yet.

        When the engine has ended, there is nothing to do.
        """
        if self._closed:
            return
        if self._running >= self._processors:
            if self._running > 1:
                self._overlapped = asyncio.get_running_loop().time()
                self._missing += self._count - self._reserve
                self._reserve = self._count
            return
        with contextlib.suppress(EngineDied):
            while self._missing:
                self._missing -= 1
                self._waiting.append(self.engine.fork(self._steps))
                if self._running:
                    break

    def done(self) -> None:
        """A run has ended: start what was put off meanwhile."""
        self._running -= 1
        self.fill()
        if self._reserve and not self._running and not self._closed:
            self._rest = asyncio.get_running_loop().call_later(REST, self._give_up_reserve)

    def close(self) -> None:
        """End the processes that wait."""
        self._warming.cancel()
        self._stop_resting()
        self._closed = True
        self._missing = 0
        for each in self._waiting:
            self.engine.discard(each)
        self._waiting.clear()

    def _stop_resting(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None

    def _give_up_reserve(self) -> None:
        """End the processes of the reserve: nothing has run for a while."""
        self._reserve = 0
        surplus = max(0, self._missing + len(self._waiting) - self._count)
        unstarted = min(surplus, self._missing)
        self._missing -= unstarted
        for _ in range(surplus - unstarted):
            self.engine.discard(self._waiting.pop())

    def _replace(self, outdated: Collection[RunProcess]) -> None:
        """End processes that were forked in an outdated state; `fill` starts as many again."""
        for each in tuple(outdated):
            self._waiting.remove(each)
            self._missing += 1
            self.engine.discard(each)

    async def _warm_up_while_idle(self) -> None:
        """Have the engine warm up step by step, each after it was idle for a while."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(EngineDied):
            while self._steps < self.engine.warm_ups:
                if self.engine.busy:
                    self._changed = loop.time()
                if (left := self._changed + IDLE - loop.time()) > 0:
                    await asyncio.sleep(left)
                    continue
                self._steps += 1
                await self.engine.warming(self._steps)
                self._replace(self._waiting)
                self.fill()
