"""The option `--server`."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from cli.errors import BadUsage

if TYPE_CHECKING:
    from cli.remote.connection import Server

VARIABLE = "WIREWRIGHT_SERVER"

ServerAddress: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--server", metavar="URL", envvar=VARIABLE, show_envvar=False, help="Do it on this server; see `login`."
    ),
]


def server_at(address: str | None) -> "Server | None":
    """The server that `--server` or `WIREWRIGHT_SERVER` names; None when the command works on this machine.

    Args:
        address: the option; empty for this machine whatever the variable says.

    Raises:
        CommandError: it is not an address, or there is no token for it.
    """
    if not address:
        return None
    import os

    from cli.remote.addresses import origin_of
    from cli.remote.connection import Server
    from cli.remote.tokens import ServerTokens, token_for
    from flows.paths import data_folder
    from runtime.keychain.access_token import VARIABLE as TOKEN

    origin = origin_of(address)
    token = token_for(origin, ServerTokens(data_folder()))
    return Server(origin, token, from_environment=bool(os.environ.get(TOKEN)))


def needed_server(address: str | None, what: str = "Flows are stored on a server") -> "Server":
    """The server of a command that works on one alone.

    Args:
        address: the option.
        what: why it needs one.

    Raises:
        CommandError: none is named, or there is no token for it.
    """
    server = server_at(address)
    if server is None:
        fix = f"Write --server URL, or set {VARIABLE}."
        raise BadUsage("server_needed", f"{what}, and none is named.", fix=fix, where="--server")
    return server


def here_alone(address: str | None, **given: object) -> None:
    """Refuse options that have no counterpart on a server.

    Args:
        address: the option `--server`.
        given: the values of these options by name.

    Raises:
        BadUsage: one of them is given together with a server.
    """
    for name, value in given.items():
        if address and value:
            option = f"--{name.replace('_', '-')}"
            message = f"{option} works on this machine alone, not with --server."
            raise BadUsage("not_remote", message, fix="Leave one of them out.", where=option)
