"""Carries out the commands inside a conversation."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TypeAlias

from agent.assistant import Assistant
from agent.errors import ModelChoiceError
from agent.models.keys import KeptKeys
from agent.models.overview import overview
from cli.assistant import StartingPoint
from cli.chat.commands import COMMANDS, help_text
from cli.chat.lines import Lines, Unanswered
from cli.chat.state import ChatState
from cli.errors import CommandError
from cli.files.local import add_file
from cli.output.files import writable, write_flow
from cli.output.streams import print_json, print_message, print_prose, terminal_width
from flows.describe.diagrams import ascii_graph
from runtime.files.folders import LOCAL_USER

_SIMILAR = 0.6
"""How similar a mistyped command is to the one that was meant, from 0 to 1."""

Take: TypeAlias = Callable[[str], Awaitable[None]]
"""Takes a turn for a message."""


async def carry_out(text: str, conversation: ChatState, assistant: Assistant, lines: Lines, take: Take) -> bool:
    """Carry out a line that begins with a slash; returns whether it was one.

    Args:
        text: the line.
        conversation: the conversation that it belongs to.
        assistant: its assistant.
        lines: what the user types next, where something has to be asked.
        take: takes a turn, for a command that is a message.
    """
    if not text.startswith("/"):
        return False
    name, _, rest = text.partition(" ")
    try:
        await _carry_out(name, rest.strip(), conversation, assistant, lines, take)
    except CommandError as refused:
        print_prose(f"{refused.message} {refused.fix}".rstrip())
    return True


async def _carry_out(
    name: str, rest: str, conversation: ChatState, assistant: Assistant, lines: Lines, take: Take
) -> None:
    match name:
        case "/show":
            _show(conversation)
        case "/flow":
            await _load(rest, conversation, assistant) if rest else _show(conversation)
        case "/save":
            await _save(rest, conversation, lines)
        case "/file" if rest:
            await _attach(rest, conversation)
        case "/model":
            await _choose(rest, conversation, assistant)
        case "/undo" if conversation.replaced is not None:
            _put_back(conversation)
        case "/undo" | "/redo":
            await take(name.removeprefix("/"))
        case "/reset":
            await assistant.reset(LOCAL_USER, conversation.session, partial(_used, conversation, assistant))
            print_prose("The conversation and the components created for you are deleted.")
        case "/forget":
            await assistant.forget(LOCAL_USER, conversation.session)
            print_prose("The conversation is deleted; the components created for you stay.")
        case "/help":
            _help(lines)
        case "/file":
            raise CommandError("usage", "/file needs the path of a file.", fix="Such as: /file notes.txt")
        case _:
            print_prose(f"Unknown command: {name}. {_nearest(name)}/help lists them all.")


def _nearest(name: str) -> str:
    """The question whether the most similar command was meant; empty when none is similar."""
    found = get_close_matches(name.casefold(), [command.name for command in COMMANDS], n=1, cutoff=_SIMILAR)
    return f"Did you mean {found[0]}? " if found else ""


def _help(lines: Lines) -> None:
    import sys

    text = help_text(terminal_width(sys.stderr), edits=lines.edits)
    print_prose(text) if lines.edits else print_message(text)


def _show(conversation: ChatState) -> None:
    canvas = conversation.canvas
    if conversation.as_json:
        print_json({"event": "canvas", "flow": None if canvas is None else canvas.to_json()})
    else:
        print_prose("The canvas is empty." if canvas is None else ascii_graph(canvas), err=False)


async def _load(name: str, conversation: ChatState, assistant: Assistant) -> None:
    """Load a flow from a file onto the canvas."""
    path = _named(name)
    start = await asyncio.to_thread(StartingPoint, str(path), None)
    await start.prepare(assistant)
    if start.canvas is None:
        return
    before = (conversation.canvas, conversation.components)
    conversation.components = start.components
    conversation.place(start.canvas)
    conversation.own_files.add(path.resolve())
    count = len(start.canvas.nodes)
    note = ""
    if before[0] is not None and before[0] != start.canvas:
        conversation.replaced, note = before, " /undo puts back what was there."
    print_prose(f"“{start.canvas.name}” is on the canvas ({count} node{'' if count == 1 else 's'}).{note}")


def _put_back(conversation: ChatState) -> None:
    """Put back the canvas that a loaded file replaced."""
    if conversation.replaced is None:
        return
    canvas, conversation.components = conversation.replaced
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


async def _attach(path: str, conversation: ChatState) -> None:
    """Add a file of this machine to the user's files, for the next message."""
    added = await asyncio.to_thread(add_file, str(_named(path)), where="/file")
    conversation.attached = (*conversation.attached, added.path)
    print_prose(f"Attached {added.path} ({added.size} bytes) to the next message.")


def _named(name: str) -> Path:
    """The file that a command names; `~` is a home folder."""
    try:
        return Path(name).expanduser()
    except RuntimeError:  # there is no such home
        return Path(name)


async def _choose(name: str, conversation: ChatState, assistant: Assistant) -> None:
    """Choose another model, or show which one answers."""
    try:
        choice = await assistant.choose(name or conversation.model)
    except ModelChoiceError as refused:
        raise CommandError(refused.error.code, refused.error.message, fix=refused.error.fix) from None
    if name:
        conversation.model = name
    chosen = ":".join((choice.provider, *choice.names[:1]))
    planner = " (the demo planner, not a language model)" if choice.is_demo else ""
    print_prose(f"The model is {chosen}{planner}.")
    if not name:
        names = available_models(assistant.settings.model, KeptKeys.of(choice))
        print_prose(f"Available: {', '.join(names)}.")


def available_models(default: str | None, keys: KeptKeys) -> list[str]:
    """The models that can be chosen: those that the configured providers offer by themselves, and `demo`.

    Args:
        default: the configured model.
        keys: the user's keys.
    """
    found = overview(default, keys.environment())
    return [*(f"{one.name}:{model}" for one in found.providers if one.configured for model in one.models), "demo"]


async def _used(conversation: ChatState, assistant: Assistant, names: Collection[str]) -> set[str]:
    """Those of these component types that the canvas or a stored flow uses."""
    from server.store.sql import SqlFlowStore

    canvas = conversation.canvas
    here = set[str]() if canvas is None else {node.type for node in canvas.nodes}
    return here.intersection(names) | await SqlFlowStore(assistant.database, LOCAL_USER).components_used(names)
