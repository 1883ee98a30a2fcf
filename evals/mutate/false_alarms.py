"""False alarms: right flows that fail, as `python -m scripts.false_alarms` measures and the manual shows them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from evals.analysis.statistics import wilson
from evals.attempt import Attempt
from evals.mutate.variations import VARIATIONS
from evals.play.environment import PlayEnvironment
from evals.play.probes import open_rerun
from evals.scenario import Scenario
from evals.score import Verdict, score_attempt
from flows.document import Flow

KEPT: Final = Path(__file__).parent / "false_alarms.json"
"""The last measurement."""
ALTERNATIVE: Final = "alternative"
"""The kind of the right flows that scenarios list beside their reference."""
KINDS: Final[Mapping[str, str]] = {
    ALTERNATIVE: "another right flow that the scenario lists, played by the oracle",
    "other_ids": "the reference, with other ids for what is new",
    "other_places": "the reference, with its components elsewhere",
    "other_order": "the reference, its components and connections listed the other way round",
    "other_names": "the reference, with other names and descriptions of its components",
    "one_step_more": "the reference, with a template in between that changes nothing",
}
"""The kinds of right flows, in the order of the table."""


class Alarms(BaseModel):
    """What came of right flows of one kind.

    Attributes:
        flows: how many were judged; one that only a judge of words could decide has raised no alarm.
        failed: those that failed, with the reason.
    """

    model_config = ConfigDict(frozen=True)

    flows: int = 0
    failed: dict[str, str] = {}

    def and_one(self, name: str, why: str) -> Alarms:
        """With one more flow, and why it failed; empty if it passed."""
        return Alarms(flows=self.flows + 1, failed={**self.failed, **({name: why} if why else {})})


def alarm(verdict: Verdict) -> str:
    """Why a right flow failed; empty if it passed, or only a judge of words could say whether it did."""
    right = verdict.passed is True or (verdict.passed is None and verdict.undecided)
    return "" if right else verdict.why or "it was not judged"


class FalseAlarms(BaseModel):
    """A measurement of false alarms, by kind of flow.

    Attributes:
        varied: how many scenarios were drawn to vary their references.
        alternatives_of: of how many scenarios the alternatives were played.
    """

    model_config = ConfigDict(frozen=True)

    lfx: str
    varied: int = 0
    alternatives_of: int = 0
    kinds: dict[str, Alarms]

    @property
    def flows(self) -> int:
        """How many flows were judged."""
        return sum(one.flows for one in self.kinds.values())

    @property
    def failed(self) -> int:
        """How many of them failed."""
        return sum(len(one.failed) for one in self.kinds.values())

    @property
    def rate(self) -> float:
        """The share of right flows that failed."""
        return self.failed / max(self.flows, 1)


def as_markdown(found: FalseAlarms) -> str:
    """What the manual shows."""
    low, high = wilson(found.failed, found.flows)
    head = (
        f"Of {found.flows:,} right flows on lfx {found.lfx}, **{found.failed} failed ({found.rate:.1%}**, 95% interval "
        f"{low:.1%} to {high:.1%}): the alternatives of {found.alternatives_of} scenarios, and variations of the\n"
        f"references of {found.varied}, drawn with a fixed seed.\n\n"
        "| right flows | judged | false alarms |\n| --- | --- | --- |\n"
    )
    rows = [
        f"| {what} | {found.kinds[kind].flows} | {len(found.kinds[kind].failed)} |\n"
        for kind, what in KINDS.items()
        if kind in found.kinds
    ]
    return head + "".join(rows)


async def variation_verdicts(
    scenario: Scenario, attempt: Attempt, environment: PlayEnvironment
) -> list[tuple[str, Verdict]]:
    """The verdicts of the variations of an attempt's flow, with the name of the variation.

    Args:
        attempt: one that passes.
    """
    flow = attempt.flow or Flow.empty()
    canvas = attempt.turns[0].before
    found: list[tuple[str, Verdict]] = []
    async with open_rerun(scenario, attempt, environment) as rerun:
        catalogue = attempt.catalogue(environment.catalogue)
        served = rerun.attempt.flow or flow
        for name, make in VARIATIONS.items():
            varied = None if flow == canvas else make(served, canvas, catalogue)
            if varied is None or varied == served:
                continue
            verdict = score_attempt(scenario, await rerun.with_flow(varied), environment.catalogue)
            found.append((name, verdict))
    return found
