"""Trying the graders: every mutant is scored, its probes really run, and compared with the attempt it came from."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from evals.attempt import Attempt
from evals.inflow import with_models
from evals.mutate.mutants import PER_OPERATOR, Mutant, mutants
from evals.players import Stage
from evals.scenario import Scenario
from evals.score import Verdict, judge
from runtime.results import RunResult

PROBE_SECONDS = 30.0


@dataclass(frozen=True)
class Trial:
    """What became of one mutant.

    Attributes:
        id: the mutant's.
        operator: what was done to it.
        what: where, in words.
        seen_by: the evaluators whose score is lower than the original's.
        failed: whether the verdict turned from pass to fail.
    """

    id: str
    operator: str
    what: str
    seen_by: tuple[str, ...]
    failed: bool

    @property
    def killed(self) -> bool:
        """Whether any evaluator saw the fault."""
        return bool(self.seen_by)


async def trials(
    scenarios: Mapping[str, Scenario],
    attempts: Sequence[Attempt],
    stage: Stage,
    *,
    per_operator: int = PER_OPERATOR,
    concurrency: int = 2,
    on_trial: Callable[[Trial], Awaitable[None]] | None = None,
) -> list[Trial]:
    """Mutate every attempt that passes, and score the mutants.

    A mutant's probes are run on the engine, unless its scenario has services, whose addresses are gone: then a mutant
    with another flow is scored without probes.

    Args:
        scenarios: by id.
        attempts: what was played; those that do not pass are left out.
        stage: what probes run on.
        per_operator: mutants of one operator from one attempt.
        concurrency: how many are tried at the same time.
        on_trial: told of every trial as it ends.

    Returns:
        The trials, by mutant.
    """
    waiting = iter(_every(scenarios, attempts, stage, per_operator))
    done: list[Trial] = []

    async def work() -> None:
        for mutant, scenario, original in waiting:
            attempt = await _probed(mutant, scenario, stage)
            verdict = judge(scenario, attempt, stage.catalogue)
            trial = Trial(mutant.id, mutant.operator, mutant.what, _lower(original, verdict), verdict.passed is False)
            done.append(trial)
            if on_trial is not None:
                await on_trial(trial)

    async with asyncio.TaskGroup() as workers:
        for _ in range(max(1, concurrency)):
            workers.create_task(work())
    return sorted(done, key=lambda trial: trial.id)


def _every(
    scenarios: Mapping[str, Scenario], attempts: Sequence[Attempt], stage: Stage, per_operator: int
) -> list[tuple[Mutant, Scenario, Verdict]]:
    found: list[tuple[Mutant, Scenario, Verdict]] = []
    for attempt in attempts:
        scenario = scenarios.get(attempt.scenario)
        if scenario is None or scenario.digest != attempt.digest or attempt.repeat:
            continue
        original = judge(scenario, attempt, stage.catalogue)
        if original.passed:
            made = mutants(attempt, stage.catalogue, per_operator=per_operator)
            found.extend((mutant, scenario, original) for mutant in made)
    return found


async def _probed(mutant: Mutant, scenario: Scenario, stage: Stage) -> Attempt:
    flow = mutant.attempt.flow
    if not mutant.flow_changed or scenario.services or flow is None or flow.is_empty:
        return mutant.attempt
    probes: list[RunResult] = []
    runner = with_models(stage.runner, scenario.models)
    for probe in scenario.probes:
        for text in probe.inputs:
            probes.append(await runner.run(flow, text, timeout=PROBE_SECONDS))  # noqa: PERF401  (one after the other)
    return mutant.attempt.model_copy(update={"probes": probes})


def _lower(original: Verdict, verdict: Verdict) -> tuple[str, ...]:
    """The evaluators that say less of the mutant; one that no longer scores says nothing."""
    before = {score.name: score.value for score in original.scores}
    return tuple(
        score.name
        for score in verdict.scores
        if score.value is not None
        and (old := before.get(score.name)) is not None
        and float(score.value) < float(old) - 1e-9
    ) + tuple(score.name for score in verdict.scores if score.value is False and before.get(score.name) is None)
