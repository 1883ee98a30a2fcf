"""`python -m scripts.kill_rate`: measure the kill rate over all scenarios, keep it, and show it in the manual.

`--sample N` takes N scenarios, drawn with a fixed seed: the first N of one order. What was measured of a scenario is
written down at once (`.cache/kill-rate.jsonl`) and not measured again, while the scenario, the graders, the operators
and the engine are the same: a run that was stopped goes on where it was. `--anew` measures everything.
"""

import argparse
import asyncio
import hashlib
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from cli.eval.play.environment import play_environment
from evals.mutate import behaviour, content, mutants, near_misses, trials, wiring
from evals.mutate.matrix import ALIKE, build_matrix, read_accepted
from evals.mutate.measurement import MEASURED, Measured, as_markdown, near_misses_as_markdown
from evals.mutate.trials import Trial, prepare_mutants, run_trials
from evals.play.attempts import play_attempt
from evals.play.environment import PATIENCE, PlayEnvironment
from evals.play.versions import origin
from evals.play.workers import for_each
from evals.players.oracle.player import OraclePlayer
from evals.scenario import Scenario
from evals.scenarios.loader import load_scenarios
from evals.score import score_attempt
from scripts.checkout import ROOT, checkout_environment, replace_marked

MANUAL = ROOT / "docs" / "evaluations.md"
TRIED = ROOT / ".cache" / "kill-rate.jsonl"
"""What was measured of scenarios, one a line."""
PER_OPERATOR = 1
CONCURRENCY = 4
SEED = 20261126
"""The seed of the order in which scenarios are drawn."""


class Tried(BaseModel):
    """The mutants of one scenario.

    Attributes:
        conditions: a hash of what decides the outcome beside the scenario.
        failed: why the oracle's attempt did not pass; empty if it did.
        undecided: whether only a judge of words can say whether it passed; then nothing is mutated.
    """

    model_config = ConfigDict(frozen=True)

    scenario: str
    digest: str
    conditions: str
    failed: str = ""
    undecided: bool = False
    trials: tuple[Trial, ...] = ()


def drawn(scenarios: Sequence[Scenario], size: int | None = None) -> list[Scenario]:
    """Scenarios with a reference in an order that the seed decides, at most `size` of them."""
    found = sorted((one for one in scenarios if not one.open), key=lambda one: one.id)
    random.Random(SEED).shuffle(found)  # noqa: S311  (a sample)
    return found[:size]


def conditions(lfx: str) -> str:
    """A hash of the graders, the operators and the engine."""
    digest = hashlib.sha256(f"{origin().graders} {lfx} {PER_OPERATOR}".encode())
    for module in (behaviour, content, mutants, near_misses, trials, wiring):
        digest.update(Path(module.__file__).read_bytes())
    return digest.hexdigest()[:12]


def read_tried(path: Path, under: str) -> dict[str, Tried]:
    """What was measured of scenarios in which the oracle passed, by digest; a line that a stop cut off is left out.

    Args:
        under: the conditions that must be the same.
    """
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    whole = [line for line in lines if line.endswith("}")]
    found = [Tried.model_validate_json(line) for line in whole]
    return {one.digest: one for one in found if one.conditions == under and not one.failed}


async def tried(scenario: Scenario, environment: PlayEnvironment, under: str) -> Tried:
    """The oracle's attempt at a scenario, mutated and scored."""
    attempt = await play_attempt(scenario, OraclePlayer(), environment)
    verdict = score_attempt(scenario, attempt, environment.catalogue)
    prepared = prepare_mutants({scenario.id: scenario}, [attempt], environment, PER_OPERATOR)
    made = await run_trials(prepared, environment, concurrency=1)
    why = verdict.harness_error or "; ".join(f"{one.name}: {one.reason}" for one in verdict.failures)
    return Tried(
        scenario=scenario.id,
        digest=scenario.digest,
        conditions=under,
        failed="" if verdict.passed or verdict.undecided else why or "it was not judged",
        undecided=bool(verdict.undecided),
        trials=tuple(made),
    )


def measured(found: Sequence[Tried], drawn_from: int, lfx: str) -> Measured:
    """What is kept of the mutants of some scenarios.

    Args:
        drawn_from: how many there are.
    """
    every = sorted((trial for one in found for trial in one.trials), key=lambda trial: trial.id)
    counted = build_matrix(every, read_accepted(), read_accepted(ALIKE))
    for trial in counted.missed:
        print(f"missed {trial.id}: {trial.what}; alike: {trial.alike}; a grade fell in {', '.join(trial.seen_by)}")
    return Measured.of(
        counted,
        scenarios=len(found),
        drawn_from=drawn_from,
        passed=sum(not (one.failed or one.undecided) for one in found),
        undecided=sum(one.undecided for one in found),
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


async def measure(scenarios: Sequence[Scenario], environment: PlayEnvironment, path: Path) -> list[Tried]:
    """Measure scenarios, of which some may have been measured before.

    Args:
        path: has what was measured before, and gets what is.
    """
    under = conditions(environment.versions.lfx)
    known = read_tried(path, under)
    found = {one.id: known[one.digest] for one in scenarios if one.digest in known}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as lines:

        async def measure_one(scenario: Scenario) -> None:
            made = found[scenario.id] = await tried(scenario, environment, under)
            lines.write(f"{made.model_dump_json()}\n")
            lines.flush()
            print(f"{len(found)} of {len(scenarios)}: {scenario.id} {made.failed}".rstrip(), flush=True)

        await for_each([one for one in scenarios if one.id not in found], measure_one, CONCURRENCY)
    return [found[one.id] for one in scenarios]


async def _measured(size: int | None) -> tuple[list[Tried], int, str]:
    whole = drawn(load_scenarios())
    async with play_environment(CONCURRENCY, patience=PATIENCE) as environment:
        return await measure(drawn(whole, size), environment, TRIED), len(whole), environment.versions.lfx


def main() -> int:
    """Measure, and keep; 1 if the oracle did not pass, and nothing is kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=None, help="the most scenarios; all by default")
    parser.add_argument("--anew", action="store_true", help="measure also what was measured before")
    given = parser.parse_args()
    if given.anew:
        TRIED.unlink(missing_ok=True)
    with checkout_environment():
        found, drawn_from, lfx = asyncio.run(_measured(given.sample))
    made = measured(found, drawn_from, lfx)
    failed = [f"{one.scenario}: {one.failed}" for one in found if one.failed]
    if failed:
        print("nothing was kept: the oracle did not pass", *failed, sep="\n")
        return 1
    keep(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
