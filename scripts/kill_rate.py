"""`python -m scripts.kill_rate`: measure the kill rate over all scenarios, keep it, and show it in the manual."""

import asyncio
import os
import re
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
MANUAL = ROOT / "docs" / "evaluations.md"
MARKED = re.compile(r"(<!-- kill-rate -->\n).*?(<!-- /kill-rate -->)", re.DOTALL)
PER_OPERATOR = 1

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
os.environ.setdefault("LOGFIRE_IGNORE_NO_CONFIG", "1")

from cli.eval.environment import play_environment  # noqa: E402  (after the environment is set)
from evals.analysis.tally import tally  # noqa: E402  (likewise)
from evals.mutate.matrix import matrix, read_accepted  # noqa: E402  (likewise)
from evals.mutate.measurement import MEASURED, Measured, as_markdown  # noqa: E402  (likewise)
from evals.mutate.trials import prepared, trials  # noqa: E402  (likewise)
from evals.play.attempts import play  # noqa: E402  (likewise)
from evals.players.oracle.player import OraclePlayer  # noqa: E402  (likewise)
from evals.scenarios.loader import load_scenarios  # noqa: E402  (likewise)
from evals.score import score_attempts  # noqa: E402  (likewise)


async def measured() -> Measured:
    """The oracle's attempts at all scenarios, mutated; 5 to 10 minutes on two cores."""
    scenarios = {scenario.id: scenario for scenario in load_scenarios() if not scenario.open}
    async with play_environment(2) as environment:
        attempts = await play(list(scenarios.values()), OraclePlayer(), environment)
        mutants = prepared(scenarios, attempts, environment, PER_OPERATOR)
        counted = matrix(await trials(mutants, environment), read_accepted())
        return Measured.of(
            counted,
            scenarios=len(scenarios),
            passed=tally(score_attempts(list(scenarios.values()), attempts, environment.catalogue)).passed,
            per_operator=PER_OPERATOR,
            lfx=environment.versions.lfx,
        )


def write(found: Measured) -> None:
    """Keep a measurement, and show it in the manual."""
    MEASURED.write_text(found.model_dump_json(indent=2) + "\n", encoding="utf-8")
    text = MANUAL.read_text(encoding="utf-8")
    MANUAL.write_text(MARKED.sub(lambda marks: marks[1] + as_markdown(found) + marks[2], text), encoding="utf-8")


def main() -> None:
    """Measure, keep, and print what survived."""
    os.environ.setdefault("WIREWRIGHT_CACHE", str(ROOT / ".cache" / "wirewright"))
    with tempfile.TemporaryDirectory() as data:
        os.environ["WIREWRIGHT_DATA"] = data
        found = asyncio.run(measured())
    write(found)
    print(as_markdown(found))
    for name in found.survivors:
        print(f"survived {name}")


if __name__ == "__main__":
    main()
