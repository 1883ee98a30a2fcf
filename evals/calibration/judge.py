"""Asking a judge whether a statement about an answer is true: in calibration and in decisions by the same words."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from pydantic_ai.models import Model

from evals.analysis.llm_judge import FRAME, Asked, ask_judge
from evals.calibration.agreement import Judged
from evals.calibration.answers import LabelledAnswer
from evals.play.workers import for_each

INSTRUCTION: Final = Path(__file__).parent / "instruction.md"
"""The words with which a judge is asked."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A statement about an answer.

    Attributes:
        user: the message that was answered.
        record: what really happened; None when nothing did.
        answer: what was answered.
        statement: what may be true of it.
    """

    user: str
    record: str | None
    answer: str
    statement: str

    @property
    def document(self) -> str:
        """What the judge is shown: one JSON document that cannot contain a tag."""
        shown = {"user": self.user, "record": self.record, "answer": self.answer, "statement": self.statement}
        return json.dumps(shown, ensure_ascii=False, indent=1).replace("<", r"\u003c").replace(">", r"\u003e")


OnJudged = Callable[[Judged], Awaitable[None]]


def instruction_digest() -> str:
    """A short hash of the words with which judges are asked: after a change they must be measured again."""
    return hashlib.sha256(f"{FRAME}\n{_instruction()}".encode()).hexdigest()[:16]


async def ask(question: Question, model: Model) -> Asked:
    """Ask a judge whether the statement is true.

    Raises:
        MissingExtra: `pydantic-evals` is not installed.
    """
    return await ask_judge(question.document, _instruction(), model)


@cache
def _instruction() -> str:
    return INSTRUCTION.read_text(encoding="utf-8").strip()


async def judge_answers(
    answers: Sequence[LabelledAnswer], model: Model, *, concurrency: int = 4, on_judged: OnJudged | None = None
) -> list[Judged]:
    """Ask a judge about labelled answers; the labels are not shown.

    Returns:
        The answers in the order given, with what the judge said.
    """
    said: dict[str, bool | None] = {}

    async def one(row: LabelledAnswer) -> None:
        question = Question(user=row.user, record=row.record, answer=row.answer, statement=row.statement)
        said[row.id] = (await ask(question, model)).passed
        if on_judged is not None:
            await on_judged((row, said[row.id]))

    await for_each(answers, one, concurrency)
    return [(row, said[row.id]) for row in answers]
