"""`wirewright approvals`: what waits for your decision, listed and taken back; here or on a server."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Protocol, TypeVar

import typer

from cli.errors import CommandError
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_message
from cli.remote.option import ServerAddress, server_at

if TYPE_CHECKING:
    from agent.turn.answers.waiting import WaitingConversation
    from cli.remote.connection import Server
    from flows.document import Flow
    from runtime.database.database import Database

T = TypeVar("T")

commands = CommandGroup("List and take back what waits for your decision.")


@commands.add("list", "wirewright approvals list")
def list_approvals(server: ServerAddress = None, *, as_json: Json = False) -> None:
    """List the conversations that wait for your answer, the longest first."""
    from cli.documents.stored import ApprovalList

    found = _with(server, lambda approvals: approvals.waiting())
    if as_json:
        print_json(ApprovalList(conversations=found))
        return
    print_rows((one.session_id, one.since[:19], _asked(one), one.title) for one in found)
    if not found:
        print_message("Nothing waits for your answer.")


@commands.add("withdraw", "wirewright approvals withdraw monday")
def withdraw_approvals(
    name: Annotated[str, typer.Argument(metavar="ID", help="The conversation, or the beginning of its id.")],
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Take back what a conversation asks: nothing of it is done."""
    from cli.documents.stored import ApprovalsWithdrawn

    async def work(approvals: _Approvals) -> tuple[str, int]:
        found = _named(await approvals.waiting(), name)
        return found, await approvals.withdraw(found)

    session, count = _with(server, work)
    if as_json:
        print_json(ApprovalsWithdrawn(session_id=session, withdrawn=count))
        return
    print_message(f"{count} questions were taken back in {session}." if count > 1 else f"It was taken back: {session}.")


def _asked(one: "WaitingConversation") -> str:
    """What a conversation asks, in a few words."""
    kinds = [
        f"{question.kind} (withdrawn)" if question.id in one.withdrawn else question.kind for question in one.questions
    ]
    return ", ".join(kinds) or "a tool's result"


def _named(found: "list[WaitingConversation]", name: str) -> str:
    """The conversation whose id alone begins so; otherwise the name itself.

    Raises:
        CommandError: there are several.
    """
    ids = [one.session_id for one in found if one.session_id.startswith(name)]
    if name in ids or not ids:
        return name
    if len(ids) > 1:
        message = f"{len(ids)} conversations that wait begin with {name[:60]!r}."
        raise CommandError("approval_ambiguous", message, fix=f"Write more of its id, such as {ids[0][:60]}.")
    return ids[0]


class _Approvals(Protocol):
    """What waits for one user."""

    async def waiting(self) -> "list[WaitingConversation]":
        """The conversations that wait, the longest first."""
        ...

    async def withdraw(self, session: str) -> int:
        """Take back what one asks; returns how many questions there were."""
        ...


class _Local:
    def __init__(self, database: "Database") -> None:
        from agent.conversation.stored import StoredMemory

        self._database = database
        self._memory = StoredMemory(database)

    async def waiting(self) -> "list[WaitingConversation]":
        from agent.settings import AssistantSettings
        from agent.turn.answers.waiting import waiting_approvals
        from cli.settings import settings_of
        from runtime.files.folders import LOCAL_USER

        days = settings_of(AssistantSettings).approvals_kept
        return await waiting_approvals(self._memory, LOCAL_USER, days, self._flow)

    async def withdraw(self, session: str) -> int:
        from agent.turn.answers.waiting import withdraw
        from runtime.files.folders import LOCAL_USER

        count = await withdraw(self._memory, LOCAL_USER, session)
        if not count:
            message = f"Nothing waits for an answer in the conversation {session[:80]!r}."
            raise CommandError("nothing_pending", message, fix="`wirewright approvals list` shows what waits.")
        return count

    async def _flow(self, name: str) -> "Flow | None":
        from runtime.files.folders import LOCAL_USER
        from server.store.flows import FlowNotStored
        from server.store.sql import SqlFlowStore

        try:
            return (await SqlFlowStore(self._database, LOCAL_USER).get(name)).flow
        except FlowNotStored:
            return None


class _Remote:
    def __init__(self, server: "Server") -> None:
        self._server = server

    async def waiting(self) -> "list[WaitingConversation]":
        from server.routes.conversations.approvals import APPROVALS, WaitingApprovals

        return (await asyncio.to_thread(self._server.read, WaitingApprovals, APPROVALS)).conversations

    async def withdraw(self, session: str) -> int:
        from cli.remote.connection import segment
        from server.routes.conversations.approvals import APPROVALS, Withdrawn

        place = f"{APPROVALS}/{segment(session)}/withdraw"
        return (await asyncio.to_thread(self._server.change, Withdrawn, "POST", place)).withdrawn


def _with(server: str | None, work: "Callable[[_Approvals], Awaitable[T]]") -> T:
    """Work on what waits at the server that is named, or else on this machine."""
    from agent.errors import AssistantUnavailable

    found = server_at(server)

    async def working() -> T:
        if found is not None:
            return await work(_Remote(found))
        from cli.database import opened_database

        async with opened_database() as database:
            await database.open()
            return await work(_Local(database))

    try:
        return asyncio.run(working())
    except AssistantUnavailable as unavailable:
        error = unavailable.error
        raise CommandError(error.code, error.message, fix=error.fix) from None
