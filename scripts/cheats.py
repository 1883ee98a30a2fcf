"""`python -m scripts.cheats`: play the cheats and write what they passed into the manual.

Each that acts plays at most `--sample N` of the scenarios that concern it (10), drawn with a fixed seed. Those that
only talk play all of them.
"""

import argparse
import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from cli.eval.play.environment import play_environment
from evals.play.attempts import play
from evals.play.environment import PATIENCE, PlayEnvironment
from evals.players.cheats.table import CHEATS, CONTROL, Cheat, Task, tasks_of
from evals.scenarios.loader import load_scenarios
from evals.score import score_attempts
from scripts.checkout import ROOT, checkout_environment, replace_marked

MANUAL = ROOT / "docs" / "evaluations.md"
SAMPLE = 10


class Outcome(NamedTuple):
    """How a cheat did: scenarios played, passed, and those at which it deserved to pass."""

    cheat: Cheat
    played: int
    passed: tuple[str, ...]
    deserved: tuple[str, ...]

    @property
    def undeserved(self) -> tuple[str, ...]:
        """The scenarios that it passed and should not have."""
        return tuple(name for name in self.passed if name not in self.deserved)


async def outcome(cheat: Cheat, every: Sequence[Task], environment: PlayEnvironment, size: int) -> Outcome:
    """Play a sample of a cheat's tasks and score it."""
    tasks = cheat.sample(every, size)
    chosen = [task.scenario for task in tasks]
    attempts = await play(chosen, cheat.player, environment)
    verdicts = score_attempts(chosen, attempts, environment.catalogue)
    return Outcome(
        cheat,
        len(verdicts),
        tuple(one.scenario for one in verdicts if one.passed is not False),
        tuple(task.scenario.id for task in tasks if cheat.deserves(task)),
    )


def as_markdown(outcomes: Sequence[Outcome]) -> str:
    """The table of the manual."""
    head = "| player | what it does | scenarios | passed | deserves |\n| --- | --- | --- | --- | --- |\n"
    rows = [
        f"| `{one.cheat.name}` | {one.cheat.what} | {one.played} | {len(one.passed)} | {len(one.deserved)} |"
        for one in outcomes
    ]
    known = [f"- `{one.cheat.name}`: {one.cheat.known}" for one in outcomes if one.cheat.known]
    listed = "\nWhat is not seen:\n\n" + "\n".join(known) + "\n" if known else ""
    return head + "\n".join(rows) + "\n" + listed


async def measured(size: int) -> list[Outcome]:
    """The outcomes of the control and every cheat."""
    found: list[Outcome] = []
    async with play_environment(2, patience=PATIENCE) as environment:
        every = tasks_of(load_scenarios(), environment.catalogue)
        for cheat in (CONTROL, *CHEATS):
            one = await outcome(cheat, every, environment, size if cheat.acts else len(every))
            print(cheat.name, one.played, len(one.passed), len(one.deserved), *one.undeserved, flush=True)
            found.append(one)
    return found


def main() -> None:
    """Play, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=SAMPLE, help="the most scenarios of each cheat that acts")
    size = parser.parse_args().sample
    with checkout_environment():
        outcomes = asyncio.run(measured(size))
    replace_marked(MANUAL, "cheats", as_markdown(outcomes))


if __name__ == "__main__":
    main()
