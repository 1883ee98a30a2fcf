"""Installing the bundles that component types need, after the user has consented."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, runtime_checkable

from pydantic_ai import RunContext

from flows.bundles import Bundle
from flows.catalogue import Catalogue
from runtime.install.bundles import install_hint
from runtime.install.errors import InstallError
from runtime.results import RunFailed
from runtime.telemetry import log_event
from tools.approvals import NOT_ASKED, InstallApproval
from tools.consent.ask import ask
from tools.consent.rules import Act, uncovered
from tools.effects import InstallEffect, InstallStatus
from tools.events import Progress
from tools.mandate import name_words
from tools.workbench import Install, Workbench


@runtime_checkable
class AddsBundles(Protocol):
    """Installs bundles beside what is installed: the runner."""

    async def add_bundles(self, requirements: Sequence[str], progress: Callable[[str], None]) -> Catalogue:
        """Install packages and return all component types then."""
        ...


INSTALL_SECONDS = 1200.0
"""How long an installation may take within a turn."""

_AND = ", "
"""What stands between the names of bundles that are installed together."""

_GENERAL = frozenset({"bundle", "lfx"})
"""Words in the names of packages that say nothing of what is in them."""

_FINAL = "Do not try again: build without it, or tell the user plainly."


async def install_for(ctx: RunContext[Workbench], types: Iterable[str]) -> str | None:
    """Have the bundles of these component types installed, if any are not; suspends the call until the user consents.

    Args:
        ctx: the tool call; it must have changed nothing yet.
        types: the names of the types that it uses.

    Returns:
        None when all bundles are there; otherwise why not, for the model.

    Raises:
        ApprovalRequired: the user has not been asked yet.
    """
    bench = ctx.deps
    types = list(types)
    needed = bench.bundles.needed(types, bench.catalogue)
    if not needed:
        return None
    question = _question(needed, [one.display_name for one in bench.bundles.missing(types, bench.catalogue)])
    status = next((one.status for one in reversed(bench.installs) if one.bundle == question.bundle), None)
    refused = not bench.refused_bundles.isdisjoint(one.name for one in needed) and not _asked_for(bench, question)
    if status == "denied" or (status is None and refused):
        return f"Not installed: the user said no to {question.bundle}. {_FINAL}"
    if status == "failed":
        return f"Not installed: installing {question.bundle} has failed already. {_FINAL}"
    if status == "installed":
        return f"{question.bundle} is installed, but the flow engine does not load {question.detail} from it. {_FINAL}"
    if bench.install is None:
        hint = install_hint(*question.packages)
        return f"Not installed: {question.bundle} cannot be installed from here. {hint}. {_FINAL}"
    if uncovered(bench, [Act("install", question.bundle, among=(*question.packages, question.detail))]):
        ask(ctx, question)
    return await _install(ctx, bench.install, question)


def refused_bundles(bench: Workbench) -> frozenset[str]:
    """The bundles that the user has said no to, in this turn or an earlier one, and that were not installed since."""
    last = {bundle: one.status for one in bench.installs for bundle in one.bundle.split(_AND)}
    kept = {bundle for bundle in bench.refused_bundles if last.get(bundle) != "installed"}
    return frozenset(kept | {bundle for bundle, status in last.items() if status == "denied"})


def _asked_for(bench: Workbench, question: InstallApproval) -> bool:
    """Whether the message asks for what was refused before: by its name, or for something to be installed."""
    names = name_words([question.bundle, *question.packages, question.detail]) - _GENERAL
    return bench.mandate.asks("install") or bool(name_words([bench.request_text]) & names)


def _question(needed: Sequence[Bundle], components: Sequence[str]) -> InstallApproval:
    sizes = [bundle.size_mb for bundle in needed if bundle.size_mb is not None]
    names = _AND.join(bundle.name for bundle in needed)
    packages = list(dict.fromkeys(bundle.requirement for bundle in needed))
    size = round(sum(sizes), 1) if len(sizes) == len(needed) else None
    shown = "" if size is None else f" ({max(size, 1):.0f} MB)"
    return InstallApproval(
        title=f"Install {names}: {', '.join(packages)}{shown}",
        detail=", ".join(components),
        bundle=names,
        packages=packages,
        size_mb=size,
        why=NOT_ASKED,
    )


async def _install(ctx: RunContext[Workbench], install: Install, question: InstallApproval) -> str | None:
    """Install what was approved; returns why it failed, or None."""
    bench, name = ctx.deps, question.bundle
    status: InstallStatus = "failed"
    try:
        async with asyncio.timeout(INSTALL_SECONDS):
            catalogue = await _watched(ctx, install, question)
        bench.catalogue = await bench.with_user_components(catalogue)
        status = "installed"
    except InstallError as error:
        return f"Not installed: {error.message} {error.fix} {_FINAL}"
    except RunFailed as failure:
        return f"Not installed: {failure.error.message} {failure.error.fix} {_FINAL}"
    except TimeoutError:
        hint = install_hint(*question.packages)
        return f"Not installed: it takes longer than {INSTALL_SECONDS / 60:.0f} minutes. {hint}. {_FINAL}"
    finally:
        bench.installs.append(InstallEffect(bundle=name, status=status))
        level = logging.INFO if status == "installed" else logging.WARNING
        log_event("assistant.install.finished", level, bundle=name, packages=question.packages, status=status)
    await ctx.emit(Progress(step="preparing_runner", message=f"{name} is installed."))
    return None


async def _watched(ctx: RunContext[Workbench], install: Install, question: InstallApproval) -> Catalogue:
    """Install, with a progress event for each message; the installation ends with the call."""
    messages: asyncio.Queue[str | None] = asyncio.Queue()
    work = asyncio.ensure_future(install(question.packages, messages.put_nowait))
    work.add_done_callback(lambda _: messages.put_nowait(None))
    try:
        await ctx.emit(Progress(step="preparing_runner", message=f"Installing {question.bundle}..."))
        while (message := await messages.get()) is not None:
            await ctx.emit(Progress(step="preparing_runner", message=message))
        return await work
    finally:
        work.cancel()
        await asyncio.wait([work])
