"""Evaluators of one's own: functions from an attempt to a score, which stand beside those of the harness."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from typing import Final, TypeAlias, cast

from agent.turn.result import TurnResult
from evals.attempt import Attempt, UserScore
from evals.case import Case
from evals.named_function import (
    REASON_CHARACTERS,
    FunctionUnavailable,
    checked_callable,
    error_line,
    named_function,
    source_digest,
)
from evals.scenario import Scenario
from evals.scenarios.flows import BadFlow
from evals.score import METRICS, Verdict, score_attempts
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.faults import did_you_mean
from flows.fields.keys import without_keys
from runtime.results import RunResult

GROUP: Final = "wirewright.evaluators"
"""The group of entry points under which packages offer evaluators."""

Value: TypeAlias = bool | float | None
Graded: TypeAlias = Value | tuple[Value, str]
"""What an evaluator returns: true, false, a number from 0 to 1, or None (not scored); a reason may follow."""


@dataclass(frozen=True, kw_only=True)
class EvaluatorCase:
    """One attempt as an evaluator of one's own reads it.

    Attributes:
        scenario: the scenario's id.
        tags: the scenario's tags.
        messages: the user's messages, in order.
        answers: the answers, in order; a message may have several, or none.
        turns: what each turn did and said.
        before: the canvas as the user last left it.
        after: the resulting flow.
        runs: the runs that the harness made of the resulting flow: those that messages ask for, then the probes.
        seconds: how long the attempt took.
        tokens: of the models that played, in and out; None if none were counted.
    """

    scenario: str
    tags: tuple[str, ...]
    messages: tuple[str, ...]
    answers: tuple[str, ...]
    turns: tuple[TurnResult, ...]
    before: Flow
    after: Flow
    runs: tuple[RunResult, ...]
    seconds: float
    tokens: int | None


Function: TypeAlias = Callable[[EvaluatorCase], Graded]


class EvaluatorError(ValueError):
    """An evaluator cannot be used.

    Args:
        message: what is wrong, as a sentence.
        fix: what to do.
    """

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


@dataclass(frozen=True, kw_only=True)
class UserEvaluator:
    """An evaluator of one's own.

    Attributes:
        name: of its score.
        required: the least score with which an attempt passes (true is 1); None if it does not decide.
        target: how it was named: `module:function`, or an entry point.
    """

    name: str
    function: Function
    required: float | None = None
    target: str = ""

    @cached_property
    def version(self) -> str:
        """Where it is from, and a hash of the source of its module (what that imports is not in it)."""
        return f"{self.target or self.name} {source_digest(self.function)}"

    def grade(self, case: EvaluatorCase) -> UserScore:
        """Its score of an attempt; an error in it is recorded as its own."""
        try:
            value, reason = _graded(self.function(case))
        except (Exception, SystemExit) as error:  # noqa: BLE001  (the function is the user's)
            what = without_keys(f"{type(error).__name__}: {error}")[:REASON_CHARACTERS]
            reason = f"the evaluator failed: {what}"
            return UserScore(name=self.name, value=None, reason=reason, required=self.required, failed=True)
        return UserScore(name=self.name, value=value, reason=reason[:REASON_CHARACTERS], required=self.required)


def user_evaluators(targets: Iterable[str], required: Iterable[str] = ()) -> tuple[UserEvaluator, ...]:
    """The evaluators that are asked for.

    Args:
        targets: `module:function`, of an installed module or one in the working folder, or the name of an entry point.
        required: the names of those that decide; `NAME=0.8` names the least score, which is else 1.

    Raises:
        EvaluatorError: one cannot be imported, or a name is unknown or taken.
    """
    found: dict[str, Function] = {}
    named: dict[str, str] = {}
    for target in targets:
        name, function = _function(target) if ":" in target else _installed(target)
        if name in METRICS:
            raise EvaluatorError(f"There is a score {name!r} already.", "Give the function another name.")
        if name in found:
            raise EvaluatorError(f"Two evaluators are called {name!r}.", "Give one of them another name.")
        found[name], named[name] = function, target
    least: dict[str, float] = {}
    for given in required:
        name, _, value = given.partition("=")
        if name not in found:
            fix = did_you_mean(name, found, otherwise="known evaluators") if found else "Name it with --evaluator."
            raise EvaluatorError(f"No evaluator {name!r} is used.", fix)
        least[name] = _least(given, value)
    return tuple(
        UserEvaluator(name=name, function=one, required=least.get(name), target=named[name])
        for name, one in found.items()
    )


def with_user_scores(
    scenario: Scenario, attempt: Attempt, catalogue: Catalogue, evaluators: Sequence[UserEvaluator]
) -> Attempt:
    """The attempt with the scores of evaluators, which replace earlier ones of the same names."""
    if not evaluators or attempt.harness_error is not None or not attempt.turns:
        return attempt
    try:
        case = _case_of(Case.of(scenario, attempt, catalogue))
    except BadFlow:  # the scenario's canvas does not build, as its verdict says
        return attempt
    graded = {score.name: score for score in attempt.user_scores}
    graded.update({one.name: one.grade(case) for one in evaluators})
    return attempt.model_copy(update={"user_scores": list(graded.values())})


def score_with(
    scenarios: Sequence[Scenario],
    attempts: Iterable[Attempt],
    catalogue: Catalogue,
    evaluators: Sequence[UserEvaluator],
) -> list[Verdict]:
    """Score attempts with the harness's evaluators and these.

    Raises:
        UnknownScenario: an attempt's scenario is not among the scenarios as they are now.
    """
    known = {(scenario.id, scenario.digest): scenario for scenario in scenarios}
    graded: list[Attempt] = []
    for attempt in attempts:
        scenario = known.get((attempt.scenario, attempt.digest))
        graded.append(attempt if scenario is None else with_user_scores(scenario, attempt, catalogue, evaluators))
    return score_attempts(scenarios, graded, catalogue)


def _case_of(case: Case) -> EvaluatorCase:
    attempt = case.attempt
    return EvaluatorCase(
        scenario=case.scenario.id,
        tags=case.scenario.tags,
        messages=case.scenario.prompts,
        answers=tuple(turn.text for turn in attempt.turns),
        turns=tuple(attempt.turns),
        before=case.before,
        after=case.after,
        runs=(*(attempt.requested[number] for number in sorted(attempt.requested)), *attempt.probes),
        seconds=attempt.seconds,
        tokens=attempt.tokens,
    )


def _graded(returned: object) -> tuple[Value, str]:
    value, reason = cast("tuple[object, object]", returned) if _is_pair(returned) else (returned, "")
    if not isinstance(reason, str):
        raise TypeError(f"it gave the reason {reason!r}, which is not a text")
    if value is None or isinstance(value, bool):
        return value, reason
    if isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= 1:
        return float(value), reason
    raise TypeError(f"it gave {value!r}; give true, false, a number from 0 to 1, None, or one of them and a reason")


def _is_pair(returned: object) -> bool:
    return isinstance(returned, tuple) and len(cast("tuple[object, ...]", returned)) == 2


def _function(target: str) -> tuple[str, Function]:
    try:
        return target.partition(":")[2], named_function(target)
    except FunctionUnavailable as unavailable:
        fix = "Name it as module:function, of an installed module or one in this folder."
        raise EvaluatorError(str(unavailable), fix) from None


def _installed(name: str) -> tuple[str, Function]:
    known = {point.name: point for point in entry_points(group=GROUP)}
    if name not in known:
        otherwise = "Name it as module:function, or install the package that has it."
        fix = did_you_mean(name, known, otherwise="installed evaluators") if known else otherwise
        raise EvaluatorError(f"No evaluator {name!r} is installed.", fix)
    fix = "Mend or remove the package that has it."
    try:
        return name, checked_callable(name, known[name].load())
    except FunctionUnavailable as unavailable:
        raise EvaluatorError(str(unavailable), fix) from None
    except (Exception, SystemExit) as error:  # noqa: BLE001  (the package is somebody's)
        raise EvaluatorError(f"The evaluator {name!r} cannot be imported: {error_line(error)}", fix) from None


def _least(given: str, value: str) -> float:
    try:
        least = float(value or 1)
    except ValueError:
        least = math.nan
    if not 0 <= least <= 1:
        raise EvaluatorError(f"{given!r} does not name a score from 0 to 1.", "Write NAME, or NAME=0.8.")
    return least
