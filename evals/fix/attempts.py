"""The smallest fix of an attempt whose flow does not meet the scenario."""

from __future__ import annotations

import json
from dataclasses import replace

from evals.attempt import Attempt
from evals.case import Case
from evals.evaluators.behaves import behaves
from evals.evaluators.ran import run_failure
from evals.evaluators.resolved import probe_failure
from evals.fix.search import TRIES, MinimalFix, minimal_fix
from evals.oracles.expectations import unmet_expectations
from evals.play.addresses import with_other_addresses
from evals.play.environment import PlayEnvironment
from evals.play.probes import PROBE_SECONDS, Rerun, open_rerun
from evals.scenario import Scenario
from evals.scenarios.flows import read_named
from flows.action_json import action_from_json, action_to_json
from flows.checks import check
from flows.document import Flow
from flows.json_values import JsonObject, as_object
from runtime.options import RunOptions


async def fix_of(
    scenario: Scenario, attempt: Attempt, environment: PlayEnvironment, *, tries: int = TRIES
) -> MinimalFix | None:
    """The fewest changes with which an attempt's resulting flow passes its probes, expectations and checks.

    Returns:
        The fix, with the addresses of services as in the attempt; None if the flow is right as it is or empty, or the
        scenario has no reference flow.
    """
    async with open_rerun(scenario, attempt, environment) as rerun:
        catalogue = attempt.catalogue(environment.catalogue)
        made = rerun.attempt.flow
        if made is None or made.is_empty or not rerun.scenario.right:
            return None

        async def passes(flow: Flow) -> bool:
            tried = await rerun.with_flow(flow)
            case = Case(rerun.scenario, tried, catalogue)
            return (
                not any(fault.is_error for fault in check(flow, catalogue))
                and (case.changed or not case.change_expected)
                and not any(
                    probe_failure(probe, runs, files)
                    for (probe, runs), files in zip(case.probed, case.probe_files, strict=True)
                )
                and next(iter(unmet_expectations(case)), None) is None
                and behaves(case)[0] is not False
                and await _runs_as_requested(rerun, flow)
            )

        if await passes(made):
            return None
        right = [read_named(name, text, catalogue) for name, text in rerun.scenario.right]
        found = await minimal_fix(made, right, catalogue, passes, tries=tries)
        return None if found is None else _as_played(found, attempt, rerun.attempt)


async def _runs_as_requested(rerun: Rerun, flow: Flow) -> bool:
    """Whether the run that the last message asks for, if any, gives the expected result with this flow."""
    requested = rerun.scenario.turns[-1].run
    if requested is None:
        return True
    result = await rerun.runner.execute(flow, requested.input, RunOptions(timeout=PROBE_SECONDS))
    return not run_failure(requested, result)


def _as_played(found: MinimalFix, attempt: Attempt, served: Attempt) -> MinimalFix:
    """A fix with the addresses of the services as they were played."""

    def back(value: JsonObject) -> JsonObject:
        return as_object(
            json.loads(with_other_addresses(json.dumps(value, ensure_ascii=False), served.services, attempt.services))
        )

    actions = tuple(action_from_json(back(action_to_json(action))) for action in found.actions)
    return replace(found, actions=actions, flow=Flow.from_json(back(found.flow.to_json())))
