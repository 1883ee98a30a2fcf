"""A player that leaves a given flow: what a flow file would score if somebody had built it."""

from __future__ import annotations

from agent.turn.request import TurnRequest
from agent.turn.result import TurnResult
from evals.play.addresses import flow_with_addresses
from evals.play.environment import PlayEnvironment
from evals.players.oracle.closing import closing_words
from evals.players.player import Agent, ResultAgent
from evals.scenario import Scenario
from evals.scenarios.flows import read_named
from flows.diff import diff
from flows.document import Flow


class GivenFlowPlayer:
    """Leaves a flow after the last message that asks for one, and the scenario's own flow after each message before.

    It says what is right to say: a flow has no words of its own to be judged by.

    Args:
        flow: what it leaves; `{{service:NAME}}` in it stands for the address of a service.
    """

    name = "flow"

    def __init__(self, flow: Flow) -> None:
        self._flow = flow

    def prepare(self, scenario: Scenario, environment: PlayEnvironment, /) -> Agent:
        """An agent that takes the scenario's turns in order.

        Raises:
            BadFlow: the flow of an earlier message does not build.
        """
        left: dict[int, Flow] = {
            number: read_named(f"the flow of message {number + 1}", turn.flow, environment.component_types)
            for number, turn in enumerate(scenario.turns)
            if turn.flow is not None
        }
        if scenario.acts:
            left[scenario.acts[-1]] = flow_with_addresses(self._flow, environment.services)
        turns = enumerate(scenario.turns)

        async def answer(request: TurnRequest) -> TurnResult:
            number, turn = next(turns)
            before = request.flow or Flow.empty()
            after = left.get(number, before)
            return TurnResult(
                outcome="complete",
                intent="build_flow" if turn.should == "act" else "question",
                text=closing_words(turn, ()),
                before=before,
                after=after,
                actions=list(diff(before, after)),
                seconds=0.0,
            )

        return ResultAgent(answer)
