"""The agent of a cheat: it knows the right flow of every turn, and leaves what its trick makes of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent.turn.request import TurnRequest
from agent.turn.result import TurnResult
from evals.play.environment import PlayEnvironment
from evals.players.oracle.closing import closing_words
from evals.players.oracle.edits import edited
from evals.players.player import Agent, ResultAgent
from evals.scenario import Scenario, Turn
from evals.scenarios.flows import read_flow
from flows.catalogue import Catalogue
from flows.diff import diff
from flows.document import Flow
from runtime.options import RunOptions
from runtime.results import RunResult


@dataclass(frozen=True, kw_only=True)
class Position:
    """Where a turn stands.

    Attributes:
        number: the number of the message, from 0.
        canvas: the flow before the turn.
        right: the flow that would be right after it.
        request: what the player got; None where nobody plays.
    """

    scenario: Scenario
    number: int
    canvas: Flow
    right: Flow
    catalogue: Catalogue
    request: TurnRequest | None = None

    @property
    def turn(self) -> Turn:
        """The user's message."""
        return self.scenario.turns[self.number]


@dataclass(frozen=True, kw_only=True)
class Left:
    """What a cheat leaves after a turn.

    Attributes:
        text: its message; None for one that would be right after building, changing and running.
        more: what it says beside that.
        runs: the runs that it reports; None if it makes the run that was asked for.
    """

    flow: Flow
    text: str | None = None
    more: str = ""
    runs: tuple[RunResult, ...] | None = None


Trick = Callable[[Position], Left]
"""What a cheat leaves, of what it could have left."""


class TrickPlayer:
    """Plays scenarios with one trick, which sees the right flow.

    Args:
        name: its name in journals.
        trick: called for each turn.
    """

    def __init__(self, name: str, trick: Trick) -> None:
        self.name = name
        self._trick = trick

    def prepare(self, scenario: Scenario, environment: PlayEnvironment, /) -> Agent:
        """An agent that counts the turns, so that it knows what is right after each."""
        return ResultAgent(_answers(scenario, environment, self._trick))


def right_flow(scenario: Scenario, number: int, canvas: Flow, catalogue: Catalogue) -> Flow:
    """The flow that is right after a message: what is on the canvas is edited, and keeps what it has.

    Args:
        number: the number of the message, from 0.
        canvas: the flow before it.
    """
    turn = scenario.turns[number]
    last = bool(scenario.acts) and number == scenario.acts[-1]
    text = scenario.reference if last else turn.flow
    if text is None:
        return canvas
    flow = read_flow(text, catalogue)
    return flow if canvas.is_empty else edited(canvas, flow, catalogue)


def _answers(
    scenario: Scenario, environment: PlayEnvironment, trick: Trick
) -> Callable[[TurnRequest], Awaitable[TurnResult]]:
    catalogue, number = environment.component_types, -1

    async def answer(request: TurnRequest) -> TurnResult:
        nonlocal number
        number += 1
        canvas = request.flow or Flow.empty()
        right = right_flow(scenario, number, canvas, catalogue)
        position = Position(
            scenario=scenario, number=number, canvas=canvas, right=right, catalogue=catalogue, request=request
        )
        left = trick(position)
        turn, runs = position.turn, left.runs
        if runs is None:
            runs = (
                () if turn.run is None else (await environment.runner.execute(left.flow, turn.run.input, RunOptions()),)
            )
        return TurnResult(
            outcome="complete",
            intent="build_flow",
            text=f"{_words(position, runs) if left.text is None else left.text} {left.more}".strip(),
            before=canvas,
            after=left.flow,
            actions=list(diff(canvas, left.flow)),
            runs=list(runs),
            seconds=0.0,
        )

    return answer


def _words(position: Position, runs: tuple[RunResult, ...]) -> str:
    built = "build_flow" if position.canvas.is_empty else "configure_component"
    tools = ([] if position.right == position.canvas else [built]) + ["run_flow"] * bool(runs)
    return closing_words(position.turn, tools)
