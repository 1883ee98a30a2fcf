"""`wirewright runner`: the flow engine's own environment."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import FAILED, BadUsage
from cli.options import Json

if TYPE_CHECKING:
    from runtime.install.environment import RunnerStatus

commands = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Install the flow engine, and see what is there."
)


@commands.command(epilog="Example: wirewright runner install --with lfx-anthropic")
def install(
    more: Annotated[
        list[str] | None, typer.Argument(metavar="[BUNDLE]...", help="More bundles for --with.", show_default=False)
    ] = None,
    *,
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="BUNDLE", help="Add the component types of a package; may be repeated."),
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without", metavar="BUNDLE", help="Do without a package that was added.")
    ] = None,
    repair: Annotated[bool, typer.Option("--repair", help="Install anew, even when it looks whole.")] = False,
    as_json: Json = False,
) -> None:
    """Install the flow engine and read out its components. With nothing to do, it returns at once.

    Bundles are installed into an environment beside the one that is there, which stays until the new one works.
    """
    import asyncio

    from cli import engine
    from cli.output.streams import document

    if more and not with_:
        raise BadUsage("bad_value", f"{more[0]} is not expected here.", fix=f"Write --with {more[0]}.", where=more[0])
    try:
        asyncio.run(engine.install(repair=repair, added=[*(with_ or []), *(more or [])], removed=without or []))
    except engine.EngineUnavailable as unavailable:
        if not as_json:
            raise
        document({"ok": False, "status": asdict(_status()), "error": unavailable.to_json()})
        raise typer.Exit(FAILED) from None
    if as_json:
        document({"ok": True, "status": asdict(_status()), "error": None})


@commands.command(epilog="Example: wirewright runner status --json")
def status(*, as_json: Json = False) -> None:
    """Say what is installed, and what protects this machine from a flow that runs."""
    from cli.output.streams import answer, document

    found = _status()
    if as_json:
        document(asdict(found))
        return
    if found.installed:
        answer(f"Installed: lfx {found.lfx} on Python {found.python}, {found.packages} packages, {found.size_mb} MB.")
    else:
        answer("Not installed. Run: wirewright runner install")
    if found.bundles:
        answer(f"Bundles: {', '.join(found.bundles)}.")
    answer(f"Catalogue: {f'{found.component_types} component types' if found.catalogue else 'none yet'}.")
    answer("A run is kept from the rest of this machine by:")
    for protection in found.protections:
        answer(f"  {'yes' if protection.active else 'no '}  {protection.name}: {protection.note}")


def _status() -> "RunnerStatus":
    from runtime.install.environment import RunnerEnvironment

    return RunnerEnvironment.locate().status()
