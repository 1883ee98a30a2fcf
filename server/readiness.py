"""Whether the server can do all of its work now: run flows, and read and write its database."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flows.document import Json, JsonObject
from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from runtime.runner import Runner
from tools.workbench import FlowRunner

DATABASE_SECONDS: Final = 2.0
"""How long the database may take to answer."""

KNOWN_SECONDS = 1.0
"""How long its answer is good for."""

OPENING_SECONDS: Final = 20.0
"""How long it may take for its first answer, before which it is opened and its schema is brought up to date."""

MESSAGES: Final = {
    "new": "The flow engine has not been started yet.",
    "installing": "The flow engine is being installed (only the first time).",
    "starting": "The flow engine is starting.",
    "ready": "Flows can be run.",
    "failed": "The flow engine could not be started.",
    "closed": "The flow engine has been stopped.",
}
"""What each state of the runner means."""

FIXES: Final = {
    "new": "Wait; if it stays so, the server's log says why.",
    "installing": "Wait for the installation.",
    "starting": "Wait a few seconds.",
    "failed": "wirewright runner install",
    "closed": "Start the server again.",
}
"""What to do about each state of the runner in which flows cannot be run."""


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Part:
    """One part that the server needs.

    Attributes:
        name: `runner`, `database` or `server`.
        state: what it does; `ready` when it works.
        message: what that means.
        fix: what to do about it.
    """

    name: str
    state: str
    message: str
    fix: str = ""


def runner_part(runner: FlowRunner) -> Part:
    """What the flow engine does."""
    state = runner.state
    if state == "failed" and runner.failure is not None:
        return Part("runner", state, runner.failure.message, runner.failure.fix or FIXES[state])
    message = MESSAGES.get(state, "")
    if isinstance(runner, Runner) and runner.progress and state in {"installing", "starting"}:
        message = runner.progress
    return Part("runner", state, message, FIXES.get(state, ""))


class DatabaseProbe:
    """Asks whether the database can be written, one question at a time: who asks while another waits shares its answer.

    An answer is good for `KNOWN_SECONDS`, so that nobody keeps the database busy by asking.

    Args:
        database: the database.
        seconds: how long it may take to answer.
        opening: how long its first answer may take.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        database: Database,
        seconds: float = DATABASE_SECONDS,
        opening: float = OPENING_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._seconds = seconds
        self._limit = opening
        self._clock = clock
        self._asking: asyncio.Task[Part] | None = None
        self._until = 0.0

    async def part(self) -> Part:
        """What the database does."""
        if self._asking is None or (self._asking.done() and self._clock() >= self._until):
            self._asking = asyncio.create_task(self._ask())
        # A driver in the middle of a query is not cancelled: its answer may come late, to the next who asks.
        await asyncio.wait({self._asking}, timeout=self._limit)
        if self._asking.done():
            self._limit = self._seconds
            return self._asking.result()
        message = f"The database has not answered within {self._limit:g} s."
        return Part("database", "slow", message, "Check its load, its locks and the network to it.")

    async def aclose(self) -> None:
        """Give up a question that is still open."""
        if self._asking is not None and not self._asking.done():
            self._asking.cancel()
            await asyncio.wait({self._asking}, timeout=self._seconds)

    async def _ask(self) -> Part:
        try:
            await self._database.check()
        except StoreUnavailable as failure:
            log.warning("store.not_ready", exc_info=failure)
            part = Part("database", "failed", failure.message, failure.fix)
        else:
            part = Part("database", "ready", "The database can be written.")
        self._until = self._clock() + KNOWN_SECONDS
        return part


def readiness(*parts: Part) -> JsonObject:
    """What `/readyz` says of the parts that the server needs; message and fix are those of the first that fails.

    Args:
        *parts: the parts, those first on which the others rest.
    """
    failing = [part for part in parts if part.state != "ready"]
    told = failing[0] if failing else runner_of(parts)
    states: dict[str, Json] = {part.name: part.state for part in parts}
    facts: JsonObject = {"ready": not failing, **states, "message": told.message}
    if not failing:
        return facts
    names: list[Json] = [part.name for part in failing]
    return {**facts, "fix": told.fix, "failing": names}


def runner_of(parts: tuple[Part, ...]) -> Part:
    """The part that is the flow engine."""
    return next(part for part in parts if part.name == "runner")
