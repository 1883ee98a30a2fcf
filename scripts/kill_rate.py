"""`python -m scripts.kill_rate`: measure the kill rate over all scenarios, keep it, and show it in the manual.

`--sample N` takes N scenarios, drawn with a fixed seed: the first N of one order.
"""

import argparse
import asyncio
import random
from collections.abc import Sequence
from typing import NamedTuple

from cli.eval.play.environment import play_environment
from evals.analysis.tally import tally
from evals.mutate.matrix import ALIKE, build_matrix, read_accepted
from evals.mutate.measurement import MEASURED, Measured, as_markdown, near_misses_as_markdown
from evals.mutate.trials import Trial, prepare_mutants, run_trials
from evals.play.attempts import play
from evals.play.environment import PlayEnvironment
from evals.players.oracle.player import OraclePlayer
from evals.scenario import Scenario
from evals.scenarios.loader import load_scenarios
from evals.score import score_attempts
from scripts.checkout import ROOT, checkout_environment, replace_marked

MANUAL = ROOT / "docs" / "evaluations.md"
PER_OPERATOR = 1
CONCURRENCY = 4
SEED = 20261126
"""The seed of the order in which scenarios are drawn."""


class Tried(NamedTuple):
    """The mutants of some scenarios: how many scenarios the oracle passed, and the trials."""

    passed: int
    trials: list[Trial]


def drawn(scenarios: Sequence[Scenario], size: int | None = None) -> list[Scenario]:
    """Scenarios with a reference in an order that the seed decides, at most `size` of them."""
    found = sorted((one for one in scenarios if not one.open), key=lambda one: one.id)
    random.Random(SEED).shuffle(found)  # noqa: S311  (a sample)
    return found[:size]


async def tried(scenarios: Sequence[Scenario], environment: PlayEnvironment) -> Tried:
    """The oracle's attempts at scenarios, mutated and scored."""
    attempts = await play(scenarios, OraclePlayer(), environment)
    mutants = prepare_mutants({one.id: one for one in scenarios}, attempts, environment, PER_OPERATOR)
    trials = await run_trials(mutants, environment, concurrency=CONCURRENCY)
    return Tried(tally(score_attempts(scenarios, attempts, environment.catalogue)).passed, trials)


def measured(found: Tried, scenarios: int, drawn_from: int, lfx: str) -> Measured:
    """What is kept of the mutants of some scenarios.

    Args:
        scenarios: how many they were.
        drawn_from: how many there are.
    """
    counted = build_matrix(found.trials, read_accepted(), read_accepted(ALIKE))
    for trial in counted.missed:
        print(f"missed {trial.id}: {trial.what}; alike: {trial.alike}; a grade fell in {', '.join(trial.seen_by)}")
    return Measured.of(
        counted,
        scenarios=scenarios,
        drawn_from=drawn_from,
        passed=found.passed,
        per_operator=PER_OPERATOR,
        lfx=lfx,
    )


def keep(found: Measured) -> None:
    """Write a measurement into its file and into the manual, and print what survived."""
    MEASURED.write_text(found.model_dump_json(indent=2) + "\n", encoding="utf-8")
    replace_marked(MANUAL, "kill-rate", as_markdown(found))
    replace_marked(MANUAL, "near-misses", near_misses_as_markdown(found))
    print(as_markdown(found), near_misses_as_markdown(found), sep="\n")
    for name in found.survivors:
        print(f"survived {name}")


async def _measure(size: int | None) -> Measured:
    whole = drawn(load_scenarios())
    scenarios = drawn(whole, size)
    async with play_environment(CONCURRENCY) as environment:
        found = await tried(scenarios, environment)
        return measured(found, len(scenarios), len(whole), environment.versions.lfx)


def main() -> None:
    """Measure, and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=None, help="the most scenarios; all by default")
    size = parser.parse_args().sample
    with checkout_environment():
        found = asyncio.run(_measure(size))
    keep(found)


if __name__ == "__main__":
    main()
