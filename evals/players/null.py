"""The null agent: it says and does nothing, and must score zero on what matters."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

from agent.turn.request import TurnRequest
from agent.turn.result import TurnEvent, TurnResult
from evals.play.environment import PlayEnvironment
from evals.players.player import Agent, result_only
from evals.scenario import Scenario
from flows.document import Flow


class NullPlayer:
    """Does nothing."""

    name = "null"

    def prepare(self, _: Scenario, __: PlayEnvironment, /) -> Agent:
        """An agent that stays silent."""
        return _Silent()


class _Silent:
    def turn(self, request: TurnRequest) -> AbstractAsyncContextManager[AsyncIterator[TurnEvent]]:
        flow = request.flow or Flow.empty()
        return result_only(
            TurnResult(outcome="complete", intent="question", text="", before=flow, after=flow, seconds=0.0)
        )
