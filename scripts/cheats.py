"""`python -m scripts.cheats`: play the cheats, keep what they passed (`measured.json`) and show it in the manual.

Each that acts plays at most `--sample N` of the scenarios that concern it (30), drawn with a fixed seed. Those that
only talk play all of them. Named cheats are played alone, and replace their rows.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, RootModel

from cli.eval.play.environment import play_environment
from evals.play.attempts import play
from evals.play.environment import PATIENCE, PlayEnvironment
from evals.players.cheats.table import CHEATS, CONTROL, Cheat, Task, tasks_of
from evals.scenarios.loader import load_scenarios
from evals.score import score_attempts
from scripts.checkout import ROOT, checkout_environment, replace_marked

MANUAL = ROOT / "docs" / "evaluations.md"
MEASURED = ROOT / "evals" / "players" / "cheats" / "measured.json"
"""What the cheats passed when they were last played."""
SAMPLE = 30


class Outcome(BaseModel):
    """How a cheat did: scenarios played, passed, and those at which it deserved to pass."""

    model_config = ConfigDict(frozen=True)

    cheat: str
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
        cheat=cheat.name,
        played=len(verdicts),
        passed=tuple(one.scenario for one in verdicts if one.passed is not False),
        deserved=tuple(task.scenario.id for task in tasks if cheat.deserves(task)),
    )


def read_outcomes(path: Path = MEASURED) -> dict[str, Outcome]:
    """What was kept of each cheat, by name."""
    kept = _Outcomes.model_validate_json(path.read_text(encoding="utf-8")).root if path.exists() else []
    return {one.cheat: one for one in kept}


def as_markdown(outcomes: Mapping[str, Outcome]) -> str:
    """The table of the manual."""
    head = "| player | what it does | scenarios | passed | deserves |\n| --- | --- | --- | --- | --- |\n"
    found = [(cheat, outcomes[cheat.name]) for cheat in (CONTROL, *CHEATS) if cheat.name in outcomes]
    rows = [
        f"| `{cheat.name}` | {cheat.what} | {one.played} | {len(one.passed)} | {len(one.deserved)} |"
        for cheat, one in found
    ]
    known = [f"- `{cheat.name}`: {cheat.known}" for cheat, _ in found if cheat.known]
    listed = "\nWhat is not seen:\n\n" + "\n".join(known) + "\n" if known else ""
    return head + "\n".join(rows) + "\n" + listed


def keep(outcomes: Mapping[str, Outcome]) -> None:
    """Write outcomes into their file and into the manual."""
    kept = _Outcomes([outcomes[cheat.name] for cheat in (CONTROL, *CHEATS) if cheat.name in outcomes])
    MEASURED.write_text(kept.model_dump_json(indent=1) + "\n", encoding="utf-8")
    replace_marked(MANUAL, "cheats", as_markdown(outcomes))


class _Outcomes(RootModel[list[Outcome]]):
    """The outcomes in a file."""


async def measured(size: int, names: Sequence[str]) -> None:
    """Play the control and every cheat, or those named, and keep what each passed as soon as it has played."""
    kept = read_outcomes()
    async with play_environment(2, patience=PATIENCE) as environment:
        every = tasks_of(load_scenarios(), environment.catalogue)
        for cheat in (CONTROL, *CHEATS):
            if names and cheat.name not in names:
                continue
            one = await outcome(cheat, every, environment, size if cheat.acts else len(every))
            print(cheat.name, one.played, len(one.passed), len(one.deserved), *one.undeserved, flush=True)
            kept[cheat.name] = one
            keep(kept)


def main() -> None:
    """Play, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cheats", nargs="*", help="only these; all by default")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="the most scenarios of each cheat that acts")
    given = parser.parse_args()
    with checkout_environment():
        asyncio.run(measured(given.sample, given.cheats))


if __name__ == "__main__":
    main()
