"""`wirewright serve`: the HTTP server."""

from typing import Annotated

import typer

from cli.failures import Stopped


def serve(
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Where to listen; this machine only.")] = None,
    port: Annotated[int | None, typer.Option(metavar="N", help="The port; 0 takes any free one.")] = None,
) -> None:
    """Serve the assistant over HTTP until it is stopped."""
    from cli.configuration import settings_of
    from server.serve import CannotServe
    from server.serve import serve as run_server
    from server.settings import ServerSettings

    try:
        run_server(settings_of(ServerSettings, host=host, port=port))
    except CannotServe as unable:
        raise Stopped("cannot_serve", unable.message, fix=unable.fix) from None
