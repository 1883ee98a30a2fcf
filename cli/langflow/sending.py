"""Sending a flow to a Langflow server: what `flow push` and `ask --langflow` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli.database import opened_database
from cli.engine import ready_catalogue
from cli.langflow.app import project_of
from runtime.files.folders import LOCAL_USER
from runtime.langflow.changes import Update, content_digest, new_flow, update_of
from runtime.langflow.client import LangflowServer
from runtime.langflow.documents import RemoteFlow
from runtime.langflow.errors import LangflowError
from runtime.langflow.exchange import Link, document_of, send, what_is_there
from runtime.langflow.store.bases import Bases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flows.document import Flow


@dataclass(frozen=True, kw_only=True)
class Sending:
    """How a flow is to be sent.

    Attributes:
        to: the flow there that it becomes, by id or name; None for the one that it was pulled from, or a new one.
        new: whether it becomes a new flow whatever it was pulled from.
        folder: the project of a new flow, by id or name.
        with_secrets: whether secrets that were typed in are sent.
        overwrite: whether it replaces what was changed there since.
        variables: variables of ours that are to be kept there, by name.
    """

    to: str | None = None
    new: bool = False
    folder: str | None = None
    with_secrets: bool = False
    overwrite: bool = False
    variables: Sequence[tuple[str, str]] = ()


async def prepared(server: LangflowServer, flow: Flow, sending: Sending) -> Update:
    """What would be sent; this changes nothing there.

    Args:
        server: the server.
        flow: the flow, with its link if it was pulled.
        sending: how it is to be sent.

    Raises:
        LangflowError: the flow that it is to become is not there, or a new one would have the name of another.
    """
    there, local = await what_is_there(server), ready_catalogue()
    if sending.variables:
        from dataclasses import replace

        there = replace(there, variables=[*there.variables, *(name for name, _ in sending.variables)])
    link = Link.of(flow)
    if link is not None and (link.url != server.connection.url or sending.new):
        link = None
    if sending.to is not None:
        found = (await server.find(sending.to)).id
        link = link if link is not None and link.flow == found else None
    elif link is not None:
        found = link.flow
    else:
        update = new_flow(flow, there, local, with_secrets=sending.with_secrets)
        name = update.flow.name
        if any(head.name == name for head in await server.flows()):
            fix = "Update that one with --to, or name yours otherwise with --name."
            raise LangflowError("name_taken", f"{server.connection.url} has a flow {name[:80]!r} already.", fix)
        return update
    try:
        seen = await server.flow(found)
    except LangflowError as error:
        if error.code == "flow_not_there":
            raise LangflowError(error.code, error.message, f"{error.fix} --new sends it as a new one.") from None
        raise
    base = await _base(link, seen)
    options = {"with_secrets": sending.with_secrets, "overwrite": sending.overwrite}
    return update_of(base, flow, seen, there, local, **options)


async def sent(server: LangflowServer, update: Update, sending: Sending) -> RemoteFlow:
    """Send an update, and remember what the flow is like there then.

    Args:
        server: the server.
        update: what to send.
        sending: how.

    Raises:
        LangflowError: it may not be sent, or the server refuses it.
    """
    folder = None
    if update.seen is None and sending.folder is not None:
        folder = project_of(await server.projects(), sending.folder).id
    for name, value in sending.variables:
        await server.add_variable(name, value)
    remote = await send(server, update, folder)
    await remember(remote)
    return remote


async def remember(remote: RemoteFlow) -> None:
    """Keep what a flow is like there, for later merges."""
    async with opened_database() as database:
        await Bases(database, LOCAL_USER).keep(document_of(remote))


async def _base(link: Link | None, seen: RemoteFlow) -> Flow | None:
    """What the flow was like there when ours was made of it; None if that is not known."""
    if link is None:
        return None
    theirs = document_of(seen)
    if content_digest(theirs) == link.base:
        return theirs
    async with opened_database() as database:
        return await Bases(database, LOCAL_USER).get(link.base)
