"""The interface of players: whoever takes the turns of a scenario."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnEvent, TurnResult
from evals.play.environment import PlayEnvironment
from evals.scenario import Scenario


class Agent(Protocol):
    """Something that takes turns: the assistant, or anything with the same events."""

    def turn(self, request: TurnRequest) -> AbstractAsyncContextManager[AsyncIterator[TurnEvent]]:
        """The events of one turn; the last is a `TurnEnded`."""
        ...


class Unplayable(Exception):
    """This player has nothing to play this scenario with, or cannot go on; the message says why."""


class Player(Protocol):
    """Plays scenarios."""

    @property
    def name(self) -> str:
        """How the journal and reports call it."""
        ...

    def prepare(self, scenario: Scenario, environment: PlayEnvironment, /) -> Agent:
        """The agent that plays one attempt.

        Raises:
            Unplayable: when it cannot play this scenario.
        """
        ...


@asynccontextmanager
async def result_only(result: TurnResult) -> AsyncGenerator[AsyncIterator[TurnEvent]]:
    """A turn whose only event is its result."""

    async def events() -> AsyncIterator[TurnEvent]:
        yield TurnEnded(result=result)

    yield events()
