"""The flow engine for commands: installed on first use, with its progress on standard error."""

import asyncio
from typing import TYPE_CHECKING

from cli.errors import BadUsage, CommandError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flows.catalogue import Catalogue


class EngineUnavailable(CommandError):
    """The flow engine cannot be installed or read."""


def cached_catalogue() -> "Catalogue | None":
    """The component types as they were last exported, or those that ship with the package, or None."""
    from flows.catalogue import Catalogue, CatalogueFormatError, CatalogueMissing

    try:
        return Catalogue.load()
    except CatalogueMissing:
        from flows.paths import cache_folder
        from runtime.install.shipped import shipped_catalogue

        return shipped_catalogue(cache_folder())
    except CatalogueFormatError:
        return None


def ready_catalogue() -> "Catalogue":
    """The component types; the flow engine, which exports them, is installed first if need be.

    Raises:
        EngineUnavailable: when they cannot be exported or read.
    """
    catalogue = cached_catalogue()
    if catalogue is None:
        asyncio.run(install())
        catalogue = cached_catalogue()
    if catalogue is None:
        fix = "Run: wirewright runner install --repair"
        raise EngineUnavailable("catalogue_missing", "The component catalogue cannot be read.", fix=fix)
    return catalogue


async def install(*, repair: bool = False, added: "Sequence[str]" = (), removed: "Sequence[str]" = ()) -> None:
    """Install what is missing of the flow engine.

    Args:
        repair: install again even when nothing is missing.
        added: bundles to add: package names, with versions if need be.
        removed: bundles to remove.

    Raises:
        EngineUnavailable: when it cannot be installed; if bundles were to change, the old environment still works.
        BadUsage: when a bundle's name is not valid.
    """
    from cli.output.streams import progress
    from runtime.engine.supervisor import check_starts
    from runtime.install.bundles import BundleNameError
    from runtime.install.environment import RunnerEnvironment
    from runtime.install.errors import InstallError

    environment = RunnerEnvironment.locate()
    try:
        if added or removed:
            environment = await environment.change_bundles(added, removed, progress=progress(), check=check_starts)
        if repair or not (added or removed):
            await environment.install(progress(), repair=repair)
    except BundleNameError as error:
        where = "--without" if error.text in removed else "--with"
        raise BadUsage("bad_value", str(error), fix=error.fix, where=where) from None
    except InstallError as error:
        raise EngineUnavailable("engine_unavailable", error.message, fix=error.fix) from None
