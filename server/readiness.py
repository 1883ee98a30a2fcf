"""Whether the server can do all of its work now: run flows, and read and write its database."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flows.document import Json, JsonObject
from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from runtime.runner import Runner
from tools.workbench import FlowRunner

DATABASE_SECONDS: Final = 2.0
"""How long the database may take to answer."""

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
    """Asks the database, one question at a time: who asks while another waits shares its answer.

    Args:
        database: the database.
        seconds: how long it may take to answer.
        opening: how long its first answer may take.
    """

    def __init__(self, database: Database, seconds: float = DATABASE_SECONDS, opening: float = OPENING_SECONDS) -> None:
        self._database = database
        self._seconds = seconds
        self._limit = opening
        self._asking: asyncio.Task[Part] | None = None

    async def part(self) -> Part:
        """What the database does."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(_ask(self._database))
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


async def _ask(database: Database) -> Part:
    try:
        async with database.reading() as connection:
            await connection.exec_driver_sql("SELECT version_num FROM alembic_version")
            file, dialect = connection.engine.url.database, connection.engine.dialect.name
        if dialect == "sqlite" and file and file != ":memory:" and not await asyncio.to_thread(Path(file).exists):
            # An open connection goes on working on a file that nobody will find again.
            message = "The database's file was removed."
            return Part("database", "failed", message, "Restore it from a backup, then start the server again.")
    except StoreUnavailable as failure:
        return Part("database", "failed", failure.message, failure.fix)
    return Part("database", "ready", "The database answers.")


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
