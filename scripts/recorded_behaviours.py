"""`python -m scripts.recorded_behaviours`: what the scenarios' flows give on their inputs, recorded.

References and alternatives are run on every input, wrong results until they differ from the reference. What is recorded
already, by flow, input and engine version, is not run again, unless `--anew` is given; what no scenario needs any more
is dropped. It prints what is wrong with a scenario's inputs, and exits 1 then.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence

from cli.eval.play.environment import play_environment
from evals.behaviours.check import check_inputs
from evals.behaviours.recorded import RECORDED, Behaviours, recorded_behaviours
from evals.behaviours.running import Engine
from evals.play.environment import PlayEnvironment
from evals.play.user_components import make_user_components, with_user_components
from evals.play.workers import for_each
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


async def _record(names: Sequence[str], *, anew: bool) -> list[str]:
    scenarios = [scenario for scenario in load_scenarios() if not names or scenario.id in names]
    before = Behaviours({} if anew else recorded_behaviours())
    found, whole = Behaviours(), Behaviours(recorded_behaviours() if names else {})
    try:
        async with play_environment(CONCURRENCY) as environment:
            return await record(scenarios, environment, before, found)
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
