"""Bundles that are being installed: each in a task of its own, which outlives the request for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from runtime.install.errors import InstallError
from runtime.results import RunFailed
from runtime.telemetry import log_event
from tools.consent.install import INSTALL_SECONDS

InstallState: TypeAlias = Literal["installing", "installed", "failed"]
"""How an installation stands."""

Install: TypeAlias = Callable[[Callable[[str], None]], Awaitable[object]]
"""Installs; what it is given is called with messages for people."""

CLEANUP_SECONDS: Final = 5.0
"""How long an installation that is ended may take to clean up."""

log = logging.getLogger(__name__)


@dataclass
class Installation:
    """One installation.

    Attributes:
        state: how it stands.
        progress: the last message about it.
        error: why it failed; empty if it did not.
        fix: what to do about that.
    """

    state: InstallState = "installing"
    progress: str = ""
    error: str = ""
    fix: str = ""


class BundleInstalls:
    """The installations of this server, by the names of their bundles."""

    def __init__(self) -> None:
        self._known: dict[str, Installation] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def get(self, bundle: str) -> Installation | None:
        """The last installation of a bundle, if there was one."""
        return self._known.get(bundle)

    def start(self, bundle: str, install: Install) -> Installation:
        """Install a bundle, unless that is being done.

        Args:
            bundle: its name.
            install: installs it.
        """
        known = self._known.get(bundle)
        if known is not None and known.state == "installing":
            return known
        made = self._known[bundle] = Installation()
        self._tasks[bundle] = asyncio.create_task(self._run(bundle, made, install), name="install")
        return made

    async def aclose(self) -> None:
        """End what is being installed; what is installed stays as it was."""
        tasks = [task for task in self._tasks.values() if not task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLEANUP_SECONDS)

    async def _run(self, bundle: str, made: Installation, install: Install) -> None:
        def tell(message: str) -> None:
            made.progress = message

        try:
            async with asyncio.timeout(INSTALL_SECONDS):
                await install(tell)
            made.state = "installed"
        except InstallError as error:
            made.error, made.fix = error.message, error.fix
        except RunFailed as failure:
            made.error, made.fix = failure.error.message, failure.error.fix
        except TimeoutError:
            made.error, made.fix = f"It takes longer than {INSTALL_SECONDS / 60:.0f} minutes.", "Try again."
        except Exception:
            log.exception("install.failed")
            made.error, made.fix = "Something went wrong inside the server.", "The server's log has the details."
        finally:
            if made.state == "installing":
                made.state = "failed"
            level = logging.INFO if made.state == "installed" else logging.WARNING
            log_event("assistant.install.finished", level, bundle=bundle, packages=[], status=made.state)
