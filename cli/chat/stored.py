"""The conversations of this machine's user, or of a server: listed, and found to be gone on with."""

import asyncio
from typing import TYPE_CHECKING

from cli.errors import BadUsage, CommandError
from cli.output.streams import print_json, print_message, print_prose

if TYPE_CHECKING:
    from agent.conversation.stored import ConversationEntry
    from cli.remote.connection import Server

_SHORT = 12
"""Characters by which a list names a conversation of `chat`; more where they are ambiguous."""


def list_conversations(server: "Server | None" = None, *, as_json: bool) -> None:
    """Print the conversations, last used first.

    Args:
        server: whose they are; None for those of this machine.
        as_json: print one JSON document.
    """
    entries = _entries(server)
    if as_json:
        print_json({"conversations": [entry.model_dump() for entry in entries]})
        return
    for entry in entries:
        when = entry.updated_at[:16].replace("T", " ") or "(not noted)     "
        waits = "  (waits for an answer)" if entry.waiting else ""
        print_prose(f"{_short(entry.id, entries)}  {when}  {entry.title}{waits}", err=False)
    if not entries:
        print_message("There are no conversations yet; begin one with: wirewright chat")


def find_conversation(wanted: str | None, server: "Server | None" = None) -> str:
    """The id of a stored conversation.

    Args:
        wanted: its id or an unambiguous beginning of it; None for the one that was used last.
        server: whose it is; None for those of this machine.

    Raises:
        BadUsage: there is none, or more than one.
        CommandError: the database cannot be used.
    """
    entries = _entries(server)
    if wanted is None:
        if not entries:
            fix = "Begin one with: wirewright chat"
            raise BadUsage("no_conversation", "There is no conversation to go on with.", fix=fix, where="--resume")
        return entries[0].id
    ids = [entry.id for entry in entries]
    found = [one for one in ids if one == wanted] or [one for one in ids if wanted and one.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        message, fix = f"{wanted[:80]!r} fits {len(found)} conversations.", "Write more of its id."
    else:
        message, fix = f"There is no conversation {wanted[:80]!r}.", "wirewright chat --list shows them."
    raise BadUsage("unknown_conversation", message, fix=fix, where="ID")


def _entries(server: "Server | None") -> "list[ConversationEntry]":
    from agent.conversation.stored import ConversationEntry, StoredMemory
    from agent.errors import AssistantUnavailable
    from cli.database import opened_database
    from runtime.files.folders import LOCAL_USER

    if server is not None:
        from cli.remote.stores.conversations import RemoteConversations

        return [
            ConversationEntry(
                id=one.id, updated_at=one.updated_at, title=one.title, turns=one.messages, waiting=one.waiting
            )
            for one in RemoteConversations(server).entries(limit=10_000)[0]
        ]

    async def listed() -> "list[ConversationEntry]":
        async with opened_database() as database:
            return await StoredMemory(database).entries(LOCAL_USER)

    try:
        return asyncio.run(listed())
    except AssistantUnavailable as unavailable:
        error = unavailable.error
        raise CommandError(error.code, error.message, fix=error.fix) from None


def _short(id_: str, entries: "list[ConversationEntry]") -> str:
    """The beginning of an id that names it; ids that the user has chosen stay whole."""
    if not id_.startswith("cli-"):
        return id_
    others = [entry.id for entry in entries if entry.id != id_]
    sizes = range(_SHORT, len(id_))
    size = next((size for size in sizes if not any(one.startswith(id_[:size]) for one in others)), len(id_))
    return id_[:size]
