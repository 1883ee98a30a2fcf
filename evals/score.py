"""Scoring: attempts in, verdicts out, without playing anything."""

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from evals.analysis.cost import cost
from evals.attempt import Attempt, PlayerName, Score, UserScore
from evals.case import Case, Evaluator
from evals.cluster_keys import cluster_keys
from evals.evaluators.behaves import behaves
from evals.evaluators.built import built
from evals.evaluators.clarified import clarified
from evals.evaluators.edges import edges
from evals.evaluators.edit_precision import edit_precision
from evals.evaluators.edit_recall import edit_recall
from evals.evaluators.finished import finished
from evals.evaluators.forbidden import forbidden
from evals.evaluators.honest import honest
from evals.evaluators.inputs import inputs
from evals.evaluators.invented import invented
from evals.evaluators.language import language
from evals.evaluators.nodes import nodes
from evals.evaluators.parameters import parameters
from evals.evaluators.preserved import preserved
from evals.evaluators.ran import ran
from evals.evaluators.resolved import resolved
from evals.evaluators.tokens import tokens
from evals.evaluators.valid import valid
from evals.evaluators.values import values
from evals.evaluators.wasted import wasted
from evals.oracles.tool_calls import calls
from evals.scenario import Scenario
from evals.scenarios.flows import BadFlow
from flows.catalogue import Catalogue
from runtime.results import Untrusted

EVALUATORS: Mapping[str, Evaluator] = {
    "finished": finished,
    "built": built,
    "valid": valid,
    "ran": ran,
    "resolved": resolved,
    "behaves": behaves,
    "preserved": preserved,
    "honest": honest,
    "forbidden": forbidden,
    "clarified": clarified,
    "nodes": nodes,
    "edges": edges,
    "parameters": parameters,
    "values": values,
    "inputs": inputs,
    "invented": invented,
    "edit_precision": edit_precision,
    "edit_recall": edit_recall,
    "wasted": wasted,
    "language": language,
    "tokens": tokens,
}
"""Every evaluator by the name of its score, in the order of reports."""

DECIDING = frozenset(
    {
        "finished",
        "built",
        "valid",
        "ran",
        "resolved",
        "behaves",
        "preserved",
        "honest",
        "forbidden",
        "clarified",
        "tokens",
    }
)
"""The scores that decide whether an attempt passes: none of them may be false. The others grade."""

COMPARING = frozenset({"nodes", "edges", "parameters", "values", "preserved", "edit_precision", "edit_recall"})
"""The scores that compare with a reference flow: they are not scored for an open scenario, which has none."""

PASSED = "passed"
"""The metric that says whether an attempt passed."""

METRICS = (PASSED, *EVALUATORS)
"""Every metric: whether an attempt passed, then each evaluator's score."""


class Measured(BaseModel):
    """What an attempt took: figures that differ from one play to the next, outside scores and exact gates.

    Attributes:
        tokens: of the models that played, in and out; None if none were counted.
        calls: tool calls; None if the player does not show them.
        cost: of the models that played, in US dollars; None if nothing was counted or a price is unknown.
    """

    model_config = ConfigDict(frozen=True)

    seconds: float = 0.0
    tokens: int | None = None
    calls: int | None = None
    cost: float | None = None


class Verdict(BaseModel):
    """What all evaluators say of one attempt: a line of scores.jsonl.

    Attributes:
        passed: whether no deciding score is false; None if nothing was scored, or only words could decide.
        scores: by evaluator, in the order of `EVALUATORS`; then those of the user's own.
        required: the least scores that the user's own evaluators must give, by name; the others of them do not decide.
        evaluator_errors: why evaluators of the user's own failed, by name; the agent does not answer for it.
        undecided: what only a judge of words can say, of an attempt that failed nowhere else; no judge is calibrated.
        untrusted_code: whether code that is not the catalogue's took part in a run, so that what it gave is by its own
            account.
        cluster_keys: what the scenario may share with others of its cluster, hashed; empty in older files.
    """

    model_config = ConfigDict(frozen=True)

    scenario: str
    digest: str = ""
    repeat: int = 0
    player: PlayerName = ""
    passed: bool | None
    scores: tuple[Score, ...]
    measured: Measured = Measured()
    harness_error: str | None = None
    undecided: Annotated[str, Field(exclude_if=operator.not_)] = ""
    untrusted_code: Untrusted = False
    required: Annotated[dict[str, float], Field(exclude_if=operator.not_)] = Field(default_factory=dict[str, float])
    evaluator_errors: Annotated[dict[str, str], Field(exclude_if=operator.not_)] = Field(default_factory=dict[str, str])
    cluster_keys: Annotated[tuple[str, ...], Field(exclude_if=operator.not_)] = ()

    def value(self, metric: str) -> bool | float | None:
        """One score, or whether the attempt `passed`; None if it was not scored."""
        if metric == PASSED:
            return self.passed
        return next((score.value for score in self.scores if score.name == metric), None)

    @property
    def failures(self) -> tuple[Score, ...]:
        """The deciding scores that are false, and those that are lower than the user requires."""
        return tuple(score for score in self.scores if self._fails(score))

    def _fails(self, score: Score) -> bool:
        if score.name in self.required:
            return score.value is not None and float(score.value) < self.required[score.name]
        return score.name in DECIDING and score.value is False

    @property
    def why(self) -> str:
        """Why the attempt did not pass; empty if it did."""
        if self.harness_error is not None:
            return f"harness: {self.harness_error}"
        if self.undecided:
            return f"undecided: {self.undecided}"
        return "; ".join(f"{score.name}: {score.reason}" for score in self.failures)


class UnknownScenario(KeyError):
    """An attempt at a scenario that does not exist, or that has changed since; `fix` is what to do."""

    def __init__(self, attempt: Attempt, *, known: bool) -> None:
        super().__init__(attempt.scenario)
        why = "has changed since it was played" if known else "is not among the scenarios"
        pack = attempt.origin.pack if attempt.origin is not None else ""
        played = f", and it was played with the pack {pack}" if pack else ""
        self.message = f"{attempt.scenario} {why}{played}."
        self.fix = "Name the pack with --pack, or play again." if pack else "Play again with the current scenarios."


def score_attempt(scenario: Scenario, attempt: Attempt, catalogue: Catalogue) -> Verdict:
    """Score one attempt.

    Args:
        catalogue: the component types, from which the reference flows are built.

    Returns:
        The verdict; if a flow of the scenario does not build, it is a harness error that names it.
    """
    if attempt.harness_error is not None or not attempt.turns:
        return _unscored(scenario, attempt, attempt.harness_error or "no turn was played")
    case = Case.of(scenario, attempt, catalogue)
    try:
        scores = tuple(_scored(name, evaluator, case) for name, evaluator in EVALUATORS.items())
    except BadFlow as bad:
        return _unscored(scenario, attempt, str(bad))
    failed = any(score.value is False for score in scores if score.name in DECIDING)
    stated = (statement for turn in scenario.turns for statement in turn.statements)
    undecided = "" if failed else next(stated, "")
    passed = None if undecided else not failed
    verdict = _verdict(scenario, attempt, passed=passed, scores=scores, error=None)
    return _with_user_scores(verdict.model_copy(update={"undecided": undecided}), attempt.user_scores)


def score_attempts(scenarios: Sequence[Scenario], attempts: Iterable[Attempt], catalogue: Catalogue) -> list[Verdict]:
    """Score attempts, by scenario and repeat.

    Raises:
        UnknownScenario: an attempt's scenario is not among the scenarios as they are now.
    """
    by_id = {scenario.id: scenario for scenario in scenarios}
    verdicts: list[Verdict] = []
    for attempt in attempts:
        scenario = by_id.get(attempt.scenario)
        if scenario is None or scenario.digest != attempt.digest:
            raise UnknownScenario(attempt, known=scenario is not None)
        verdicts.append(score_attempt(scenario, attempt, catalogue))
    return sorted(verdicts, key=lambda verdict: (verdict.scenario, verdict.repeat, verdict.player))


def _unscored(scenario: Scenario, attempt: Attempt, why: str) -> Verdict:
    scores = tuple(Score(name=name, value=None, reason="not scored: the harness failed") for name in EVALUATORS)
    return _verdict(scenario, attempt, passed=None, scores=scores, error=why)


def _with_user_scores(verdict: Verdict, given: Sequence[UserScore]) -> Verdict:
    """The verdict with the scores of the user's own evaluators; without one that must decide, nothing is decided."""
    if not given:
        return verdict
    scores = (*verdict.scores, *(Score(name=one.name, value=one.value, reason=one.reason) for one in given))
    errors = {one.name: one.reason for one in given if one.failed}
    broken = next((one for one in given if one.failed and one.required is not None), None)
    met = all(one.is_met for one in given)
    passed = None if broken is not None or (verdict.undecided and met) else verdict.passed is True and met
    update = {
        "scores": scores,
        "passed": passed,
        "required": {one.name: one.required for one in given if one.required is not None},
        "evaluator_errors": errors,
        "harness_error": verdict.harness_error if broken is None else f"{broken.name}: {broken.reason}",
    }
    return verdict.model_copy(update=update)


def _scored(name: str, evaluator: Evaluator, case: Case) -> Score:
    if case.scenario.open and name in COMPARING:
        return Score(name=name, value=None, reason="the scenario is open: no reference flow is known")
    value, reason = evaluator(case)
    return Score(name=name, value=value, reason=reason)


def _verdict(
    scenario: Scenario, attempt: Attempt, *, passed: bool | None, scores: tuple[Score, ...], error: str | None
) -> Verdict:
    made = calls(attempt)
    return Verdict(
        scenario=attempt.scenario,
        digest=attempt.digest,
        repeat=attempt.repeat,
        player=attempt.player,
        passed=passed,
        scores=scores,
        measured=Measured(
            seconds=attempt.seconds,
            tokens=attempt.tokens,
            calls=None if made is None else len(made),
            cost=cost(attempt),
        ),
        harness_error=error,
        untrusted_code=attempt.untrusted_code,
        cluster_keys=cluster_keys(scenario),
    )
