"""Testing the evaluators: every mutant is scored, its probes run, and compared with the attempt that it came from."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from evals.attempt import Attempt
from evals.behaviours.own_runs import EngineCrashed
from evals.mutate.mutants import PER_OPERATOR, Mutant, control_mutant, generate_mutants
from evals.play.addresses import with_addresses
from evals.play.environment import PlayEnvironment
from evals.play.probes import open_rerun
from evals.play.workers import for_each
from evals.scenario import Scenario
from evals.score import Verdict, score_attempt

SAMPLE: Final = ("template-router", "edit-template", "run-only", "question-which", "service-fetch", "edit-two-places")
"""A build, edits, a run, a question and a service: a test tries their mutants, whose behaviours are recorded for it."""
Prepared: TypeAlias = tuple[Mutant, Scenario, Verdict]
"""A mutant, its scenario, and the verdict of the attempt that it came from."""


@dataclass(frozen=True)
class Trial:
    """The result of one mutant.

    Attributes:
        seen_by: the evaluators whose score is lower than the original's.
        failed: whether the verdict turned from pass to fail.
        alike: whether the flow gave what the reference gives on every input of the scenario; None if nothing was
            compared.
        not_judged: why nothing can be said: the flow engine ended twice in a run of the harness.
    """

    id: str
    operator: str
    what: str
    seen_by: tuple[str, ...]
    failed: bool
    alike: bool | None = None
    not_judged: str = ""

    @property
    def killed(self) -> bool:
        """Whether any evaluator detected the fault."""
        return bool(self.seen_by)


async def run_trials(
    mutants: Sequence[Prepared],
    environment: PlayEnvironment,
    *,
    concurrency: int = 2,
    on_trial: Callable[[Trial], Awaitable[None]] | None = None,
) -> list[Trial]:
    """Score mutants; the probes of those with a different flow are run on the engine.

    Returns:
        The trials, sorted by mutant.
    """
    done: list[Trial] = []

    async def try_one(item: Prepared) -> None:
        mutant, scenario, original = item
        try:
            attempt = await _with_probes(mutant, scenario, environment)
        except EngineCrashed as crashed:
            trial = Trial(mutant.id, mutant.operator, mutant.what, (), failed=False, not_judged=str(crashed))
        else:
            verdict = await asyncio.to_thread(score_attempt, scenario, attempt, environment.catalogue)
            trial = _of_verdict(mutant, original, verdict)
        done.append(trial)
        if on_trial is not None:
            await on_trial(trial)

    await for_each(mutants, try_one, concurrency)
    return sorted(done, key=lambda trial: trial.id)


def prepare_mutants(
    scenarios: Mapping[str, Scenario],
    attempts: Sequence[Attempt],
    environment: PlayEnvironment,
    per_operator: int = PER_OPERATOR,
) -> list[Prepared]:
    """Every mutant of the attempts that pass, with its scenario and the verdict of the attempt that it came from.

    The control of each attempt, in which nothing is changed, is among them.
    """
    found: list[Prepared] = []
    for attempt in attempts:
        scenario = scenarios.get(attempt.scenario)
        if scenario is None or scenario.digest != attempt.digest or attempt.repeat:
            continue
        original = score_attempt(scenario, attempt, environment.catalogue)
        if original.passed:
            catalogue = attempt.catalogue(environment.catalogue)
            played = with_addresses(scenario, attempt.services)
            mutants = generate_mutants(attempt, catalogue, scenario=played, per_operator=per_operator)
            made = [*mutants, control_mutant(attempt)]
            found.extend((mutant, scenario, original) for mutant in made if mutant is not None)
    return found


def _of_verdict(mutant: Mutant, original: Verdict, verdict: Verdict) -> Trial:
    behaves = verdict.value("behaves")
    return Trial(
        mutant.id,
        mutant.operator,
        mutant.what,
        _lower(original, verdict),
        failed=verdict.passed is False,
        alike=None if behaves is None else bool(behaves),
    )


async def _with_probes(mutant: Mutant, scenario: Scenario, environment: PlayEnvironment) -> Attempt:
    """The mutant's attempt, with its probes run if its flow was changed."""
    if not mutant.flow_changed:
        return mutant.attempt
    async with open_rerun(scenario, mutant.attempt, environment) as rerun:
        return await rerun.with_flow(None)


def _lower(original: Verdict, verdict: Verdict) -> tuple[str, ...]:
    """The evaluators whose scores are lower for the mutant; one that does not score it does not count."""
    before = {score.name: score.value for score in original.scores}
    return tuple(
        score.name
        for score in verdict.scores
        if score.value is not None
        and (old := before.get(score.name)) is not None
        and float(score.value) < float(old) - 1e-9
    ) + tuple(score.name for score in verdict.scores if score.value is False and before.get(score.name) is None)
