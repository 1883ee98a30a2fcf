"""`wirewright bundles`: the bundles of component types of a server, listed and installed for everyone."""

import time
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli.errors import CommandError
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import clear_progress, print_json, print_message, progress
from cli.remote.option import ServerAddress, needed_server

if TYPE_CHECKING:
    from cli.remote.connection import Server
    from server.routes.installation.bundles import BundleEntry

commands = CommandGroup("List the bundles of component types of a server, and install them.")

_WHY = "These are the bundles of a server; on this machine `wirewright runner install --with` adds them"
WAIT_SECONDS: Final = 1.0
"""Seconds between two looks at how an installation stands."""
LONGEST_SECONDS: Final = 1_800.0
"""How long an installation is waited for."""


@commands.add("list", "wirewright bundles list slack --server https://flows.example.org")
def list_bundles(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="Only those in whose name, or in one of whose types, it stands.")
    ] = "",
    server: ServerAddress = None,
    *,
    installed: Annotated[bool, typer.Option("--installed", help="Only those that are installed.")] = False,
    as_json: Json = False,
) -> None:
    """List bundles by name, and which are installed."""
    from cli.documents.servers import BundleList
    from cli.remote.stores.installation import bundles

    found = bundles(needed_server(server, _WHY), text, installed=installed)
    if as_json:
        print_json(BundleList(bundles=found))
        return
    print_rows(
        (one.state, one.name, f"{len(one.types)} types" + ("" if one.size_mb is None else f", {one.size_mb:g} MB"))
        for one in found
    )
    if not found:
        print_message("No bundle fits.")


@commands.add("install", "wirewright bundles install lfx-slack --server https://flows.example.org")
def install(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The bundle, as `bundles list` names it.")],
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Install a bundle for everyone on a server, and wait until it is there; scope admin."""
    from cli.remote.stores.installation import install_bundle

    remote = needed_server(server, _WHY)
    entry = _ended(remote, install_bundle(remote, name))
    if entry.state != "installed":
        raise CommandError("bundle_not_installed", entry.error or f"{name} is not installed.", fix=entry.fix)
    if as_json:
        print_json(entry)
    else:
        print_message(f"{entry.name} is installed: {len(entry.types)} component types.")


def _ended(server: "Server", entry: "BundleEntry") -> "BundleEntry":
    """How an installation ended; its progress is shown.

    Raises:
        CommandError: it takes too long; it goes on at the server.
    """
    from cli.remote.stores.installation import bundle

    tell, until = progress(), time.monotonic() + LONGEST_SECONDS
    while entry.state == "installing":
        if entry.progress:
            tell(entry.progress)
        if time.monotonic() > until:
            fix = f"wirewright bundles list {entry.name} --server {server.origin} shows how it stands."
            raise CommandError("server_timeout", f"{entry.name} is still being installed.", fix=fix)
        time.sleep(WAIT_SECONDS)
        entry = bundle(server, entry.name)
    clear_progress()
    return entry
