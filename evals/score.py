"""Scoring: attempts in, verdicts out. It reads and counts; it never plays."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from evals.attempt import Attempt
from evals.evaluators import Evaluator, Score
from evals.evaluators.built import built
from evals.evaluators.ran import ran
from evals.evaluators.resolved import resolved
from evals.evaluators.valid import valid
from evals.scenario import Scenario

EVALUATORS: Mapping[str, Evaluator] = {"built": built, "valid": valid, "ran": ran, "resolved": resolved}
"""Every evaluator by the name of its score, in the order of reports."""


class Verdict(BaseModel):
    """What all evaluators say of one attempt.

    Attributes:
        scenario: its id.
        repeat: which try.
        passed: whether no score is false; None when nothing was scored.
        scores: by evaluator, in the order of `EVALUATORS`.
        seconds: how long the attempt took.
        harness_error: why it was not scored.
    """

    model_config = ConfigDict(frozen=True)

    scenario: str
    repeat: int
    passed: bool | None
    scores: tuple[Score, ...]
    seconds: float
    harness_error: str | None = None


class Tally(BaseModel):
    """The verdicts of one play, counted.

    Attributes:
        verdicts: one an attempt.
        passed: attempts that passed.
        scored: attempts that were scored; those with a harness error are not.
        harness_errors: attempts that the harness could not play.
        rates: for each evaluator, the share of its scored attempts that are true; None when it scored none.
    """

    model_config = ConfigDict(frozen=True)

    verdicts: tuple[Verdict, ...]
    passed: int
    scored: int
    harness_errors: int
    rates: dict[str, float | None]

    @property
    def pass_rate(self) -> float | None:
        """Passed over scored; None when nothing was scored."""
        return self.passed / self.scored if self.scored else None

    def meets(self, least: float) -> bool:
        """Whether the pass rate is high enough; a harness error, or nothing scored, never is.

        Args:
            least: the lowest pass rate that will do, from 0 to 1.
        """
        rate = self.pass_rate
        return rate is not None and rate >= least and not self.harness_errors


def judge(scenario: Scenario, attempt: Attempt) -> Verdict:
    """Score one attempt."""
    if attempt.harness_error is not None or not attempt.turns:
        reason = attempt.harness_error or "no turn was played"
        scores = tuple(Score(name=name, value=None, reason="not scored: the harness failed") for name in EVALUATORS)
        return _verdict(attempt, None, scores, reason)
    scores = tuple(evaluator(scenario, attempt) for evaluator in EVALUATORS.values())
    values = [score.value for score in scores if score.value is not None]
    return _verdict(attempt, all(value is not False for value in values) if values else None, scores, None)


def tally(verdicts: Sequence[Verdict]) -> Tally:
    """Count verdicts."""
    scored = [verdict for verdict in verdicts if verdict.passed is not None]
    return Tally(
        verdicts=tuple(verdicts),
        passed=sum(verdict.passed is True for verdict in scored),
        scored=len(scored),
        harness_errors=sum(verdict.harness_error is not None for verdict in verdicts),
        rates={name: _rate(verdicts, name) for name in EVALUATORS},
    )


def score(scenarios: Sequence[Scenario], attempts: Sequence[Attempt]) -> Tally:
    """Score attempts.

    Raises:
        KeyError: when an attempt's scenario is not among the scenarios.
    """
    by_id = {scenario.id: scenario for scenario in scenarios}
    return tally([judge(by_id[attempt.scenario], attempt) for attempt in attempts])


def _verdict(attempt: Attempt, passed: bool | None, scores: tuple[Score, ...], error: str | None) -> Verdict:  # noqa: FBT001  (a value, not a switch)
    return Verdict(
        scenario=attempt.scenario,
        repeat=attempt.repeat,
        passed=passed,
        scores=scores,
        seconds=attempt.seconds,
        harness_error=error,
    )


def _rate(verdicts: Sequence[Verdict], name: str) -> float | None:
    values = [entry.value for verdict in verdicts for entry in verdict.scores if entry.name == name]
    scored = [float(value) for value in values if value is not None]
    return sum(scored) / len(scored) if scored else None
