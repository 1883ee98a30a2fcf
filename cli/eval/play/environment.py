"""What scenarios are played on: the catalogue and one warm flow engine."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from agent.models.flow_models import flow_models
from agent.models.providers import PROVIDERS
from agent.settings import AssistantSettings
from cli.engine import EngineUnavailable
from cli.output.streams import progress
from cli.settings import settings_of
from evals.play.environment import PATIENCE, PlayEnvironment, patient
from evals.play.stub_services import HOST
from evals.play.versions import versions
from flows.catalogue import Catalogue
from runtime.gateway.models import Models
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner

READY_SECONDS = 1800.0
"""How long to wait for the flow engine, its first installation included."""

OFFLINE = frozenset({"oracle", "demo", "script", "replay", "null", "boaster"})
"""The players that answer at once and wait for no model: how long they take only says how busy the machine is."""


@asynccontextmanager
async def play_environment(
    concurrency: int, player: str | None = None, *, patience: float | None = None
) -> AsyncGenerator[PlayEnvironment]:
    """An environment with a runner that is ready; leaving it ends the runner.

    Conversations and files of the attempts are kept in a temporary folder, away from the user's own.

    Args:
        concurrency: how many flows run at the same time.
        player: the player's name; a model that plays also answers inside flows that leave theirs open.
        patience: how many times as long attempts and runs may take; by default as long as they usually may, and
            longer where a player of the harness plays, which waits for nobody.

    Raises:
        EngineUnavailable: when flows cannot be run here.
    """
    settings = settings_of(AssistantSettings)
    patience = patience or (PATIENCE if (player or "").partition(":")[0] in OFFLINE else 1.0)
    runner = Runner(
        RunnerEnvironment.locate(settings.cache),
        concurrency=concurrency,
        models=models_of_play(settings, player),
        private_hosts=(HOST,),
    )
    runner.on_progress = progress()
    with tempfile.TemporaryDirectory(prefix="wirewright-eval-") as folder:
        async with runner:
            if not await runner.ready(READY_SECONDS):
                failure = runner.failure
                message = failure.message if failure else "The flow engine is not ready."
                raise EngineUnavailable("engine_unavailable", message, fix=failure.fix if failure else "Try again.")
            catalogue = await asyncio.to_thread(Catalogue.load, settings.cache / "catalogue.json")
            temporary = settings.model_copy(update={"data": Path(folder)})
            yield PlayEnvironment(
                settings=temporary,
                catalogue=catalogue,
                runner=patient(runner, patience),
                versions=versions(catalogue.version),
                patience=patience,
            )


def models_of_play(settings: AssistantSettings, player: str | None) -> Models:
    """The models inside the flows of a play, for scenarios that script none.

    Args:
        settings: name the configured model, which answers when another kind of player plays.
        player: the player's name; `provider:name`, or a provider, for one that is a model.
    """
    plays = player is not None and player.partition(":")[0] in PROVIDERS
    return flow_models(player if plays else settings.model)
