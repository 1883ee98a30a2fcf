"""`python -m scripts.soak_evals`: play all scenarios repeatedly with oracle and demo; scores must be the same.

Measurements, and reasons that quote addresses, may differ; whether an attempt passed and what evaluators say may not.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence

from cli.eval.play.environment import play_environment
from evals.analysis.comparison import Difference, compare
from evals.analysis.tally import tally
from evals.play.attempts import play
from evals.play.environment import PATIENCE, PlayEnvironment
from evals.players.demo import DemoPlayer
from evals.players.oracle.player import OraclePlayer
from evals.players.player import Player
from evals.scenario import Scenario
from evals.scenarios.loader import load_scenarios
from evals.score import score_attempts
from scripts.checkout import checkout_environment

PLAYERS: tuple[Player, ...] = (OraclePlayer(), DemoPlayer())


async def soak(scenarios: Sequence[Scenario], environment: PlayEnvironment, rounds: int) -> list[str]:
    """Play every round with every player.

    Returns:
        A line for everything that differs from the first round, and for every harness error; usually empty.
    """
    differences: list[str] = []
    for player in PLAYERS:
        first = None
        for number in range(1, rounds + 1):
            attempts = await play(scenarios, player, environment)
            verdicts = await asyncio.to_thread(score_attempts, scenarios, attempts, environment.catalogue)
            first = verdicts if first is None else first
            result = tally(verdicts)
            print(f"{player.name}, round {number} of {rounds}: {result.passed} of {result.scored} passed", flush=True)
            found = lines(compare(first, verdicts))
            if result.harness_errors:
                found.append(f"{result.harness_errors} attempts failed in the harness")
            differences += [f"{player.name}, round {number}: {line}" for line in found]
    return differences


def lines(difference: Difference) -> list[str]:
    """What differs, one per line."""
    return [
        *(f"{one.scenario} passed before: {'; '.join(one.why)}" for one in difference.lost),
        *(f"{one.scenario} failed before" for one in difference.gained),
        *(f"{one.scenario}: {one.name} {one.before} -> {one.after}" for one in difference.moved),
    ]


async def _main(rounds: int, names: Sequence[str]) -> list[str]:
    scenarios = [scenario for scenario in load_scenarios() if not names or scenario.id in names]
    async with play_environment(2, patience=PATIENCE) as environment:
        return await soak(scenarios, environment, rounds)


def main() -> None:
    """Play, and exit 1 when a score is not what it was in the first round."""
    parser = argparse.ArgumentParser(description="Play all scenarios round after round and compare the scores.")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--scenario", action="append", default=[])
    given = parser.parse_args()
    with checkout_environment():
        differences = asyncio.run(_main(given.rounds, given.scenario))
    for line in differences:
        print(line)
    print("The scores are not the same." if differences else "The scores are the same in every round.")
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
