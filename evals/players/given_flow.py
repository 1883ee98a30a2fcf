"""A player that leaves a given flow: what a flow file would score if somebody had built it."""

from __future__ import annotations

from agent.turn.request import TurnRequest
from agent.turn.result import TurnResult
from evals.case import same
from evals.oracles.scored_flow import scored_flow
from evals.play.addresses import text_with_addresses
from evals.play.environment import PlayEnvironment
from evals.players.oracle.closing import closing_words
from evals.players.oracle.edits import edited
from evals.players.player import Agent, ResultAgent, Unplayable
from evals.scenario import Scenario
from evals.scenarios.flows import read_named
from flows.catalogue import Catalogue
from flows.diff import diff
from flows.document import Flow


class GivenFlowPlayer:
    """Leaves a flow after the last message that asks for one, and the scenario's own flow after each message before.

    It says what is right to say: a flow has no words of its own to be judged by.

    Args:
        text: the flow that it leaves, as spec text or Langflow JSON; `{{service:NAME}}` in it stands for the address of
            a service. Spec text cannot hold sticky notes, places and descriptions: those of the canvas stay.
    """

    name = "flow"

    def __init__(self, text: str) -> None:
        self._text = text

    def prepare(self, scenario: Scenario, environment: PlayEnvironment, /) -> Agent:
        """An agent that takes the scenario's turns in order.

        Raises:
            BadFlow: the given flow, or that of an earlier message, does not build.
        """
        texts = {number: turn.flow for number, turn in enumerate(scenario.turns) if turn.flow is not None}
        if scenario.acts:
            texts[scenario.acts[-1]] = text_with_addresses(self._text, environment.services)
        left = {
            number: read_named(f"the flow of message {number + 1}", text, environment.component_types)
            for number, text in texts.items()
        }
        turns = enumerate(scenario.turns)

        async def answer(request: TurnRequest) -> TurnResult:
            number, turn = next(turns)
            before = request.flow or Flow.empty()
            after = left.get(number, before)
            if not texts.get(number, "").lstrip().startswith("{"):
                after = _on_canvas(before, after, environment.component_types)
            tool = "build_flow" if before.is_empty else "configure_component"
            return TurnResult(
                outcome="complete",
                intent="build_flow" if turn.should == "act" else "question",
                text=closing_words(turn, [] if after == before else [tool]),
                before=before,
                after=after,
                actions=list(diff(before, after)),
                seconds=0.0,
            )

        return ResultAgent(answer)


def _on_canvas(before: Flow, flow: Flow, catalogue: Catalogue) -> Flow:
    """The canvas edited into a flow of spec text, so that it keeps what such a text cannot say; else that flow."""
    if before.is_empty:
        return _with_notes(flow, before)
    try:
        made = edited(before, flow, catalogue)
    except Unplayable:  # the edits of the flow layer do not lead there, as with some wrong flows
        return _with_notes(flow, before)
    return made if same(scored_flow(made, catalogue), scored_flow(flow, catalogue)) else _with_notes(flow, before)


def _with_notes(flow: Flow, before: Flow) -> Flow:
    """A flow with the sticky notes of the canvas before it."""
    notes = [node.raw for node in before.nodes if node.is_note and flow.node(node.id) is None]
    return flow.with_parts(nodes=[*(node.raw for node in flow.nodes), *notes]) if notes else flow
