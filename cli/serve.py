"""`wirewright serve`: the HTTP server."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import CommandError
from cli.options import Json
from cli.output.streams import print_json

if TYPE_CHECKING:
    from server.flow_tests.tester import FlowTester


def serve(
    host: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Where to listen. Beyond this machine it needs users, and TLS or a proxy that has it.",
        ),
    ] = None,
    port: Annotated[int | None, typer.Option(metavar="N", help="The port; 0 takes any free one.")] = None,
    *,
    tls_certificate: Annotated[
        Path | None, typer.Option(metavar="PEM", help="The certificate, in PEM form; with --tls-key.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="PEM", help="The certificate's private key.")] = None,
    proxy_headers: Annotated[
        str | None,
        typer.Option(metavar="ADDRESSES", help="The proxies, separated by commas, whose headers are believed."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Serve the assistant over HTTP until it is stopped; WIREWRIGHT_LOG chooses the form of its log."""
    from cli.settings import settings_of
    from server.serve import CannotServe
    from server.serve import serve as run_server
    from server.settings import ServerSettings

    try:
        settings = settings_of(
            ServerSettings,
            host=host,
            port=port,
            tls_certificate=tls_certificate,
            tls_key=tls_key,
            proxy_headers=proxy_headers,
        )
        run_server(settings, announce if as_json else None, as_json=as_json, flow_tester=_flow_tester)
    except CannotServe as unable:
        raise CommandError("cannot_serve", unable.message, fix=unable.fix) from None


def _flow_tester() -> "FlowTester":
    """What runs the saved tests of flows; imported once the server has decided what it leaves out."""
    from cli.flow_tests.tester import StoredFlowTester

    return StoredFlowTester()


def announce(url: str) -> None:
    """Print the URL of the server as a document."""
    from cli.documents.installation import Serving

    print_json(Serving(event="serving", url=url))
