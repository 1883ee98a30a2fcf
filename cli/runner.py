"""`wirewright runner`: the environment of the flow engine."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import FAILED, BadUsage, CommandError
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.columns import print_lines, print_rows
from cli.output.streams import print_json

if TYPE_CHECKING:
    from runtime.install.environment import RunnerStatus

commands = CommandGroup("Install the flow engine, and show what is installed.")


@commands.add("install", "wirewright runner install", "wirewright runner install --with lfx-anthropic")
def install(
    more: Annotated[
        list[str] | None, typer.Argument(metavar="BUNDLE", help="More bundles for --with.", show_default=False)
    ] = None,
    *,
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="BUNDLE", help="Add the component types of a package; may be repeated."),
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option("--without", metavar="BUNDLE", help="Remove a package that was added.")
    ] = None,
    repair: Annotated[bool, typer.Option("--repair", help="Install again, even when nothing is missing.")] = False,
    as_json: Json = False,
) -> None:
    """Install the flow engine and export its components. With nothing to do, it returns at once.

    Bundles are installed into a second environment, which replaces the first once it works.
    """
    import asyncio

    from cli import engine
    from cli.documents.installation import Installed

    if more and not with_:
        raise BadUsage("bad_value", f"{more[0]} is not expected here.", fix=f"Write --with {more[0]}.", where=more[0])
    try:
        asyncio.run(engine.install(repair=repair, added=[*(with_ or []), *(more or [])], removed=without or []))
    except engine.EngineUnavailable as unavailable:
        if not as_json:
            raise
        print_json(Installed(ok=False, status=_status(), error=unavailable.to_json()))
        raise typer.Exit(FAILED) from None
    if as_json:
        print_json(Installed(ok=True, status=_status(), error=None))


@commands.add("status", "wirewright runner status")
def status(*, as_json: Json = False) -> None:
    """Show what is installed, and what protects this machine from a running flow."""
    from cli.documents.installation import printed_status

    found = _status()
    if as_json:
        print_json(printed_status(found, _secret_key()))
        return
    if found.installed:
        print_lines(
            f"Installed: lfx {found.lfx} on Python {found.python}, {found.packages} packages, {found.size_mb} MB."
        )
    else:
        print_lines("Not installed. Run: wirewright runner install (it downloads the engine's packages)")
    if found.bundles:
        print_lines(f"Bundles: {', '.join(found.bundles)}.")
    print_lines(f"Catalogue: {f'{found.component_types} component types' if found.catalogue else 'none yet'}.")
    print_lines(_runs_here(found))
    print_lines("Runs are confined by:")
    print_rows((("yes" if one.active else "no", f"{one.name}: {one.note}") for one in found.protections), indent="  ")
    print_lines(f"Keys at rest are encrypted with a key from {_PLACES[_secret_key()]}.")


def _runs_here(found: "RunnerStatus") -> str:
    """Whether flows run on this machine, and without what."""
    if found.refusal is not None:
        return f"{found.refusal.message} {found.refusal.fix}"
    if found.missing_protections:
        missing = ", ".join(found.missing_protections)
        return f"Flows run here without what usually confines them ({missing}): WIREWRIGHT_RUN_CONFINEMENT allows it."
    return "Flows run here, confined."


_PLACES = {
    "environment": "WIREWRIGHT_SECRET_KEY",
    "keyring": "the system's keyring",
    "file": "the file secret.key in the data folder",
}


def _secret_key() -> str:
    from runtime.keychain.master_key import SecretKeyUnavailable, source

    try:
        return source()
    except SecretKeyUnavailable as unavailable:
        raise CommandError("secret_key_unavailable", unavailable.message, fix=unavailable.fix) from None


def _status() -> "RunnerStatus":
    from runtime.install.environment import RunnerEnvironment

    return RunnerEnvironment.locate().status()
