"""A small real play for the reports: four scenarios, players that differ, on an engine that is stood in for."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.settings import AssistantSettings
from evals.attempt import Attempt
from evals.play.attempts import play
from evals.play.environment import PlayEnvironment
from evals.players.boaster import BoasterPlayer
from evals.players.null import NullPlayer
from evals.players.oracle.player import OraclePlayer
from evals.players.player import Player
from evals.report.model import Material
from evals.report.play import score_play
from evals.scenario import Scenario
from evals.scenarios.loader import load_scenarios
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.options import RunOptions
from runtime.results import RunResult
from tests.shared.stand_ins import StandInRunner, ran

SCENARIOS = Path(__file__).parent / "scenarios"


class Templates(StandInRunner):
    """An engine that fills the chat's text into the first template of a flow, or gives it back as it is."""

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """One run."""
        for node in flow.nodes:
            template = node.value("template")
            if isinstance(template, str):
                head, _, rest = template.partition("{")
                return ran(head + (text or "") + rest.partition("}")[2])
        return ran(text)


@dataclass(frozen=True)
class Played:
    """What was played, before it is scored."""

    scenarios: tuple[Scenario, ...]
    attempts: tuple[Attempt, ...]

    def of(self, player: str) -> tuple[Attempt, ...]:
        """The attempts of one player."""
        return tuple(attempt for attempt in self.attempts if attempt.player == player)


@pytest.fixture(scope="session")
def played(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Two tries each of the oracle, of one that only boasts, and of one that does nothing."""
    scenarios = load_scenarios(SCENARIOS)
    settings = AssistantSettings(data=tmp_path_factory.mktemp("data"))
    players: Sequence[Player] = (OraclePlayer(), BoasterPlayer(), NullPlayer())

    async def all_plays() -> list[Attempt]:
        found: list[Attempt] = []
        for player in players:
            environment = PlayEnvironment(settings=settings, catalogue=catalogue, runner=Templates())
            found += await play(scenarios, player, environment, repeats=2, concurrency=1)
        return found

    return Played(scenarios, tuple(asyncio.run(all_plays())))


@pytest.fixture(scope="session")
def material(played: Played, catalogue: Catalogue) -> Material:
    """The oracle and the boaster beside a baseline of the one that does nothing."""
    baseline = score_play(played.scenarios, played.of("null"), catalogue)
    attempts = (*played.of("oracle"), *played.of("boaster"))
    return Material(
        play=score_play(played.scenarios, attempts, catalogue),
        catalogue=catalogue,
        baseline=[entry.verdict for entry in baseline.entries],
        baseline_name="null.jsonl",
    )
