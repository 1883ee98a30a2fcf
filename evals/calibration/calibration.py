"""A stored calibration: what a judge was measured on, how well it agreed, and whether it may decide by that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_ai.models import Model

from evals.calibration.agreement import Agreement, Judged, Share, agreement, by_language, by_trap
from evals.calibration.answers import LabelledAnswer, composition_faults, digest
from evals.calibration.judge import OnJudged, Question, ask, instruction_digest, judge_answers
from runtime.files.texts import TextRefused, read_text

THRESHOLD: Final = 0.9
"""The least lower bound of the interval of the accuracy with which a judge may decide."""

PUBLISHED: Final = Path(__file__).parent / "judges"
"""The calibrations that are published with Wirewright, a JSON file each."""

Decision = Literal["passed", "failed", "undecided"]


class CalibrationError(ValueError):
    """A calibration that cannot be used; the message says why."""


class Calibration(BaseModel):
    """How a judge did on the labelled answers.

    Attributes:
        judge: the model's name.
        at: the date, ISO 8601.
        answers: the digest of the labelled answers.
        count: how many they were.
        instruction: the digest of the words with which it was asked.
        complete: whether the answers had the composition that a calibration needs.
        languages: the accuracy by language.
        traps: the accuracy by trap.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    judge: str
    at: str
    answers: str
    count: int
    instruction: str
    complete: bool
    agreement: Agreement
    languages: dict[str, Share]
    traps: dict[str, Share]

    def why_not(self, judge: str, answers: Sequence[LabelledAnswer]) -> str:
        """Why a judge may not decide by this calibration; empty if it may.

        Args:
            judge: the name of the model that is to decide.
            answers: the labelled answers as they are now.
        """
        low = self.agreement.accuracy.low
        if judge != self.judge:
            return f"{self.judge} was measured, not {judge}"
        if self.answers != digest(answers):
            return "the labelled answers have changed since: measure the judge again"
        if self.instruction != instruction_digest():
            return "judges are asked in other words now: measure the judge again"
        if not self.complete:
            return "the labelled answers are too few or too uneven to measure a judge"
        if low < THRESHOLD:
            return f"its agreement may be as low as {low:.0%}, and {THRESHOLD:.0%} is needed"
        return ""


async def calibrate(
    answers: Sequence[LabelledAnswer],
    model: Model,
    at: str,
    *,
    concurrency: int = 4,
    on_judged: OnJudged | None = None,
) -> Calibration:
    """Measure a judge on labelled answers.

    Args:
        at: the date, ISO 8601.
    """
    judged = await judge_answers(answers, model, concurrency=concurrency, on_judged=on_judged)
    return calibration_of(judged, model.model_name, at)


def calibration_of(judged: Sequence[Judged], judge: str, at: str) -> Calibration:
    """The calibration that a judge's answers give."""
    answers = [row for row, _ in judged]
    return Calibration(
        judge=judge,
        at=at,
        answers=digest(answers),
        count=len(answers),
        instruction=instruction_digest(),
        complete=not composition_faults(answers),
        agreement=agreement(judged),
        languages=by_language(judged),
        traps=by_trap(judged),
    )


def load_calibration(path: Path) -> Calibration:
    """Read a stored calibration.

    Raises:
        CalibrationError: it cannot be read.
    """
    try:
        return Calibration.model_validate_json(read_text(path))
    except TextRefused as refused:
        raise CalibrationError(f"{path.name} {refused.reason}") from None
    except ValidationError as error:
        raise CalibrationError(f"{path.name} is no calibration ({error.error_count()} faults)") from None


def published() -> dict[str, Calibration]:
    """The published calibrations, by the judge's name."""
    found = [load_calibration(path) for path in sorted(PUBLISHED.glob("*.json"))]
    return {one.judge: one for one in found}


async def decide(
    question: Question, model: Model, calibration: Calibration | None, answers: Sequence[LabelledAnswer]
) -> tuple[Decision, str]:
    """Let a judge decide whether a statement is true, if it may.

    Args:
        calibration: the judge's; None where it was not measured.
        answers: the labelled answers as they are now.

    Returns:
        The decision and its reason; `undecided` without asking a judge that may not decide.
    """
    why_not = "the judge was not measured" if calibration is None else calibration.why_not(model.model_name, answers)
    if why_not:
        return "undecided", why_not
    asked = await ask(question, model)
    if asked.passed is None:
        return "undecided", asked.error or asked.reason
    return ("passed" if asked.passed else "failed"), asked.reason
