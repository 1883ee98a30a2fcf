"""`wirewright chat`: a conversation in the terminal, with approvals answered in place."""

import asyncio
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Annotated

import typer

from cli.assistant import ModelName, StartingPoint, check_model, open_assistant
from cli.chat.starting import has_editor
from cli.errors import FAILED, WAITING, BadUsage
from cli.flow.components import ComponentsFolder
from cli.options import Json

if TYPE_CHECKING:
    from agent.assistant import Assistant
    from agent.settings import AssistantSettings
    from cli.chat.conversation import ChatSession
    from cli.chat.lines import Lines


def chat(
    conversation: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="With --resume: the conversation, as --list names it.", show_default=False),
    ] = None,
    flow: Annotated[
        str | None, typer.Option(metavar="F", help="The flow to work on: Langflow JSON or spec text.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Keep the canvas there, as Langflow JSON, whenever it changes.")
    ] = None,
    model: ModelName = None,
    components: ComponentsFolder = None,
    *,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the last conversation and its canvas, or with that of ID.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the conversations, last used first, and exit.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Approve plans, edits and proposals without asking.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Talk with the assistant.

    At a terminal, Enter sends and Alt-Enter or Ctrl-J begins a new line. Tab
    completes commands, paths, and @ with a component or one of your files.
    Ctrl-C stops a turn, Ctrl-D leaves, /help lists the commands. What would
    change is shown before you are asked: answer y, n, or in your words.

    From a pipe, and with --json, each line is a message. With --json each
    event is a line; the lines after one whose approvals or proposal wait
    answer them, y or why not. Where the input ends at a question, it goes on
    waiting, and the exit code is 3.
    """
    from agent.settings import AssistantSettings
    from cli.chat.stored import find_conversation, list_conversations
    from cli.output.files import writable
    from cli.settings import settings_of

    if conversation is not None and not resume:
        raise BadUsage("usage", "ID needs --resume.", fix="Write: wirewright chat --resume ID", where="ID")
    if list_:
        if resume:
            raise BadUsage("usage", "--list and --resume exclude each other.", fix="Choose one.", where="--list")
        list_conversations(as_json=as_json)
        return
    if flow == "-":
        raise BadUsage("usage", "Standard input is the conversation.", fix="Name a file.", where="--flow")
    settings = settings_of(AssistantSettings)
    check_model(model, settings)
    if resume or "memory" not in settings.model_fields_set:
        settings = settings.model_copy(update={"memory": "file"})
    target = writable(out)
    session = find_conversation(conversation) if resume else None
    start = StartingPoint(flow, components)
    from cli.chat.conversation import ChatSession

    begun = ChatSession(target=target, model=model, approve_all=yes, as_json=as_json, resumes=resume)
    begun.session = session or begun.session
    if not asyncio.run(_converse(begun, start, settings)):
        raise typer.Exit(FAILED)
    if begun.left_waiting:
        raise typer.Exit(WAITING)


async def _converse(conversation: "ChatSession", start: StartingPoint, settings: "AssistantSettings") -> bool:
    """Hold a conversation until the user leaves; returns whether its last turn did not fail."""
    with ExitStack() as terminal:
        edits = not conversation.as_json and has_editor()
        if edits:
            from cli.chat.keyboard import silent_keyboard

            terminal.enter_context(silent_keyboard())
        async with open_assistant(settings, start) as assistant:
            conversation.canvas, conversation.components = start.canvas, start.components
            with _lines(conversation, assistant, edits=edits) as lines:
                return await conversation.hold(assistant, lines)


def _lines(conversation: "ChatSession", assistant: "Assistant", *, edits: bool) -> "Lines":
    """What the user types: in an editor, or line by line."""
    if not edits:
        from cli.chat.lines import Lines

        return Lines(prompts=not conversation.as_json)
    from cli.chat.completion import Completions
    from cli.chat.editor import Editor
    from cli.chat.keyboard import take_typed
    from cli.chat.slash import available_models
    from cli.files.local import file_paths, local_keys

    models = cache(lambda: available_models(assistant.settings.model, local_keys()))
    completions = Completions(lambda: conversation.canvas, models, file_paths)
    return Editor(assistant.settings.data, completions, take_typed())
