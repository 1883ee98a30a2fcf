"""`python -m scripts.recorded_behaviours`: what the scenarios' flows give on their inputs, recorded.

References and alternatives are run on every input, wrong results and the mutants of a sample until they differ from the
reference. What is recorded
already, by flow, input and engine version, is not run again, unless `--anew` is given; what no scenario needs any more
is dropped. It prints what is wrong with a scenario's inputs, and exits 1 then.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace

from cli.eval.play.environment import play_environment
from evals.behaviours.check import check_inputs
from evals.behaviours.families import Input
from evals.behaviours.outcomes import Outcome
from evals.behaviours.recorded import RECORDED, Behaviours, recorded_behaviours
from evals.behaviours.running import Engine
from evals.mutate.trials import SAMPLE, prepare_mutants, run_trials
from evals.play.attempts import play
from evals.play.environment import PATIENCE, PlayEnvironment
from evals.play.user_components import make_user_components, with_user_components
from evals.play.versions import versions
from evals.play.workers import for_each
from evals.players.oracle.player import OraclePlayer
from evals.scenario import Scenario
from evals.scenarios.loader import load_scenarios
from scripts.checkout import checkout_environment

CONCURRENCY = 4


async def record(
    scenarios: Sequence[Scenario], environment: PlayEnvironment, before: Behaviours, found: Behaviours
) -> list[str]:
    """Run the flows of scenarios on their inputs, and return what is wrong with these.

    Args:
        before: what is known already.
        found: gets what the scenarios need.
    """
    faults: list[str] = []

    async def record_one(scenario: Scenario) -> None:
        made = await make_user_components(scenario.components, environment.runner)
        catalogue = with_user_components(environment.catalogue, made.types)
        engine = Engine(runner=environment.runner, catalogue=catalogue, known=found, before=before)
        wrong = [f"{scenario.id}: {fault}" for fault in await check_inputs(scenario, engine)]
        print("\n".join([*wrong, f"{scenario.id}: {len(wrong)} faults"]), flush=True)
        faults.extend(wrong)

    await for_each([scenario for scenario in scenarios if scenario.inputs], record_one, CONCURRENCY)
    return sorted(faults)


class _Used(Behaviours):
    """Known outcomes, of which those that are asked for or learned go to others."""

    def __init__(self, known: Behaviours, used: Behaviours) -> None:
        super().__init__()
        self.update(known)
        self._used = used

    def outcome(self, flow: str, given: Input) -> Outcome | None:
        found = super().outcome(flow, given)
        if found is not None:
            self._used.learn(flow, given, found)
        return found

    def learn(self, flow: str, given: Input, outcome: Outcome) -> None:
        super().learn(flow, given, outcome)
        self._used.learn(flow, given, outcome)


async def record_mutants(environment: PlayEnvironment, before: Behaviours, found: Behaviours) -> None:
    """Run the mutants that a test tries on the inputs of their scenarios.

    Args:
        before: what is known already.
        found: gets what the mutants need.
    """
    used = replace(environment, behaviours=_Used(before, found), versions=versions(environment.catalogue.version))
    sample = {scenario.id: scenario for scenario in load_scenarios() if scenario.id in SAMPLE}
    attempts = await play(list(sample.values()), OraclePlayer(), used)
    trials = await run_trials(prepare_mutants(sample, attempts, used, 1), used, concurrency=CONCURRENCY)
    print(f"{len(trials)} mutants", flush=True)


async def _record(names: Sequence[str], *, anew: bool) -> list[str]:
    scenarios = [scenario for scenario in load_scenarios() if not names or scenario.id in names]
    before = Behaviours({} if anew else recorded_behaviours())
    found, whole = Behaviours(), Behaviours(recorded_behaviours() if names else {})
    try:
        async with play_environment(CONCURRENCY, patience=PATIENCE) as environment:
            faults = await record(scenarios, environment, before, found)
            if not names:
                await record_mutants(environment, before, found)
            return faults
    finally:
        whole.update(found)
        RECORDED.write_bytes(whole.to_bytes())


def main() -> int:
    """Record, and print the faults."""
    parser = argparse.ArgumentParser(description="Record what the scenarios' flows give on their inputs.")
    parser.add_argument("scenarios", nargs="*", help="only these; all by default")
    parser.add_argument("--anew", action="store_true", help="run also what is recorded already")
    chosen = parser.parse_args()
    with checkout_environment():
        faults = asyncio.run(_record(chosen.scenarios, anew=chosen.anew))
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
