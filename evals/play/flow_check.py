"""Checking a flow against a scenario: scored as if a player had left it, and compared with the reference further on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evals.attempt import Attempt, Score
from evals.behaviours.outcomes import Behaviour, agree
from evals.behaviours.own_runs import EngineCrashed, own_runs
from evals.behaviours.running import Engine, compare_behaviours
from evals.play.attempts import play_attempt
from evals.play.environment import PlayEnvironment
from evals.players.given_flow import GivenFlowPlayer
from evals.players.player import WithoutEngine
from evals.scenario import Scenario
from evals.score import DECIDING, Verdict, score_attempt

DIFFERENCES: Final = 5
"""How many inputs on which a flow differs from the reference are looked for."""

FLOW_SCORES: Final = frozenset(
    {
        "finished",
        "built",
        "valid",
        "ran",
        "resolved",
        "behaves",
        "preserved",
        "forbidden",
        "nodes",
        "edges",
        "parameters",
        "values",
        "inputs",
        "edit_precision",
        "edit_recall",
    }
)
"""The scores that a flow decides; the others are about words and calls, which it does not have."""


@dataclass(frozen=True, kw_only=True)
class FlowCheck:
    """What a check of a flow found.

    Attributes:
        verdict: with the scores of `FLOW_SCORES`; the others are not scored.
        compared: on how many inputs the flow and the reference were run.
        differences: those of them on which the flow does not give what the reference gives.
    """

    verdict: Verdict
    compared: int = 0
    differences: tuple[Behaviour, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the flow passes."""
        return self.verdict.passed is True


def asks_for_flow(scenario: Scenario) -> bool:
    """Whether a scenario asks for a flow, so that one can be checked against it."""
    return scenario.open or scenario.reference is not None


async def check_flow(
    scenario: Scenario,
    text: str,
    environment: PlayEnvironment,
    *,
    components: Sequence[str] = (),
    differences: int = DIFFERENCES,
) -> FlowCheck:
    """Score a flow as if a player had left it in answer to a scenario.

    The harness makes the runs that messages ask for. Files that the user should have at the end are not expected, as no
    flow alone leaves them.

    Args:
        scenario: it asks for a flow.
        text: the flow, as spec text or Langflow JSON. One that does not build is a harness error.
        components: the sources of the flow's own component types, beside the scenario's.
        differences: stop after this many inputs on which it differs from the reference.
    """
    own = [source for source in components if source not in scenario.components]
    expect = scenario.expect.model_copy(update={"files": {}})
    played = scenario.model_copy(update={"components": (*scenario.components, *own), "expect": expect})
    attempt = await play_attempt(played, WithoutEngine(GivenFlowPlayer(text)), environment)
    attempt = attempt.model_copy(update={"digest": scenario.digest})
    verdict = await asyncio.to_thread(score_attempt, played, attempt, environment.catalogue)
    try:
        found = await _compared(played, attempt, environment, differences)
    except EngineCrashed as crashed:  # the differences are what was asked for, beside the verdict
        return FlowCheck(verdict=verdict.model_copy(update={"passed": None, "harness_error": str(crashed)}))
    return FlowCheck(
        verdict=_of_flow(verdict),
        compared=len(found),
        differences=tuple(
            one for one in found if scenario.inputs is not None and not agree(scenario.inputs, one.given, one.wanted)
        ),
    )


async def _compared(
    scenario: Scenario, attempt: Attempt, environment: PlayEnvironment, differences: int
) -> list[Behaviour]:
    """What the flow and the reference give, beyond the first difference; what was run already is known."""
    if attempt.harness_error is not None or attempt.flow is None or not attempt.behaviours:
        return []
    catalogue = attempt.catalogue(environment.catalogue)
    engine = Engine(runner=own_runs(environment.runner), catalogue=catalogue, known=environment.behaviours)
    return await compare_behaviours(scenario, attempt.flow, engine, attempt.services, differences=differences)


def _of_flow(verdict: Verdict) -> Verdict:
    """The verdict without the scores of words and calls."""
    if verdict.harness_error is not None:
        return verdict
    scores = tuple(
        score
        if score.name in FLOW_SCORES
        else Score(name=score.name, value=None, reason="a flow alone does not show it")
        for score in verdict.scores
    )
    passed = all(score.value is not False for score in scores if score.name in DECIDING)
    return verdict.model_copy(update={"scores": scores, "passed": passed, "undecided": ""})
