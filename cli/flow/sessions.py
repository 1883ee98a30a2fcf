"""`wirewright flow sessions`: what the runs of a flow remember, listed, shown and removed."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from cli.database import opened_database
from cli.errors import BadUsage, CommandError
from cli.help.group import CommandGroup
from cli.options import FlowFile, Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_message, print_result
from cli.remote.option import ServerAddress, server_at

if TYPE_CHECKING:
    from cli.remote.connection import Server
    from cli.remote.stores.sessions import RemoteSessions
    from flows.document import Flow
    from runtime.sessions.store import FlowSessions

T = TypeVar("T")

SessionName = Annotated[str, typer.Argument(metavar="SESSION", help="The session id, as --session named it.")]

commands = CommandGroup("List, show and remove what the runs of a flow remember.")


@commands.add("list", "wirewright flow sessions list echo.json")
def list_sessions(f: FlowFile, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """List the sessions of a flow, last used first."""
    from cli.documents.running import SessionList
    from runtime.files.folders import LOCAL_USER

    remote = server_at(server)
    key = _key(f, remote)
    entries = _with_sessions(remote, lambda sessions: sessions.entries(LOCAL_USER, key))
    if as_json:
        print_json(SessionList(sessions=list(entries)))
        return
    print_rows((one.session, f"{one.messages} messages", one.updated_at) for one in entries)
    if not entries:
        print_message("The flow has no sessions.")


@commands.add("show", "wirewright flow sessions show echo.json monday")
def show(f: FlowFile, session: SessionName, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """Print the messages of a session, oldest first."""
    from cli.documents.running import SessionMessages
    from runtime.files.folders import LOCAL_USER

    remote = server_at(server)
    key = _key(f, remote)
    messages = _with_sessions(remote, lambda sessions: sessions.messages(LOCAL_USER, key, session))
    if not messages:
        raise _no_session(session)
    if as_json:
        print_json(SessionMessages(session=session, messages=list(messages)))
        return
    for message in messages:
        print_result(f"{message.sender_name}: {message.text}")


@commands.add(
    "remove", "wirewright flow sessions remove echo.json monday", "wirewright flow sessions remove echo.json --all"
)
def remove(
    f: FlowFile,
    session: Annotated[
        str | None, typer.Argument(metavar="SESSION", help="The session id, as --session named it.")
    ] = None,
    server: ServerAddress = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Forget every session of the flow.")] = False,
    as_json: Json = False,
) -> None:
    """Forget a session: the flow's next run in it starts afresh."""
    from cli.documents.flows import Removed
    from runtime.files.folders import LOCAL_USER

    if every == (session is not None):
        raise BadUsage("usage", "Name a session, or give --all.", fix="wirewright flow sessions list F lists them.")
    remote = server_at(server)
    key = _key(f, remote)
    if session is None:
        count = _with_sessions(remote, lambda sessions: sessions.remove_flow(LOCAL_USER, key))
        if as_json:
            print_json(Removed(removed=count))
            return
        print_message(f"{count} sessions are forgotten." if count != 1 else "1 session is forgotten.")
        return
    if not _with_sessions(remote, lambda sessions: sessions.remove(LOCAL_USER, key, session)):
        raise _no_session(session)
    if as_json:
        print_json(Removed(removed=1))
        return
    print_message(f"The session {session!r} is forgotten.")


def session_key(name: str, flow: "Flow") -> str:
    """What the sessions of a flow belong to: the id in its document, else its file, else its content."""
    from cli.input.texts import STANDARD_INPUT
    from runtime.sessions.keys import flow_key

    return flow_key(flow, None if name == STANDARD_INPUT else f"file:{Path(name).resolve()}")


@asynccontextmanager
async def stored_sessions() -> "AsyncGenerator[FlowSessions]":
    """The stored sessions, as the settings say where.

    Raises:
        CommandError: the database cannot be used.
    """
    from runtime.sessions.store import FlowSessions

    async with opened_database() as database:
        yield FlowSessions(database)


def _with_sessions(remote: "Server | None", work: "Callable[[FlowSessions | RemoteSessions], Awaitable[T]]") -> T:
    """Work on the sessions on a server, or else on those of this machine."""

    async def working() -> T:
        if remote is not None:
            from cli.remote.stores.sessions import RemoteSessions

            return await work(RemoteSessions(remote))
        async with stored_sessions() as sessions:
            return await work(sessions)

    return asyncio.run(working())


def _key(name: str, remote: "Server | None") -> str:
    """What the sessions of a flow belong to; on a server, the flow's id."""
    from cli.flow.source import load_flow

    if remote is not None:
        from cli.remote.stores.flows import RemoteFlows

        return RemoteFlows(remote).find(name).id

    loaded, _ = load_flow(name)
    if loaded.flow is None:
        fault = next(fault for fault in loaded.faults if fault.is_error)
        raise BadUsage("invalid_flow", f"{name} does not build: {fault.message}", fix=fault.fix, where=name)
    return session_key(name, loaded.flow)


def _no_session(session: str) -> CommandError:
    fix = "wirewright flow sessions list F lists them."
    return CommandError("session_not_found", f"The flow has no session {session!r}.", fix=fix)
