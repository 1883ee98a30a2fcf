"""`wirewright mcp`: the assistant's tools for an MCP client that starts a program."""

from enum import StrEnum
from typing import Annotated

import typer

from cli.remote.option import ServerAddress


class Tools(StrEnum):
    """Which tools are offered."""

    ALL = "all"
    CANVAS = "canvas"
    SYSTEM = "system"


def mcp(
    tools: Annotated[
        Tools,
        typer.Option(metavar="WHICH", help="all, canvas (working on flows) or system (looking things up)."),
    ] = Tools.ALL,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT",
            help="Do it without asking: edit, remove, overwrite_files, write_components, install, reach:HOST.",
        ),
    ] = None,
    server: ServerAddress = None,
) -> None:
    """Speak MCP over standard input and output, until the input ends; MCP clients start this command."""
    import asyncio

    from cli.errors import BadUsage, CommandError
    from cli.remote.option import server_at
    from server.mcp.consent.permissions import UnknownPermission, standing_mandate
    from server.mcp.installed import FIX, MESSAGE, is_installed

    words = allow or []
    try:
        mandate = standing_mandate(words)
    except UnknownPermission as unknown:
        raise BadUsage("unknown_permission", unknown.message, fix=unknown.fix, where="--allow") from None
    remote = server_at(server)
    if remote is not None:
        from cli.mcp.bridge import Bridge

        asyncio.run(Bridge(remote, tools.value, words).run())
        return
    if not is_installed():
        raise CommandError("extra_needed", MESSAGE, fix=FIX)
    from cli.settings import settings_of
    from server.mcp.transports.stdio import serve_stdio
    from server.settings import ServerSettings

    group = None if tools is Tools.ALL else tools.value
    asyncio.run(serve_stdio(settings_of(ServerSettings), group, mandate))
