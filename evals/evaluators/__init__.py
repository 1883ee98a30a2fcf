"""Evaluators: each a pure function of a scenario and an attempt, one file and one rule each."""

from collections.abc import Callable
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict

from evals.attempt import Attempt
from evals.scenario import Scenario


class Score(BaseModel):
    """What one evaluator says of one attempt.

    Attributes:
        name: the evaluator's.
        value: None is "not scored": never zero, and left out of every count.
        reason: why, in one sentence.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    value: bool | float | None
    reason: str


Evaluator: TypeAlias = Callable[[Scenario, Attempt], Score]
