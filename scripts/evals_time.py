"""`python -m scripts.evals_time`: what the plays of `make evals` take of the processor, kept and shown in the manual.

What decides is processor time, of the commands and of all processes that they start: how busy the machine is makes no
difference. `--shard K/N` plays a part, of which the whole is estimated: what one scenario takes is measured alone and
counted once.
"""

import argparse
import os
import resource
import subprocess
import sys
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evals.scenarios.loader import load_scenarios
from scripts.checkout import ROOT, checkout_environment, replace_marked

MANUAL = ROOT / "docs" / "evaluations.md"
KEPT = ROOT / "evals" / "baselines" / "time.json"
PLAYERS = ("oracle", "demo")
ALONE = "echo-wired"
"""The scenario whose play shows what starting takes."""
CORES = 2


class Play(BaseModel):
    """What a play took.

    Attributes:
        played: how many scenarios were played.
        seconds: processor seconds of the play.
        starting: processor seconds of a play of one scenario.
    """

    model_config = ConfigDict(frozen=True)

    played: int
    seconds: float
    starting: float

    def of_all(self, count: int) -> float:
        """Processor seconds of a play of all scenarios: measured, or estimated from the part that was played."""
        if self.played == count:
            return self.seconds
        return self.starting + (self.seconds - self.starting) / self.played * count


class PlayTime(BaseModel):
    """What the plays of `make evals` take.

    Attributes:
        scenarios: how many there are.
        plays: by player.
    """

    model_config = ConfigDict(frozen=True)

    scenarios: int
    plays: dict[str, Play]

    @property
    def seconds(self) -> float:
        """Processor seconds of all plays of all scenarios."""
        return sum(one.of_all(self.scenarios) for one in self.plays.values())


def as_markdown(found: PlayTime) -> str:
    """What the manual shows."""
    parts = sorted({one.played for one in found.plays.values()})
    how = "" if parts == [found.scenarios] else f", estimated from plays of {parts[0]} of them"
    each = ", ".join(f"{name} {one.of_all(found.scenarios):.0f}" for name, one in found.plays.items())
    return (
        f"Both plays of all {found.scenarios} scenarios take {found.seconds:.0f} seconds of processor time "
        f"({each}){how}: **{found.seconds / CORES / 60:.1f} minutes on {CORES} cores**.\n"
    )


def processor_seconds(*command: str) -> float:
    """The processor seconds of a command and of all processes that it starts.

    Raises:
        RuntimeError: it ended as no play does.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
    if done.returncode not in {0, 1}:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(shard: str | None) -> PlayTime:
    """Play, and measure."""
    every = load_scenarios()
    number, _, parts = (shard or "1/1").partition("/")
    played = len(every[int(number) - 1 :: int(parts)])
    wirewright = str(Path(sys.executable).parent / "wirewright")
    plays: dict[str, Play] = {}
    for player in PLAYERS:
        command = (wirewright, "eval", "run", "--player", player)
        seconds = processor_seconds(*command, "--shard", shard or "1/1")
        plays[player] = Play(
            played=played,
            seconds=round(seconds, 1),
            starting=round(processor_seconds(*command, "--scenario", ALONE), 1),
        )
        print(player, plays[player], flush=True)
    return PlayTime(scenarios=len(every), plays=plays)


def main() -> None:
    """Measure, and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shard", default=None, help="play only the K-th of N parts, as K/N")
    given = parser.parse_args()
    with checkout_environment():
        found = measured(given.shard)
    KEPT.write_text(found.model_dump_json(indent=1) + "\n", encoding="utf-8")
    replace_marked(MANUAL, "evals-time", as_markdown(found))
    print(as_markdown(found))


if __name__ == "__main__":
    main()
