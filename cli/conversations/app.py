"""`wirewright conversations`: what was said, listed, shown, renamed, removed and taken back; here or on a server."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from cli.errors import BadUsage, CommandError
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.columns import output_width, print_rows
from cli.output.streams import print_json, print_message, print_prose
from cli.remote.option import ServerAddress, server_at

if TYPE_CHECKING:
    from agent.conversation.transcript.parts import TranscriptEntry, TranscriptMessage
    from cli.conversations.stores import Conversations

T = TypeVar("T")

LISTED = 20
_WIDE = 120
"""Columns from which an id is shown whole."""
_ID = 12
"""Characters of an id on a narrow terminal; every command takes the beginning of one."""

commands = CommandGroup("List, show, rename, remove and take back conversations.")

Name = Annotated[str, typer.Argument(metavar="ID", help="The conversation, the beginning of its id, or last.")]


@commands.add("list", "wirewright conversations list", "wirewright conversations list invoice")
def list_conversations(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Only those in whose title or preview it stands.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="How many at most.")] = LISTED,
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """List conversations, last used first."""
    from cli.documents.stored import ConversationList

    entries, total = _with(server, lambda kept: kept.entries(text, limit))
    if as_json:
        print_json(ConversationList(conversations=list(entries), total=total))
        return
    print_rows(map(_row, entries))
    if not entries:
        print_message("There are no conversations." if not text else f"No conversation contains {text!r}.")


@commands.add("show", "wirewright conversations show monday")
def show(name: Name, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """Print what was said in a conversation, oldest first, with a number for each message."""
    from cli.documents.stored import ConversationShown
    from cli.remote.stores.conversations import answer_of, asked_in

    async def read(kept: "Conversations") -> "tuple[TranscriptEntry, list[TranscriptMessage]]":
        entry = await _found(kept, name)
        return entry, await kept.messages(entry.id)

    entry, messages = _with(server, read)
    if as_json:
        print_json(ConversationShown(conversation=entry, messages=messages))
        return
    print_prose(f"{entry.title} ({entry.id})", err=False)
    for number, message in enumerate(messages, 1):
        print_prose(f"\n{number} > {asked_in(message)}", err=False)
        if answer := answer_of(message):
            print_prose(answer, err=False)
    if entry.waiting:
        print_message("A question waits for your answer.")


@commands.add("rename", "wirewright conversations rename monday 'The echo flow'")
def rename(
    name: Name,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What it is called from now on.")],
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Give a conversation another title."""
    words = " ".join(title.split())
    if not 0 < len(words) <= _TITLE:
        raise BadUsage("bad_value", f"A title has 1 to {_TITLE} characters.", fix="Write another one.", where="TITLE")

    async def renamed(kept: "Conversations") -> "TranscriptEntry":
        entry = await _found(kept, name)
        await kept.retitle(entry.id, words)
        return await _found(kept, entry.id)

    entry = _with(server, renamed)
    if as_json:
        print_json(entry)
        return
    print_message(f"It is called “{entry.title}”.")


@commands.add("remove", "wirewright conversations remove monday")
def remove(
    names: Annotated[list[str], typer.Argument(metavar="ID", help="Conversations, named as for `show`.")],
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Remove conversations, with what their runs remember; flows, files and components stay."""
    from cli.documents.flows import Removed

    async def removed(kept: "Conversations") -> "list[TranscriptEntry]":
        found = [await _found(kept, name) for name in dict.fromkeys(names)]
        for entry in found:
            await kept.remove(entry.id)
        return found

    gone = _with(server, removed)
    if as_json:
        print_json(Removed(removed=len(gone)))
        return
    for entry in gone:
        print_message(f"“{entry.title}” is removed.")


@commands.add("rewind", "wirewright conversations rewind monday 1")
def rewind(
    name: Name,
    message: Annotated[
        str, typer.Argument(metavar="MESSAGE", help="The first message to take back: its number in `show`, or its id.")
    ],
    server: ServerAddress = None,
    *,
    flow: Annotated[
        bool, typer.Option("--with-flow", help="Put the stored flow back as well; a server stores flows.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Take back a message and everything after it, as if it had not been sent."""
    from cli.documents.stored import ConversationRewound

    if flow and server_at(server) is None:
        fix = "Write --server URL, or leave --with-flow out."
        raise BadUsage(
            "server_needed", "Flows are stored on a server, and none is named.", fix=fix, where="--with-flow"
        )

    async def rewound(kept: "Conversations") -> ConversationRewound:
        entry = await _found(kept, name)
        messages = await kept.messages(entry.id)
        place = next(
            (place for place, one in enumerate(messages, 1) if message in (one.id, str(place))),
            None,
        )
        if place is None:
            fix = f"wirewright conversations show {name} lists them."
            raise CommandError("message_not_found", f"There is no message {message[:80]!r}.", fix=fix, where="MESSAGE")
        chosen = messages[place - 1]
        version = await kept.rewind(entry.id, chosen.id, flow=flow)
        return ConversationRewound(
            conversation=await _found(kept, entry.id), removed=len(messages) - place + 1, message=chosen, flow=version
        )

    done = _with(server, rewound)
    if as_json:
        print_json(done)
        return
    count = done["removed"]
    print_message(f"Taken back: {count} {'message' if count == 1 else 'messages'}.")
    if (entry := done["flow"]) is not None:
        print_message(f"{entry.name} is as it was, stored as version {entry.version}.")
    if text := done["message"].text:
        print_message(f"The first of them was: {text}")


_TITLE = 200
"""Characters of a title."""


def _with(server: str | None, work: "Callable[[Conversations], Awaitable[T]]") -> T:
    """Work on the conversations of the server that is named, or else of this machine."""
    from cli.conversations.stores import ServerConversations, local_conversations

    found = server_at(server)

    async def working() -> T:
        if found is not None:
            return await work(ServerConversations(found))
        async with local_conversations() as kept:
            return await work(kept)

    return asyncio.run(working())


async def _found(kept: "Conversations", name: str) -> "TranscriptEntry":
    """The conversation with an id, or whose id alone begins so, or the last one.

    Raises:
        CommandError: there is none, or there are several.
    """
    entries, _ = await kept.entries("", 1 if name == "last" else 10_000)
    found = [one for one in entries if one.id == name] or [
        one for one in entries if name == "last" or (name and one.id.startswith(name))
    ]
    if len(found) == 1:
        return found[0]
    if found:
        message, fix = f"{name[:80]!r} fits {len(found)} conversations.", "Write more of its id."
        raise CommandError("conversation_ambiguous", message, fix=fix, where="ID")
    fix = "wirewright conversations list shows them."
    raise CommandError("conversation_not_found", f"There is no conversation {name[:80]!r}.", fix=fix, where="ID")


def _row(entry: "TranscriptEntry") -> tuple[str, ...]:
    width = output_width()
    name = entry.id if width is None or width >= _WIDE or not entry.id.startswith("cli-") else entry.id[:_ID]
    return (name, entry.updated_at[:16].replace("T", " "), "waits" if entry.waiting else "", entry.title)
