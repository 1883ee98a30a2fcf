"""`python -m scripts.kill_rate`: measure the kill rate over all scenarios, keep it, and show it in the manual."""

import asyncio

from cli.eval.play.environment import play_environment
from evals.analysis.tally import tally
from evals.mutate.matrix import ALIKE, build_matrix, read_accepted
from evals.mutate.measurement import MEASURED, Measured, as_markdown, near_misses_as_markdown
from evals.mutate.trials import prepare_mutants, run_trials
from evals.play.attempts import play
from evals.players.oracle.player import OraclePlayer
from evals.scenarios.loader import load_scenarios
from evals.score import score_attempts
from scripts.checkout import ROOT, checkout_environment, replace_marked

MANUAL = ROOT / "docs" / "evaluations.md"
PER_OPERATOR = 1
CONCURRENCY = 4


async def measured() -> Measured:
    """The oracle's attempts at all scenarios, mutated; 5 to 10 minutes on two cores."""
    scenarios = {scenario.id: scenario for scenario in load_scenarios() if not scenario.open}
    async with play_environment(CONCURRENCY) as environment:
        attempts = await play(list(scenarios.values()), OraclePlayer(), environment)
        mutants = prepare_mutants(scenarios, attempts, environment, PER_OPERATOR)
        found = await run_trials(mutants, environment, concurrency=CONCURRENCY)
        counted = build_matrix(found, read_accepted(), read_accepted(ALIKE))
        for trial in counted.missed:
            print(f"missed {trial.id}: {trial.what}; alike: {trial.alike}; a grade fell in {', '.join(trial.seen_by)}")
        return Measured.of(
            counted,
            scenarios=len(scenarios),
            passed=tally(score_attempts(list(scenarios.values()), attempts, environment.catalogue)).passed,
            per_operator=PER_OPERATOR,
            lfx=environment.versions.lfx,
        )


def main() -> None:
    """Measure, keep, and print what survived."""
    with checkout_environment():
        found = asyncio.run(measured())
    MEASURED.write_text(found.model_dump_json(indent=2) + "\n", encoding="utf-8")
    replace_marked(MANUAL, "kill-rate", as_markdown(found))
    replace_marked(MANUAL, "near-misses", near_misses_as_markdown(found))
    print(as_markdown(found), near_misses_as_markdown(found), sep="\n")
    for name in found.survivors:
        print(f"survived {name}")


if __name__ == "__main__":
    main()
