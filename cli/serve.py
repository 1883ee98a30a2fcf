"""`wirewright serve`: the HTTP server."""

from typing import Annotated

import typer

from cli.errors import CommandError
from cli.options import Json
from cli.output.streams import print_json


def serve(
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Where to listen: a loopback address.")] = None,
    port: Annotated[int | None, typer.Option(metavar="N", help="The port; 0 takes any free one.")] = None,
    *,
    as_json: Json = False,
) -> None:
    """Serve the assistant over HTTP until it is stopped; WIREWRIGHT_LOG chooses the form of its log."""
    from cli.settings import settings_of
    from server.serve import CannotServe
    from server.serve import serve as run_server
    from server.settings import ServerSettings

    try:
        settings = settings_of(ServerSettings, host=host, port=port)
        run_server(settings, announce, as_json=True) if as_json else run_server(settings)
    except CannotServe as unable:
        raise CommandError("cannot_serve", unable.message, fix=unable.fix) from None


def announce(url: str) -> None:
    """Print the URL of the server as a document."""
    from cli.documents.installation import Serving

    print_json(Serving(event="serving", url=url))
