"""Processes that wait for runs, so that a run need not wait for a fork; and warming up the engine while it is idle."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Collection

from runtime.engine.process import Engine, EngineDied
from runtime.engine.runs.child import RunProcess

IDLE = 1.0
"""Seconds without a run before the next warm-up step: a runner started for a single run does not wait for it."""
MODEL_STEPS = 1
"""How many steps of warming up a run that calls models needs."""


class Spares:
    """The processes of one engine that wait. All methods belong to one event loop."""

    def __init__(self, engine: Engine, count: int, closed_ports: Collection[int]) -> None:
        """Start as many processes.

        Args:
            engine: whose processes.
            count: how many wait, one for each run that may start at the same time. Half of them close ports at first;
                later ones follow the runs that come.
            closed_ports: the ports that open runs are expected to close; each run states them again.
        """
        self.engine = engine
        self._ports = frozenset(closed_ports)
        self._waiting: list[RunProcess] = []
        self._missing = deque(number % 2 == 0 for number in range(count))
        """For each process to start, whether it closes the ports. Only a run adds one: a process that ends before it is
        used is not replaced at once."""
        self._steps = 0
        self._changed = asyncio.get_running_loop().time()
        self._warming = asyncio.create_task(self._warm_up_while_idle())
        self.fill()

    def take(self, *, closed_ports: frozenset[int] | None, models: bool) -> RunProcess:
        """A process for a run, preferably one that waits and has the run's ports closed; `fill` starts the next one.

        Args:
            closed_ports: the ports that the run, which has an open network, may not connect to; None for a
                verification run.
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
        if closed_ports is not None and closed_ports != self._ports:
            self._ports = closed_ports
            self._replace([each for each in self._waiting if each.closed_ports])
        wanted = closed_ports or frozenset[int]()
        self._waiting = [each for each in self._waiting if not each.ended.done()]
        fit = [each for each in self._waiting if each.closed_ports == wanted] or self._waiting
        if fit or not self._missing:  # otherwise enough are about to be started
            self._missing.append(bool(wanted))
        if not fit:
            return self.engine.fork(wanted, self._steps)
        taken = fit[0]
        self._waiting.remove(taken)
        return taken

    def fill(self) -> None:
        """Start the processes that are missing; when the engine has ended, there is nothing to do."""
        with contextlib.suppress(EngineDied):
            while self._missing:
                ports = self._ports if self._missing.popleft() else frozenset[int]()
                self._waiting.append(self.engine.fork(ports, self._steps))

    def close(self) -> None:
        """End the processes that wait."""
        self._warming.cancel()
        self._missing.clear()
        for each in self._waiting:
            self.engine.discard(each)
        self._waiting.clear()

    def _replace(self, outdated: Collection[RunProcess]) -> None:
        """End processes that were forked in an outdated state; `fill` starts as many again."""
        for each in tuple(outdated):
            self._waiting.remove(each)
            self._missing.append(bool(each.closed_ports))
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
