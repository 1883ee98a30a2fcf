"""Processes that wait for runs, so that a run need not wait for a fork; and warming up the engine while it is idle."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection

from runtime.engine.process import Engine, EngineDied
from runtime.engine.runs.child import RunProcess

IDLE = 1.0
"""Seconds without a run before the next warm-up step: a runner started for a single run does not wait for it."""
MODEL_STEPS = 1
"""How many steps of warming up a run that calls models needs."""


class Spares:
    """The processes of one engine that wait. All methods belong to one event loop."""

    def __init__(self, engine: Engine, count: int) -> None:
        """Start as many processes.

        Args:
            engine: whose processes.
            count: how many wait, one for each run that may start at the same time.
        """
        self.engine = engine
        self._waiting: list[RunProcess] = []
        self._missing = count
        """How many to start. Only a run adds one: a process that ends before it is used is not replaced at once."""
        self._steps = 0
        self._changed = asyncio.get_running_loop().time()
        self._warming = asyncio.create_task(self._warm_up_while_idle())
        self.fill()

    def take(self, *, models: bool) -> RunProcess:
        """A process for a run, preferably one that waits; `fill` starts the next one.

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
        return self._waiting.pop(0) if self._waiting else self.engine.fork(self._steps)

    def fill(self) -> None:
        """Start the processes that are missing; when the engine has ended, there is nothing to do."""
        with contextlib.suppress(EngineDied):
            while self._missing:
                self._missing -= 1
                self._waiting.append(self.engine.fork(self._steps))

    def close(self) -> None:
        """End the processes that wait."""
        self._warming.cancel()
        self._missing = 0
        for each in self._waiting:
            self.engine.discard(each)
        self._waiting.clear()

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
