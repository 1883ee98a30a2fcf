"""The scenario cassettes: whole turns, recorded; `python -m scripts.scenario_cassettes` records them again.

They come from the oracle, so no provider's traffic is in them; `--player replay:FILE` plays one.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any

import yaml

from cli.eval.play.environment import play_environment
from evals.journal import open_journal, read_journal
from evals.play.attempts import play
from evals.play.environment import PATIENCE
from evals.players.oracle.player import OraclePlayer
from evals.scenarios.loader import load_scenarios
from scripts.checkout import ROOT, checkout_environment

FOLDER = ROOT / "cassettes" / "scenarios"
RECORDED = {
    "build": ("echo-wired", "build-only"),
    "edit": ("edit-template", "edit-remove"),
    "words": ("question-value", "refuse-weather"),
}
"""Cassettes and the scenarios in them."""


def metadata(name: str) -> dict[str, Any]:
    """The file that describes a cassette: source, date, digests."""
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))


def stale(name: str) -> list[str]:
    """The scenarios of a cassette that have changed since they were recorded."""
    now = {scenario.id: scenario.digest for scenario in load_scenarios()}
    attempts = read_journal(FOLDER / f"{name}.jsonl")
    return [attempt.scenario for attempt in attempts if now.get(attempt.scenario) != attempt.digest]


async def record(name: str) -> None:
    """Record one cassette, and describe it."""
    scenarios = [scenario for scenario in load_scenarios() if scenario.id in RECORDED[name]]
    async with play_environment(2, patience=PATIENCE) as environment:
        attempts = await play(scenarios, OraclePlayer(), environment)
    journal = open_journal(FOLDER / f"{name}.jsonl", resume=False)
    for attempt in attempts:
        journal.append(attempt)
    described = {
        "source": "the oracle player on the real engine, no provider",
        "recorded": datetime.now(UTC).date().isoformat(),
        "scenarios": {attempt.scenario: attempt.digest for attempt in attempts},
        "versions": attempts[0].versions.model_dump(),
    }
    (FOLDER / f"{name}.yaml").write_text(yaml.safe_dump(described, sort_keys=False), encoding="utf-8")


async def _record_all() -> None:
    for name in RECORDED:
        await record(name)
        print(f"recorded {name}")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    with checkout_environment():
        asyncio.run(_record_all())
