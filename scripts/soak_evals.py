"""`python -m scripts.soak_evals`: play all scenarios with oracle and demo, round after round; scores must be the same.

Measurements, and reasons that quote addresses, may differ; whether an attempt passed and what evaluators say may not.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
os.environ.setdefault("LOGFIRE_IGNORE_NO_CONFIG", "1")

from cli.eval.environment import play_environment  # noqa: E402  (after the environment is set)
from evals.analysis.comparison import Difference, compare  # noqa: E402  (likewise)
from evals.analysis.tally import tally  # noqa: E402  (likewise)
from evals.play.attempts import play  # noqa: E402  (likewise)
from evals.play.environment import PlayEnvironment  # noqa: E402  (likewise)
from evals.players.demo import DemoPlayer  # noqa: E402  (likewise)
from evals.players.oracle.player import OraclePlayer  # noqa: E402  (likewise)
from evals.players.player import Player  # noqa: E402  (likewise)
from evals.scenario import Scenario  # noqa: E402  (likewise)
from evals.scenarios.loader import load_scenarios  # noqa: E402  (likewise)
from evals.score import score_attempts  # noqa: E402  (likewise)

PLAYERS: tuple[Player, ...] = (OraclePlayer(), DemoPlayer())


async def soak(scenarios: Sequence[Scenario], environment: PlayEnvironment, rounds: int) -> list[str]:
    """Play every round with every player.

    Returns:
        A line for everything that differs from the first round; empty when nothing does.
    """
    told: list[str] = []
    for player in PLAYERS:
        first = None
        for number in range(1, rounds + 1):
            attempts = await play(scenarios, player, environment)
            verdicts = await asyncio.to_thread(score_attempts, scenarios, attempts, environment.catalogue)
            first = verdicts if first is None else first
            found = [f"{player.name}, round {number}: {line}" for line in lines(compare(first, verdicts))]
            result = tally(verdicts)
            print(f"{player.name}, round {number} of {rounds}: {result.passed} of {result.scored} passed", flush=True)
            told += [*found, *(f"{player.name}, round {number}: {one}" for one in _errors(result.harness_errors))]
    return told


def lines(difference: Difference) -> list[str]:
    """What differs, a line each."""
    told = [f"{one.scenario} passed before: {'; '.join(one.why)}" for one in difference.lost]
    told += [f"{one.scenario} failed before" for one in difference.gained]
    told += [f"{one.scenario}: {one.name} {one.before} -> {one.after}" for one in difference.moved]
    return told


def _errors(count: int) -> list[str]:
    return [f"{count} attempts failed in the harness"] if count else []


async def _main(rounds: int, names: Sequence[str]) -> list[str]:
    scenarios = [scenario for scenario in load_scenarios() if not names or scenario.id in names]
    async with play_environment(2) as environment:
        return await soak(scenarios, environment, rounds)


def main() -> None:
    """Play, and exit 1 when a score is not what it was in the first round."""
    parser = argparse.ArgumentParser(description="Play all scenarios round after round and compare the scores.")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--scenario", action="append", default=[])
    given = parser.parse_args()
    os.environ.setdefault("WIREWRIGHT_CACHE", str(ROOT / ".cache" / "wirewright"))
    with tempfile.TemporaryDirectory() as data:
        os.environ["WIREWRIGHT_DATA"] = data
        told = asyncio.run(_main(given.rounds, given.scenario))
    for line in told:
        print(line)
    print("The scores are not the same." if told else "The scores are the same in every round.")
    sys.exit(bool(told))


if __name__ == "__main__":
    main()
