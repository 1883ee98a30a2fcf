"""Where scenarios are played: on an engine in this process, or on workers."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Protocol
from uuid import uuid4

from cli.errors import CommandError
from cli.eval.play.attempt_jobs import AttemptGiven
from evals.analysis.cost import Ceiling
from evals.attempt import Attempt, Key, Versions
from evals.play.attempts import AttemptLimits, OnAttempt, play
from evals.play.environment import PlayEnvironment
from evals.players.player import Player, WithoutEngine
from evals.scenario import Scenario
from evals.user_evaluators import UserEvaluator, with_user_scores
from flows.catalogue import Catalogue
from runtime.database.database import Database
from runtime.jobs.job import BATCH
from runtime.jobs.rows import EndedJob, Jobs

LOOK_SECONDS: Final = 0.3
"""How often it is looked whether attempts have ended."""

LOCAL_PLAYERS: Final = frozenset({"replay", "python"})
"""The players that read files of this machine, which workers do not have."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is played.

    Attributes:
        scenarios: which.
        player: who plays.
        repeats: how often each.
        concurrency: how many at the same time, on one machine.
        limits: of each attempt.
        ceiling: what all of them may cost; once it is reached, no further attempt begins.
        evaluators: of the user's own.
    """

    scenarios: Sequence[Scenario]
    player: Player
    repeats: int
    concurrency: int
    limits: AttemptLimits
    ceiling: Ceiling | None
    evaluators: Sequence[UserEvaluator]


class House(Protocol):
    """Where scenarios are played.

    Attributes:
        versions: of prompts, tools and engine.
        catalogue: the component types.
    """

    @property
    def versions(self) -> Versions:
        """Of prompts, tools and engine."""
        ...

    @property
    def catalogue(self) -> Catalogue:
        """The component types."""
        ...

    async def play(self, wanted: Wanted, skip: Collection[Key], on_attempt: OnAttempt) -> list[Attempt]:
        """Play what is missing; see `evals.play.attempts.play`."""
        ...


@dataclass(frozen=True)
class _Here:
    environment: PlayEnvironment

    @property
    def versions(self) -> Versions:
        return self.environment.versions

    @property
    def catalogue(self) -> Catalogue:
        return self.environment.catalogue

    async def play(self, wanted: Wanted, skip: Collection[Key], on_attempt: OnAttempt) -> list[Attempt]:
        return await play(
            wanted.scenarios,
            wanted.player,
            self.environment,
            repeats=wanted.repeats,
            concurrency=wanted.concurrency,
            limits=wanted.limits,
            ceiling=wanted.ceiling,
            evaluators=wanted.evaluators,
            skip=skip,
            on_attempt=on_attempt,
        )


@dataclass(frozen=True)
class _Workers:
    jobs: Jobs
    owner: str
    versions: Versions
    catalogue: Catalogue

    async def play(self, wanted: Wanted, skip: Collection[Key], on_attempt: OnAttempt) -> list[Attempt]:
        player, limits, name = wanted.player, wanted.limits, f"eval-{uuid4().hex[:12]}"
        given = [
            AttemptGiven(
                scenario=scenario,
                repeat=repeat,
                player=player.name,
                without_engine=isinstance(player, WithoutEngine),
                seconds=limits.seconds,
                tokens=limits.tokens,
                versions=self.versions,
            )
            for scenario in wanted.scenarios
            for repeat in range(wanted.repeats)
            if Key(scenario.id, scenario.digest, repeat, player.name, self.versions) not in skip
        ]
        done: dict[int, Attempt] = {}
        await self.jobs.add([one.job(name, self.owner, at, BATCH) for at, one in enumerate(given)])
        try:
            await self._follow(name, given, wanted, done, on_attempt)
        finally:
            await asyncio.shield(self.jobs.remove_batch(self.owner, name))
        return [done[at] for at in sorted(done)]

    async def _follow(
        self,
        name: str,
        given: Sequence[AttemptGiven],
        wanted: Wanted,
        done: dict[int, Attempt],
        on_attempt: Callable[[Attempt], Awaitable[None]],
    ) -> None:
        """Receive the attempts as they end."""
        known: set[int] = set()
        while len(known) < len(given):
            for ended in await self.jobs.ended(self.owner, name, known):
                known.add(ended.position)
                if ended.state == "cancelled":
                    continue
                one = given[ended.position]
                played = _attempt(ended, one)
                done[ended.position] = attempt = await asyncio.to_thread(
                    with_user_scores, one.scenario, played, self.catalogue, wanted.evaluators
                )
                await on_attempt(attempt)
                if wanted.ceiling is not None:
                    wanted.ceiling.count(attempt)
            if wanted.ceiling is not None and wanted.ceiling.reached:
                await self.jobs.cancel_batch(self.owner, name)
            if len(known) < len(given):
                await asyncio.sleep(LOOK_SECONDS)


def _attempt(ended: EndedJob, given: AttemptGiven) -> Attempt:
    """The attempt of a job; one that no worker could play was not judged."""
    if ended.result is not None:
        return Attempt.model_validate_json(json.dumps(ended.result))
    return Attempt(
        scenario=given.scenario.id,
        digest=given.scenario.digest,
        repeat=given.repeat,
        player=given.player,
        versions=given.versions,
        harness_error=ended.error or "The job ended without a result.",
        without_engine=given.without_engine,
    )


@asynccontextmanager
async def house(wanted: Wanted, *, queue: bool) -> AsyncGenerator[House]:
    """Where scenarios are played.

    Args:
        wanted: what is played.
        queue: whether workers play.

    Raises:
        CommandError: flows cannot be run here, or the player cannot play on workers, or there can be none.
    """
    if not queue:
        from cli.eval.play.environment import play_environment

        async with play_environment(wanted.concurrency, wanted.player.name) as environment:
            yield _Here(environment)
        return
    from cli.database import opened_database
    from cli.engine import ready_catalogue
    from evals.play.versions import versions
    from runtime.files.folders import LOCAL_USER

    _check_player(wanted.player.name)
    catalogue = await asyncio.to_thread(ready_catalogue)
    async with opened_database() as database:
        _check_shared(database)
        await database.open()
        yield _Workers(Jobs(database), LOCAL_USER, versions(catalogue.version), catalogue)


def _check_player(name: str) -> None:
    kind = name.partition(":")[0]
    if kind in LOCAL_PLAYERS:
        message = f"The player {kind} reads files of this machine, which workers do not have."
        raise CommandError("local_player", message, fix="Leave --queue out, or name another player.")


def _check_shared(database: Database) -> None:
    from runtime.database.backends.urls import is_sqlite

    if is_sqlite(database.url):
        message = "Workers share a Postgres, and the database is an SQLite file, which belongs to one process."
        raise CommandError("no_workers", message, fix="Leave --queue out, or set WIREWRIGHT_DATABASE to a Postgres.")
