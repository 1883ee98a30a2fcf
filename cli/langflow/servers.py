"""The Langflow servers that this machine's user has connected, as commands name them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from cli.errors import BadUsage, CommandError

if TYPE_CHECKING:
    from runtime.langflow.client import LangflowServer
    from runtime.langflow.connections import Connection, Connections

T = TypeVar("T")

OnLangflow: TypeAlias = Annotated[
    bool, typer.Option("--langflow", help="On the Langflow server that is connected; see `wirewright langflow`.")
]
ConnectionName: TypeAlias = Annotated[
    str | None,
    typer.Option("--connection", metavar="NAME", help="Which Langflow server, where several are connected."),
]

FlowThere: TypeAlias = Annotated[
    str | None,
    typer.Option("--langflow", metavar="FLOW", help="Edit this flow of the connected Langflow, by id or name."),
]

_USAGE = frozenset({"bad_address", "address_refused", "bad_name", "bad_key", "insecure_server", "connection_needed"})


@contextmanager
def langflow_errors(where: str | None = None) -> Generator[None]:
    """Report what a Langflow server, or what is kept of it, refuses.

    Args:
        where: the argument that names it.

    Raises:
        CommandError: something is refused.
    """
    from runtime.database.errors import StoreUnavailable
    from runtime.keychain.user_variables import BadVariable, VariablesUnavailable
    from runtime.langflow.errors import LangflowError

    try:
        yield
    except LangflowError as error:
        kind = BadUsage if error.code in _USAGE else CommandError
        raise kind(error.code, error.message, fix=error.fix, where=where) from None
    except BadVariable as bad:
        raise CommandError("invalid_variable", bad.message, fix=bad.fix, where=where) from None
    except VariablesUnavailable as failure:
        raise CommandError("variables_unavailable", failure.message, fix=failure.fix) from None
    except StoreUnavailable as failure:
        raise CommandError("store_unavailable", failure.message, fix=failure.fix) from None


def excluded_by_langflow(langflow: str | None, *, flow: str | None, server: str | None) -> None:
    """Refuse other places of a flow beside one of Langflow.

    Args:
        langflow: the option `--langflow`.
        flow: the option `--flow`.
        server: the option `--server`.

    Raises:
        BadUsage: one of them is given together with it.
    """
    if langflow is not None and (flow is not None or server):
        other = "--flow" if flow is not None else "--server"
        raise BadUsage("usage", f"--langflow and {other} exclude each other.", fix="Leave one out.", where="--langflow")


def connections() -> Connections:
    """The connections of this machine's user."""
    from cli.files.local import AwaitedVariables
    from runtime.langflow.connections import Connections

    return Connections(AwaitedVariables())


def connection_named(name: str | None) -> Connection:
    """The connection that a command names, or the only one.

    Raises:
        CommandError: there is none.
    """
    with langflow_errors("--connection"):
        return asyncio.run(connections().get(name))


def asked(connection: Connection, ask: Callable[[LangflowServer], Awaitable[T]], seconds: float | None = None) -> T:
    """What a Langflow server answers.

    Args:
        connection: the server.
        ask: asks it.
        seconds: how long an answer may take; None for the usual time.

    Raises:
        CommandError: it refuses, or cannot be reached.
    """
    from runtime.langflow.client import SECONDS, opened

    async def work() -> T:
        async with opened(connection, seconds or SECONDS) as server:
            return await ask(server)

    with langflow_errors():
        return asyncio.run(work())
