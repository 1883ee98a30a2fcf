"""`python -m scripts.baseline`: play all scenarios with the demo planner, write the baseline and the README's score."""

import asyncio
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
MARKED = re.compile(r"(<!-- demo-score -->\n).*?(<!-- /demo-score -->)", re.DOTALL)

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
os.environ.setdefault("LOGFIRE_IGNORE_NO_CONFIG", "1")

from cli.eval.environment import play_environment  # noqa: E402  (after the environment is set)
from evals.analysis.tally import tally, write_verdicts  # noqa: E402  (likewise)
from evals.play.attempts import play  # noqa: E402  (likewise)
from evals.players.demo import DemoPlayer  # noqa: E402  (likewise)
from evals.scenarios.loader import load_scenarios  # noqa: E402  (likewise)
from evals.score import Verdict, score_attempts  # noqa: E402  (likewise)

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
    async with play_environment(2) as environment:
        attempts = await play(scenarios, DemoPlayer(), environment)
        return score_attempts(scenarios, attempts, environment.catalogue)


def main() -> None:
    """Write the baseline and the README's table."""
    os.environ.setdefault("WIREWRIGHT_CACHE", str(ROOT / ".cache" / "wirewright"))
    with tempfile.TemporaryDirectory() as data:
        os.environ["WIREWRIGHT_DATA"] = data
        verdicts = asyncio.run(demo_verdicts())
    write_verdicts(BASELINE, verdicts, measured=False)
    text = README.read_text(encoding="utf-8")
    README.write_text(MARKED.sub(lambda found: found[1] + score_table(verdicts) + found[2], text), encoding="utf-8")
    print(score_table(verdicts))


if __name__ == "__main__":
    main()
