"""Jobs that are attempts at scenarios: a worker plays them as `eval run` does on one machine."""

import asyncio
import json
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Final

from agent.contract.model import Received
from cli.errors import CommandError
from evals.attempt import Versions
from evals.play.attempts import AttemptLimits, play_attempt
from evals.play.environment import PATIENCE, PlayEnvironment
from evals.players.player import Player, WithoutEngine
from evals.players.registry import UnknownPlayer, player_named
from evals.scenario import Scenario
from runtime.jobs.job import Claim, NewJob, Outcome

KEPT: Final = 2
"""How many players' engines a worker keeps that play nothing at the moment."""

MORE_SECONDS: Final = 900.0
"""How long an attempt may take beyond the time of its turns: for probes, and for an engine that starts."""


class AttemptGiven(Received):
    """What a job of the kind `attempt` works on.

    Attributes:
        scenario: what is played.
        repeat: the number of the try, from 0.
        player: who plays.
        without_engine: whether the player cannot run flows.
        seconds: how long the turns may take together.
        tokens: how many tokens the models that play may take.
        versions: of prompts, tools and engine; a worker with others does not play.
    """

    scenario: Scenario
    repeat: int
    player: str
    without_engine: bool
    seconds: float
    tokens: int
    versions: Versions

    def job(self, play: str, owner: str, position: int, rank: int) -> NewJob:
        """The job.

        Args:
            play: the id of what it belongs to.
            owner: whose it is.
            position: its place in the play.
            rank: which of a queue's jobs go first: the lower ones.
        """
        return NewJob(
            id=f"{play}.{position}",
            owner=owner,
            kind="attempt",
            queue="evals",
            rank=rank,
            batch=play,
            position=position,
            seconds=self.seconds * PATIENCE + MORE_SECONDS,
            given=self.model_dump(mode="json", by_alias=True),
        )


@dataclass
class _Engine:
    """The engine on which a player plays."""

    environment: PlayEnvironment
    stack: AsyncExitStack
    playing: int = 0


@dataclass
class AttemptJobs:
    """Plays attempts, each player on an engine of its own.

    Attributes:
        places: how many flows an engine runs at the same time.
    """

    places: int
    _engines: dict[str, _Engine] = field(default_factory=dict[str, _Engine])
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def attempt(self, claim: Claim) -> Outcome:
        """Play an attempt; what goes wrong in it is part of its result."""
        given = AttemptGiven.model_validate_json(json.dumps(claim.given))
        try:
            player: Player = player_named(given.player)
            engine = await self._engine(given.player)
        except UnknownPlayer as unknown:
            return Outcome(error=f"{unknown.message} {unknown.fix}")
        except CommandError as unavailable:
            return Outcome(error=f"{unavailable.message} {unavailable.fix}")
        try:
            if engine.environment.versions != given.versions:
                return Outcome(error="The worker has other versions of prompts, tools or engine than the play.")
            attempt = await play_attempt(
                given.scenario,
                WithoutEngine(player) if given.without_engine else player,
                engine.environment,
                repeat=given.repeat,
                limits=AttemptLimits(seconds=given.seconds, tokens=given.tokens),
            )
        finally:
            engine.playing -= 1
        return Outcome(result=attempt.model_dump(mode="json"), tokens=attempt.tokens or 0)

    async def aclose(self) -> None:
        """Close the engines."""
        for engine in self._engines.values():
            await engine.stack.aclose()

    async def _engine(self, player: str) -> _Engine:
        from cli.eval.play.environment import play_environment

        async with self._opening:
            if player not in self._engines:
                idle = [name for name, engine in self._engines.items() if not engine.playing]
                for name in idle[: len(self._engines) - KEPT + 1]:
                    await self._engines.pop(name).stack.aclose()
                stack = AsyncExitStack()
                environment = await stack.enter_async_context(play_environment(self.places, player))
                self._engines[player] = _Engine(environment, stack)
            engine = self._engines[player]
            engine.playing += 1
            return engine
