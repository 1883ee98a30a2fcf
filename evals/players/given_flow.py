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
        from_spec: whether it was read from spec text, which cannot hold sticky notes: those of the canvas stay.
    """

    name = "flow"

    def __init__(self, flow: Flow, *, from_spec: bool = False) -> None:
        self._flow = flow
        self._from_spec = from_spec

    def prepare(self, scenario: Scenario, environment: PlayEnvironment, /) -> Agent:
        """An agent that takes the scenario's turns in order.

        Raises:
            BadFlow: the flow of an earlier message does not build.
        """
        left: dict[int, tuple[Flow, bool]] = {}
        for number, turn in enumerate(scenario.turns):
            if turn.flow is not None:
                flow = read_named(f"the flow of message {number + 1}", turn.flow, environment.component_types)
                left[number] = flow, not turn.flow.lstrip().startswith("{")
        if scenario.acts:
            left[scenario.acts[-1]] = flow_with_addresses(self._flow, environment.services), self._from_spec
        turns = enumerate(scenario.turns)

        async def answer(request: TurnRequest) -> TurnResult:
            number, turn = next(turns)
            before = request.flow or Flow.empty()
            after, from_spec = left.get(number, (before, False))
            after = _with_notes(after, before) if from_spec else after
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


def _with_notes(flow: Flow, before: Flow) -> Flow:
    """A flow with the sticky notes of the canvas before it."""
    notes = [node.raw for node in before.nodes if node.is_note and flow.node(node.id) is None]
    return flow.with_parts(nodes=[*(node.raw for node in flow.nodes), *notes]) if notes else flow
