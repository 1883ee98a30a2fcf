"""`wirewright login` and `logout`: the tokens of servers."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import BadUsage, CommandError
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_message

if TYPE_CHECKING:
    from cli.remote.connection import Server

Address = Annotated[
    str | None, typer.Argument(metavar="URL", help="The server, such as https://flows.example.org.", show_default=False)
]


def login(
    url: Address = None,
    *,
    list_: Annotated[bool, typer.Option("--list", help="List the servers that a token is kept for, and exit.")] = False,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow that the token is sent without TLS beyond this machine.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Keep a token for a server, which --server then uses.

    The token is read from standard input, or typed unseen at a terminal. It
    is tried first, kept in a file that you alone can read, and sent to this
    server alone. WIREWRIGHT_TOKEN replaces it.
    """
    from cli.documents.servers import ServerList, SignedIn
    from cli.input.texts import STANDARD_INPUT, read
    from cli.remote.addresses import is_protected
    from cli.remote.connection import Server
    from cli.remote.tokens import KeptToken, ServerTokens, checked
    from cli.remote.tokens import insecure as refused
    from flows.paths import data_folder
    from runtime.keychain.access_token import LONGEST

    tokens = ServerTokens(data_folder())
    if list_:
        if url is not None:
            raise BadUsage("usage", "--list takes no URL.", fix="Leave one of them out.", where="--list")
        servers = sorted(tokens.all())
        if as_json:
            print_json(ServerList(servers=servers))
            return
        print_rows((origin,) for origin in servers)
        if not servers:
            print_message("No token of a server is kept.")
        return
    origin = _origin(url)
    if not is_protected(origin) and not insecure:
        raise refused(origin, "URL")
    if sys.stdin.isatty():
        typed = typer.prompt(f"Token for {origin}", hide_input=True, default="", show_default=False, err=True)
    else:
        typed = read(STANDARD_INPUT, limit=2 * LONGEST).text
    token = checked(typed, "standard input")
    _try(Server(origin, token))
    tokens.keep(origin, KeptToken(token=token, insecure=insecure and not is_protected(origin)))
    if as_json:
        print_json(SignedIn(server=origin))
    else:
        print_message(f"The token for {origin} is kept. Use it with --server {origin}")


def logout(url: Address = None, *, as_json: Json = False) -> None:
    """Forget the token of a server."""
    from cli.documents.servers import SignedOut
    from cli.remote.tokens import ServerTokens
    from flows.paths import data_folder

    origin = _origin(url)
    if not ServerTokens(data_folder()).forget(origin):
        fix = "wirewright login --list shows the servers."
        raise CommandError("not_signed_in", f"No token is kept for {origin}.", fix=fix, where="URL")
    if as_json:
        print_json(SignedOut(removed=origin))
    else:
        print_message(f"The token for {origin} is forgotten.")


def _origin(url: str | None) -> str:
    from cli.remote.addresses import origin_of

    if url is None:
        raise BadUsage("usage", "Name the server.", fix="Write: wirewright login URL", where="URL")
    return origin_of(url, "URL")


def _try(server: "Server") -> None:
    """Ask the server for something that every token may read.

    Raises:
        CommandError: it does not take the token.
    """
    try:
        server.read(dict[str, object], "/api/v1/flows", {"limit": 1})
    except CommandError as error:
        if error.code != "not_signed_in":
            raise
        fix = "Check that it is a token of this server, and that it has not ended or been revoked."
        raise CommandError("token_refused", error.message, fix=fix, where="standard input") from None
