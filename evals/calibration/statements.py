"""Statements of a scenario about its answers: a judge that was measured decides them, any other leaves them open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict
from pydantic_ai.models import Model

from evals.analysis.llm_judge import record
from evals.attempt import Attempt, Score
from evals.calibration.answers import LabelledAnswer
from evals.calibration.calibration import Calibration, Decision, decide
from evals.calibration.judge import Question
from evals.scenario import Scenario
from evals.score import Verdict
from flows.catalogue import Catalogue

JUDGED: Final = "judged"
"""The score that decisions give; it decides whether an attempt passes."""


class Decided(BaseModel):
    """What a judge decided of one statement about one attempt.

    Attributes:
        message: the number of the user's message, from 0.
        reason: the judge's words, or why nothing was decided.
    """

    model_config = ConfigDict(frozen=True)

    scenario: str
    digest: str
    repeat: int
    player: str
    judge: str
    message: int
    statement: str
    decision: Decision
    reason: str


async def decide_statements(
    scenario: Scenario,
    attempt: Attempt,
    catalogue: Catalogue,
    model: Model,
    calibration: Calibration | None,
    answers: Sequence[LabelledAnswer],
) -> list[Decided]:
    """Let a judge decide the statements of a scenario about one attempt, in their order.

    Args:
        calibration: the judge's; None where it was not measured.
        answers: the labelled answers as they are now.
    """
    found: list[Decided] = []
    wanted = [(number, text) for number, turn in enumerate(scenario.turns) for text in turn.statements]
    shown = await asyncio.to_thread(record, scenario, attempt, catalogue) if wanted and attempt.turns else ""
    for number, statement in wanted:
        replies = attempt.replies(number)
        decision: Decision
        if attempt.harness_error is not None:
            decision, reason = "undecided", "the harness failed: there is nothing to judge"
        elif not any(reply.text.strip() for reply in replies):
            decision, reason = "failed", "nothing was answered"
        else:
            said = "\n".join(reply.text for reply in replies)
            question = Question(user=scenario.turns[number].say, record=shown, answer=said, statement=statement)
            decision, reason = await decide(question, model, calibration, answers)
        key = attempt.model_dump(include={"scenario", "digest", "repeat", "player"})
        found.append(
            Decided(
                **key, judge=model.model_name, message=number, statement=statement, decision=decision, reason=reason
            )
        )
    return found


def with_decisions(verdict: Verdict, decided: Sequence[Decided]) -> Verdict:
    """The verdict with the score `judged`: one statement that failed fails the attempt, an open one leaves it open."""
    mine = [one for one in decided if _key(one) == _key(verdict)]
    if not mine or verdict.harness_error is not None:
        return verdict
    worst = next((one for kind in ("failed", "undecided") for one in mine if one.decision == kind), None)
    if worst is None:
        score = Score(name=JUDGED, value=True, reason=f"{len(mine)} statements are true")
    elif worst.decision == "failed":
        score = Score(name=JUDGED, value=False, reason=f"not true: {worst.statement} {worst.reason}")
    else:
        score = Score(name=JUDGED, value=None, reason=f"undecided: {worst.statement} {worst.reason}")
    otherwise = verdict.passed is not False  # an attempt that only its statements left open has failed nowhere
    passed = None if score.value is None and otherwise else otherwise and score.value is not False
    undecided = worst.statement if passed is None and worst is not None else ""
    scores = (*(one for one in verdict.scores if one.name != JUDGED), score)
    required = {**verdict.required, JUDGED: 1.0}
    return verdict.model_copy(update={"scores": scores, "passed": passed, "required": required, "undecided": undecided})


def _key(one: Decided | Verdict) -> tuple[str, str, int, str]:
    return one.scenario, one.digest, one.repeat, one.player
