"""The flow engine for commands: installed on first use, with its progress on standard error."""

import asyncio
from typing import TYPE_CHECKING

from cli.failures import Stopped

if TYPE_CHECKING:
    from flows.catalogue import Catalogue
    from flows.document import Flow
    from runtime.results import RunResult


class EngineUnavailable(Stopped):
    """The flow engine cannot be installed or read."""


def cached_catalogue() -> "Catalogue | None":
    """The component types as they were last exported, or None."""
    from flows.catalogue import Catalogue, CatalogueFormatError, CatalogueMissing

    try:
        return Catalogue.load()
    except (CatalogueMissing, CatalogueFormatError):
        return None


def ready_catalogue() -> "Catalogue":
    """The component types; the flow engine, which exports them, is installed first when there are none.

    Raises:
        EngineUnavailable: when they cannot be had.
    """
    catalogue = cached_catalogue()
    if catalogue is None:
        asyncio.run(install())
        catalogue = cached_catalogue()
    if catalogue is None:
        fix = "Run: wirewright runner install --repair"
        raise EngineUnavailable("catalogue_missing", "The component catalogue cannot be read.", fix=fix)
    return catalogue


async def install(*, repair: bool = False) -> None:
    """Install what is missing of the flow engine.

    Args:
        repair: make a whole installation anew, too.

    Raises:
        EngineUnavailable: when it cannot be installed.
    """
    from cli.output import progress
    from runtime.provision import InstallError, RunnerEnvironment

    try:
        await RunnerEnvironment.locate().install(progress(), repair=repair)
    except InstallError as error:
        raise EngineUnavailable("engine_unavailable", error.message, fix=error.fix) from None


async def run_once(flow: "Flow", text: str | None, seconds: float) -> "RunResult":
    """Run a flow on an engine that is started for it.

    Args:
        flow: what to run.
        text: the chat's input.
        seconds: how long the run itself may take.
    """
    from cli.output import progress
    from runtime.runner import Runner

    runner = Runner(concurrency=1)
    runner.on_progress = progress()
    async with runner:
        return await runner.run(flow, text, timeout=seconds)
