"""`wirewright token`: what requests to the server of this installation carry."""

import time
from typing import Annotated

import typer

from cli.errors import BadUsage, CommandError
from cli.options import Json
from cli.output.streams import print_json, print_result


def token(
    *,
    link: Annotated[bool, typer.Option("--link", help="Print a link that signs a browser in, once.")] = False,
    port: Annotated[int | None, typer.Option(metavar="N", help="The port of the server, for --link.")] = None,
    as_json: Json = False,
) -> None:
    """Print the token of this installation, which is made at the first start, or a sign-in link.

    Send it to the server as: curl -H "Authorization: Bearer $(wirewright token)" ...
    """
    from cli.documents.installation import SignInLink, Token
    from flows.paths import data_folder
    from runtime.keychain.access_token import TokenUnavailable, access_token

    if port is not None and not link:
        raise BadUsage("usage", "--port is the port of a link.", fix="Write --link as well.", where="--port")
    try:
        found = access_token(data_folder())
    except TokenUnavailable as unavailable:
        raise CommandError("token_unavailable", unavailable.message, fix=unavailable.fix) from None
    if not link:
        print_json(Token(token=found)) if as_json else print_result(found)
        return
    address = _link(found, port)
    print_json(SignInLink(link=address)) if as_json else print_result(address)


def _link(found: str, port: int | None) -> str:
    from cli.settings import settings_of
    from server.access.auth import sign_in_link
    from server.settings import ServerSettings

    settings = settings_of(ServerSettings, port=port)
    if not settings.port:
        raise BadUsage("usage", "Port 0 is any free port.", fix="Write --port with the server's port.", where="--port")
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return sign_in_link(f"http://{host}:{settings.port}", found, time.time())
