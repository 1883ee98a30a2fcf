"""The interface of players, which take the turns of a scenario."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol, runtime_checkable

from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnEvent, TurnResult
from evals.attempt import AgentIdentity
from evals.play.environment import PlayEnvironment
from evals.scenario import Scenario
from flows.document import Flow


class Agent(Protocol):
    """An agent that takes turns: the assistant, or anything with the same events."""

    def turn(self, request: TurnRequest) -> AbstractAsyncContextManager[AsyncIterator[TurnEvent]]:
        """The events of one turn; the last is a `TurnEnded`."""
        ...


@runtime_checkable
class ClosableAgent(Protocol):
    """An agent with connections of its own, which are closed after an attempt."""

    async def aclose(self) -> None:
        """Close them."""
        ...


@runtime_checkable
class IdentifiedAgent(Protocol):
    """An agent that may say what it is, at the latest when it has taken its first turn."""

    @property
    def identity(self) -> AgentIdentity | None:
        """Its name and version; None if it does not say."""
        ...


class Unplayable(Exception):
    """The player cannot play this scenario, or cannot continue; the message says why."""


class AgentFailed(Exception):
    """The agent failed while it took a turn; the message says how. The attempt is scored, and fails."""


class Player(Protocol):
    """Plays scenarios."""

    @property
    def name(self) -> str:
        """Its name in journals and reports."""
        ...

    def prepare(self, scenario: Scenario, environment: PlayEnvironment, /) -> Agent:
        """The agent that plays one attempt.

        Raises:
            Unplayable: it cannot play this scenario.
        """
        ...


class WithoutEngine:
    """A player that cannot run flows: the harness makes the runs that messages ask for, and they are not missed.

    Args:
        player: who plays.
    """

    def __init__(self, player: Player) -> None:
        self._player = player
        self.name = player.name

    def prepare(self, scenario: Scenario, environment: PlayEnvironment, /) -> Agent:
        """The agent of the player."""
        return self._player.prepare(scenario, environment)


class ResultAgent:
    """An agent that does not stream: the only event of a turn is its result.

    Args:
        answer: takes a turn.
        identity: what the agent says it is; None if it does not say, or not yet.
    """

    def __init__(
        self, answer: Callable[[TurnRequest], Awaitable[TurnResult]], identity: AgentIdentity | None = None
    ) -> None:
        self._answer = answer
        self.identity = identity

    @asynccontextmanager
    async def turn(self, request: TurnRequest) -> AsyncGenerator[AsyncIterator[TurnEvent]]:
        """The result of one turn."""
        result = await self._answer(request)

        async def events() -> AsyncIterator[TurnEvent]:
            yield TurnEnded(result=result)

        yield events()


class IdleAgent(ResultAgent):
    """An agent that never changes the canvas.

    Args:
        says: the answer to a request.
    """

    def __init__(self, says: Callable[[TurnRequest], str]) -> None:
        async def answer(request: TurnRequest) -> TurnResult:
            flow = request.flow or Flow.empty()
            text = says(request)
            intent = "build_flow" if text else "question"
            return TurnResult(outcome="complete", intent=intent, text=text, before=flow, after=flow, seconds=0.0)

        super().__init__(answer)
