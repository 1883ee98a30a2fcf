"""Carries out the commands inside a conversation."""

import asyncio
from collections.abc import Awaitable, Callable
from difflib import get_close_matches
from pathlib import Path
from typing import TypeAlias

from cli.chat.commands import commands_at, help_text
from cli.chat.lines import Lines, Unanswered
from cli.chat.partners.partner import Partner
from cli.chat.state import ChatState
from cli.errors import CommandError
from cli.output.files import writable, write_flow
from cli.output.streams import print_json, print_message, print_prose, terminal_width
from flows.describe.diagrams import ascii_graph

_SIMILAR = 0.6
"""How similar a mistyped command is to the one that was meant, from 0 to 1."""

Take: TypeAlias = Callable[[str], Awaitable[None]]
"""Takes a turn for a message."""


async def carry_out(text: str, conversation: ChatState, partner: Partner, lines: Lines, take: Take) -> bool:
    """Carry out a line that begins with a slash; returns whether it was one.

    Args:
        text: the line.
        conversation: the conversation that it belongs to.
        partner: takes its turns.
        lines: what the user types next, where something has to be asked.
        take: takes a turn, for a command that is a message.
    """
    if not text.startswith("/"):
        return False
    name, _, rest = text.partition(" ")
    try:
        await _carry_out(name, rest.strip(), conversation, partner, lines, take)
    except CommandError as refused:
        print_prose(f"{refused.message} {refused.fix}".rstrip())
    return True


async def _carry_out(name: str, rest: str, conversation: ChatState, partner: Partner, lines: Lines, take: Take) -> None:
    match name:
        case "/show":
            _show(conversation)
        case "/flow":
            await _load(rest, conversation, partner) if rest else _show(conversation)
        case "/save":
            await _save(rest, conversation, lines)
        case "/file":
            await _attach(rest, conversation, partner)
        case "/model":
            await _choose(rest, conversation, partner)
        case "/undo" if conversation.replaced is not None:
            _put_back(conversation)
        case "/undo" | "/redo":
            await take(name.removeprefix("/"))
        case "/reset":
            await partner.reset(conversation.session, conversation.canvas)
            print_prose("The conversation and the components created for you are deleted.")
        case "/forget":
            await partner.forget(conversation.session)
            print_prose("The conversation is deleted; the components created for you stay.")
        case "/store" if partner.place:
            await _store(rest, conversation, partner)
        case "/help":
            _help(lines, partner)
        case _:
            print_prose(f"Unknown command: {name}. {_nearest(name, partner)}/help lists them all.")


def _nearest(name: str, partner: Partner) -> str:
    """The question whether the most similar command was meant; empty when none is similar."""
    found = get_close_matches(
        name.casefold(), [command.name for command in commands_at(partner.place)], n=1, cutoff=_SIMILAR
    )
    return f"Did you mean {found[0]}? " if found else ""


def _help(lines: Lines, partner: Partner) -> None:
    import sys

    text = help_text(terminal_width(sys.stderr), commands_at(partner.place), edits=lines.edits)
    print_prose(text) if lines.edits else print_message(text)


def _show(conversation: ChatState) -> None:
    canvas = conversation.canvas
    if conversation.as_json:
        print_json({"event": "canvas", "flow": None if canvas is None else canvas.to_json()})
    else:
        print_prose("The canvas is empty." if canvas is None else ascii_graph(canvas), err=False)


async def _load(name: str, conversation: ChatState, partner: Partner) -> None:
    """Load a flow onto the canvas: from a file, or one that the server stores."""
    if conversation.send is not None:
        fix = "Leave, and begin another conversation with it."
        raise CommandError(
            "canvas_sent", "What is on the canvas is sent to Langflow; no other flow can be loaded.", fix=fix
        )
    loaded = await partner.load(str(_named(name)))
    if loaded.canvas is None:
        return
    before = (conversation.canvas, conversation.components, conversation.flow_id)
    conversation.components, conversation.flow_id = loaded.components, loaded.flow_id
    conversation.place(loaded.canvas)
    if loaded.path is not None:
        conversation.own_files.add(loaded.path.resolve())
    count = len(loaded.canvas.nodes)
    note = ""
    if before[0] is not None and (before[0] != loaded.canvas or before[2] != loaded.flow_id):
        conversation.replaced, note = before, " /undo puts back what was there."
    stored = " Changes are stored on the server." if loaded.flow_id else ""
    print_prose(f"“{loaded.canvas.name}” is on the canvas ({count} node{'' if count == 1 else 's'}).{stored}{note}")


async def _store(name: str, conversation: ChatState, partner: Partner) -> None:
    """Store the canvas on the server; later turns change the stored flow."""
    if conversation.canvas is None:
        raise CommandError("empty_canvas", "The canvas is empty, so there is nothing to store.")
    stored = await partner.store(conversation.canvas, name)
    if stored.canvas is not None:
        conversation.flow_id = stored.flow_id
        conversation.place(stored.canvas)
        print_prose(f"The flow is stored as “{stored.canvas.name}” ({stored.flow_id}); so are changes from now on.")


def _put_back(conversation: ChatState) -> None:
    """Put back the canvas that a loaded flow replaced."""
    if conversation.replaced is None:
        return
    canvas, conversation.components, conversation.flow_id = conversation.replaced
    conversation.replaced = None
    if canvas is not None:
        conversation.place(canvas)
    print_prose("The canvas is as it was before the file was loaded.")


async def _save(name: str, conversation: ChatState, lines: Lines) -> None:
    """Write the canvas to a file; a person is asked before a file that is not the conversation's own is replaced."""
    if not name:
        raise CommandError("usage", "/save needs the name of a file.", fix="Such as: /save flow.json")
    if conversation.canvas is None:
        raise CommandError("empty_canvas", "The canvas is empty, so there is nothing to save.")
    path = writable(str(_named(name)))
    if path is None:
        return
    own = {*conversation.own_files, *([conversation.target.resolve()] if conversation.target else [])}
    if lines.interactive and path.exists() and path.resolve() not in own:
        from agent.language.replies import plain_reply

        try:
            agreed = plain_reply(await lines.ask(f"{name} exists. Replace it? [y/N] ")) == "approve"
        except Unanswered:
            agreed = False
        if not agreed:
            print_prose("Nothing was written.")
            return
    await asyncio.to_thread(write_flow, path, conversation.canvas)
    conversation.own_files.add(path.resolve())
    print_prose(f"The flow is in {name}.")


async def _attach(path: str, conversation: ChatState, partner: Partner) -> None:
    """Add a file of this machine to the user's files, for the next message."""
    if not path:
        raise CommandError("usage", "/file needs the path of a file.", fix="Such as: /file notes.txt")
    added = await asyncio.to_thread(partner.add_file, str(_named(path)))
    conversation.attached = (*conversation.attached, added.path)
    print_prose(f"Attached {added.path} ({added.size} bytes) to the next message.")


def _named(name: str) -> Path:
    """The file that a command names; `~` is a home folder."""
    try:
        return Path(name).expanduser()
    except RuntimeError:  # there is no such home
        return Path(name)


async def _choose(name: str, conversation: ChatState, partner: Partner) -> None:
    """Choose another model, or show which one answers."""
    chosen = await partner.model(name or conversation.model)
    if name:
        conversation.model = name
    print_prose(f"The model is {chosen}.")
    if not name:
        print_prose(f"Available: {', '.join(await asyncio.to_thread(partner.models))}.")
