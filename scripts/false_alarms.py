"""`python -m scripts.false_alarms`: judge right flows, keep which of them failed, and show it in the manual.

The alternatives of all scenarios, or of `--alternatives N`, are played by the oracle; the variations are those of the
references of `--sample N` scenarios (120), drawn with a fixed seed. What was judged of a scenario is written down
at once (`.cache/false-alarms.jsonl`) and not judged again while the scenario, the graders and the engine are the same.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from cli.eval.play.environment import play_environment
from evals.mutate.false_alarms import (
    ALTERNATIVE,
    KEPT,
    KINDS,
    Alarms,
    FalseAlarms,
    alarm,
    as_markdown,
    variation_verdicts,
)
from evals.play.attempts import play_attempt
from evals.play.environment import PATIENCE, PlayEnvironment
from evals.play.workers import for_each
from evals.players.oracle.player import OraclePlayer
from evals.scenario import Scenario
from evals.scenarios.loader import load_scenarios
from evals.score import score_attempt
from scripts.checkout import ROOT, checkout_environment, replace_marked
from scripts.kill_rate import conditions, drawn

MANUAL = ROOT / "docs" / "evaluations.md"
TRIED = ROOT / ".cache" / "false-alarms.jsonl"
"""What was judged, a scenario a line."""
SAMPLE = 120
CONCURRENCY = 2


class Judged(BaseModel):
    """What came of the right flows of one scenario and one kind of play.

    Attributes:
        conditions: a hash of what decides it beside the scenario.
        failed: the reason for each flow, by kind and name; empty for one that passed.
    """

    model_config = ConfigDict(frozen=True)

    scenario: str
    digest: str
    conditions: str
    varied: bool
    failed: dict[str, str]


def read_judged(path: Path, under: str) -> dict[tuple[str, bool], Judged]:
    """What was judged under the same conditions, by digest and play; a line that a stop cut off is left out."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = [Judged.model_validate_json(line) for line in lines if line.endswith("}")]
    return {(one.digest, one.varied): one for one in found if one.conditions == under}


async def judged(scenario: Scenario, environment: PlayEnvironment, under: str, *, varied: bool) -> Judged:
    """Judge the alternatives of a scenario, or the variations of its reference."""
    found: dict[str, str] = {}
    for number in () if varied else range(len(scenario.alternatives)):
        attempt = await play_attempt(scenario, OraclePlayer(alternative=number), environment)
        found[f"{ALTERNATIVE}/{number}"] = alarm(score_attempt(scenario, attempt, environment.catalogue))
    if varied and scenario.acts:
        attempt = await play_attempt(scenario, OraclePlayer(), environment)
        if score_attempt(scenario, attempt, environment.catalogue).passed:
            verdicts = await variation_verdicts(scenario, attempt, environment)
            found.update({f"{name}/0": alarm(verdict) for name, verdict in verdicts})
    return Judged(scenario=scenario.id, digest=scenario.digest, conditions=under, varied=varied, failed=found)


def counted(found: Sequence[Judged], *, sample: int, lfx: str) -> FalseAlarms:
    """What is kept of what was judged.

    Args:
        sample: how many scenarios' references were varied.
    """
    kinds = {kind: Alarms() for kind in KINDS}
    for one in sorted(found, key=lambda one: one.scenario):
        for name, why in one.failed.items():
            kind, _, number = name.partition("/")
            kinds[kind] = kinds[kind].and_one(f"{one.scenario}/{number}", why)
    alternatives = sum(not one.varied for one in found)
    return FalseAlarms(lfx=lfx, varied=sample, alternatives_of=alternatives, kinds=kinds)


async def _measured(size: int, alternatives: int | None) -> FalseAlarms:
    every = load_scenarios()
    listed = [one for one in drawn(every) if one.alternatives][:alternatives]
    plays = [(one, True) for one in drawn(every, size)] + [(one, False) for one in listed]
    async with play_environment(CONCURRENCY, patience=PATIENCE) as environment:
        lfx = environment.versions.lfx
        under = conditions(lfx)
        known = read_judged(TRIED, under)
        found = [known[one.digest, varied] for one, varied in plays if (one.digest, varied) in known]
        TRIED.parent.mkdir(parents=True, exist_ok=True)
        with TRIED.open("a", encoding="utf-8") as lines:

            async def judge(play: tuple[Scenario, bool]) -> None:
                made = await judged(play[0], environment, under, varied=play[1])
                found.append(made)
                lines.write(f"{made.model_dump_json()}\n")
                lines.flush()
                print(f"{len(found)} of {len(plays)}: {made.scenario}", flush=True)

            missing = [(one, varied) for one, varied in plays if (one.digest, varied) not in known]
            await for_each(missing, judge, CONCURRENCY)
        return counted(found, sample=len(drawn(every, size)), lfx=lfx)


def main() -> int:
    """Measure, and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--alternatives", type=int, default=None, help="the most scenarios whose alternatives are played"
    )
    parser.add_argument("--sample", type=int, default=SAMPLE, help="the most scenarios whose references are varied")
    given = parser.parse_args()
    with checkout_environment():
        found = asyncio.run(_measured(given.sample, given.alternatives))
    KEPT.write_text(found.model_dump_json(indent=1) + "\n", encoding="utf-8")
    replace_marked(MANUAL, "false-alarms", as_markdown(found))
    print(as_markdown(found))
    for kind, one in found.kinds.items():
        for name, why in one.failed.items():
            print(f"{kind} {name}: {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
