"""Flows that were proposed before the flow engine was installed: each is run once as soon as it is there."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from runtime.telemetry import log_event
from tools.effects import RunEffect
from tools.workbench import FlowRunner

Verify = Callable[[], Awaitable[list[RunEffect]]]
"""Runs a flow with its probes; gives the runs."""


class LaterRuns:
    """What could not be run yet, one flow for each conversation: the last one that was proposed.

    Args:
        runner: the engine that is awaited.
    """

    def __init__(self, runner: FlowRunner) -> None:
        self._runner = runner
        self._tasks: dict[tuple[str, str], asyncio.Task[list[RunEffect]]] = {}

    def add(self, user: str, session: str, verify: Verify) -> None:
        """Run a flow as soon as the engine is there, in place of the conversation's flow before it.

        Args:
            user: the user's id.
            session: the conversation's id.
            verify: runs it.
        """
        before = self._tasks.pop((user, session), None)
        if before is not None:
            before.cancel()
        self._tasks[user, session] = asyncio.create_task(self._run(verify))

    def take(self, user: str, session: str) -> list[RunEffect]:
        """The runs that were made meanwhile for a conversation; they are given once."""
        task = self._tasks.get((user, session))
        if task is None or not task.done():
            return []
        del self._tasks[user, session]
        return [] if task.cancelled() else task.result()

    async def aclose(self) -> None:
        """Give up what still waits."""
        tasks = [task for task in self._tasks.values() if not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _run(self, verify: Verify) -> list[RunEffect]:
        if not await self._runner.ready():
            return []
        runs = await verify()
        failed = sum(run.error is not None for run in runs)
        log_event("assistant.later_run", logging.WARNING if failed else logging.INFO, runs=len(runs), failed=failed)
        return runs
