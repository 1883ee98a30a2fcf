"""`python -m scripts.baseline [demo] [scripted]`: play all scenarios with the demo planner and with a scripted model.

It writes their baselines and, of the demo planner, the README's score and the report, so that all say the same. The
scripted model knows what is right and makes the first tool call of each message, so its score shows how many scenarios
ask for more. `python -m scripts.task_set` then writes both into the manual.
"""

import argparse
import asyncio
from collections.abc import Sequence

from cli.eval.play.environment import play_environment
from evals.analysis.tally import tally, write_verdicts
from evals.attempt import Attempt
from evals.gate import load_gate
from evals.play.attempts import play
from evals.play.environment import PATIENCE
from evals.play.versions import origin
from evals.players.demo import DemoPlayer
from evals.players.oracle.player import OraclePlayer
from evals.players.player import Player
from evals.report.formats.html import page
from evals.report.model import Material, gather
from evals.report.play import Play, score_play
from evals.scenarios.loader import load_scenarios
from evals.score import Verdict
from flows.catalogue import Catalogue
from scripts.checkout import ROOT, checkout_environment, replace_marked

README = ROOT / "README.md"
BASELINE = ROOT / "evals" / "baselines" / "demo.jsonl"
SCRIPTED = ROOT / "evals" / "baselines" / "scripted.jsonl"
SCRIPTED_CALLS = 1
"""How many tool calls of a message the scripted model makes."""
PLAYERS: dict[str, Player] = {"demo": DemoPlayer(), "scripted": OraclePlayer(calls=SCRIPTED_CALLS)}
GATE = ROOT / "evals" / "gates" / "demo.yaml"
REPORT = ROOT / "docs" / "reports" / "demo.html"
REPORT_BYTES = 3_000_000
"""The largest size of the report: it is kept in the repository, where each new one adds to the history."""
SHOWN = ("resolved", "honest", "preserved", "nodes", "edges", "language")


def score_table(verdicts: Sequence[Verdict]) -> str:
    """The demo planner's score as the README shows it."""
    result = tally(verdicts)
    cells = [f"{result.passed} of {result.scored} ({result.passed / max(result.scored, 1):.0%})"]
    cells += ["-" if result.rates[name] is None else f"{result.rates[name]:.2f}" for name in SHOWN]
    head = ["passed", *SHOWN]
    rows = (["player", *head], ["---"] * (len(head) + 1), ["demo planner (rules, no model)", *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def report_page(played: Play, catalogue: Catalogue) -> str:
    """The demo planner's report, with as many details as fit; the gate compares with the baseline as it is kept."""
    found = Material(
        play=played, catalogue=catalogue, gate=load_gate(GATE), gate_name=GATE.name, title="The demo planner"
    )
    return page(lambda limits: gather(found, limits), REPORT_BYTES)


async def whole_play(player: Player) -> tuple[Play, Catalogue]:
    """All scenarios, played and scored, and the component types they were played with."""
    scenarios = load_scenarios()

    def stamped(attempt: Attempt) -> Attempt:
        return attempt.model_copy(update={"origin": origin()})

    async with play_environment(2, patience=PATIENCE) as environment:
        attempts = await play(scenarios, player, environment)
        return score_play(scenarios, map(stamped, attempts), environment.catalogue), environment.catalogue


def write_demo(played: Play, catalogue: Catalogue) -> None:
    """Write the demo planner's baseline, the README's table and the report."""
    verdicts = [entry.verdict for entry in played.entries]
    write_verdicts(BASELINE, verdicts, measured=False)
    replace_marked(README, "demo-score", score_table(verdicts))
    REPORT.write_text(report_page(played, catalogue), encoding="utf-8")
    print(score_table(verdicts))
    print(f"{REPORT.relative_to(ROOT)}: {REPORT.stat().st_size:,} bytes")


def main() -> None:
    """Play, and write what came of it."""
    parser = argparse.ArgumentParser(description="Play all scenarios, and write the baselines.")
    parser.add_argument("players", nargs="*", help=f"who plays, of {', '.join(PLAYERS)}; all unless some are named")
    chosen: list[str] = parser.parse_args().players or list(PLAYERS)
    if not set(chosen) <= set(PLAYERS):
        parser.error(f"the players are {', '.join(PLAYERS)}")
    with checkout_environment():
        for name in chosen:
            played, catalogue = asyncio.run(whole_play(PLAYERS[name]))
            if name == "demo":
                write_demo(played, catalogue)
            else:
                write_verdicts(SCRIPTED, [entry.verdict for entry in played.entries], measured=False)


if __name__ == "__main__":
    main()
