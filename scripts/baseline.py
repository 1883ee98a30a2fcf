"""`python -m scripts.baseline`: play all scenarios with the demo planner, write the baseline and the README's score."""

import asyncio
from collections.abc import Sequence

from cli.eval.play.environment import play_environment
from evals.analysis.tally import tally, write_verdicts
from evals.play.attempts import play
from evals.play.environment import PATIENCE
from evals.players.demo import DemoPlayer
from evals.scenarios.loader import load_scenarios
from evals.score import Verdict, score_attempts
from scripts.checkout import ROOT, checkout_environment, replace_marked

README = ROOT / "README.md"
BASELINE = ROOT / "evals" / "baselines" / "demo.jsonl"
SHOWN = ("resolved", "honest", "preserved", "nodes", "edges", "language")


def score_table(verdicts: Sequence[Verdict]) -> str:
    """The demo planner's score as the README shows it."""
    result = tally(verdicts)
    cells = [f"{result.passed} of {result.scored} ({result.passed / max(result.scored, 1):.0%})"]
    cells += ["-" if result.rates[name] is None else f"{result.rates[name]:.2f}" for name in SHOWN]
    head = ["passed", *SHOWN]
    rows = (["player", *head], ["---"] * (len(head) + 1), ["demo planner (rules, no model)", *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


async def demo_verdicts() -> list[Verdict]:
    """All scenarios, played by the demo planner and scored."""
    scenarios = load_scenarios()
    async with play_environment(2, patience=PATIENCE) as environment:
        attempts = await play(scenarios, DemoPlayer(), environment)
        return score_attempts(scenarios, attempts, environment.catalogue)


def main() -> None:
    """Write the baseline and the README's table."""
    with checkout_environment():
        verdicts = asyncio.run(demo_verdicts())
    write_verdicts(BASELINE, verdicts, measured=False)
    replace_marked(README, "demo-score", score_table(verdicts))
    print(score_table(verdicts))


if __name__ == "__main__":
    main()
