"""`wirewright chat`: a conversation in the terminal, with approvals answered in place."""

import asyncio
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from cli.assistant import ModelName, StartingPoint, check_model, open_assistant
from cli.chat.commands import commands_at
from cli.chat.starting import has_editor
from cli.errors import DONE, FAILED, WAITING, BadUsage
from cli.flow.components import ComponentsFolder
from cli.langflow.servers import ConnectionName, FlowThere, excluded_by_langflow
from cli.options import Json
from cli.output.streams import print_prose
from cli.remote.option import ServerAddress, here_alone, server_at

if TYPE_CHECKING:
    from pathlib import Path

    from agent.settings import AssistantSettings
    from cli.chat.conversation import ChatSession
    from cli.chat.lines import Lines
    from cli.chat.partners.partner import Partner
    from cli.langflow.editing import Editing
    from cli.remote.connection import Server
    from flows.document import Flow


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
    server: ServerAddress = None,
    langflow: FlowThere = None,
    connection: ConnectionName = None,
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
    from cli.chat.conversation import ChatSession
    from cli.chat.stored import find_conversation, list_conversations
    from cli.output.files import writable
    from cli.settings import settings_of

    if conversation is not None and not resume:
        raise BadUsage("usage", "ID needs --resume.", fix="Write: wirewright chat --resume ID", where="ID")
    if list_:
        if resume:
            raise BadUsage("usage", "--list and --resume exclude each other.", fix="Choose one.", where="--list")
        list_conversations(server_at(server), as_json=as_json)
        return
    if flow == "-":
        raise BadUsage("usage", "Standard input is the conversation.", fix="Name a file.", where="--flow")
    excluded_by_langflow(langflow, flow=flow, server=server)
    here_alone(server, components=components)
    if (remote := server_at(server)) is not None:
        target = writable(out)
        begun = ChatSession(target=target, model=model, approve_all=yes, as_json=as_json, resumes=resume)
        begun.session = find_conversation(conversation, remote) if resume else begun.session
        _end(begun, succeeded=asyncio.run(_converse_on(begun, remote, flow)))
        return
    settings = settings_of(AssistantSettings)
    target = writable(out)
    check_model(model, settings)
    if resume or "memory" not in settings.model_fields_set:
        settings = settings.model_copy(update={"memory": "file"})
    session = find_conversation(conversation) if resume else None
    start = StartingPoint(flow, components)
    begun = ChatSession(target=target, model=model, approve_all=yes, as_json=as_json, resumes=resume)
    begun.session = session or begun.session
    editing = None
    if langflow is not None:
        from cli.langflow.editing import Editing

        editing = Editing(langflow, connection, yes=yes)
    succeeded = asyncio.run(_converse(begun, start, settings, editing))
    if editing is not None:
        succeeded, begun.left_waiting = (
            succeeded and editing.code != FAILED,
            begun.left_waiting or editing.code == WAITING,
        )
    _end(begun, succeeded=succeeded)


def _end(conversation: "ChatSession", *, succeeded: bool) -> None:
    """Exit as a conversation ended."""
    if not succeeded:
        raise typer.Exit(FAILED)
    if conversation.left_waiting:
        raise typer.Exit(WAITING)


async def _converse(
    conversation: "ChatSession", start: StartingPoint, settings: "AssistantSettings", editing: "Editing | None"
) -> bool:
    """Hold a conversation until the user leaves; returns whether its last turn did not fail.

    Args:
        conversation: the conversation.
        start: what it begins with.
        settings: the assistant's.
        editing: the flow of a Langflow server that it works on, if any.
    """
    from cli.chat.partners.local import LocalPartner
    from runtime.files.folders import LOCAL_USER

    with ExitStack() as terminal:
        edits = _edits(conversation, terminal)
        async with open_assistant(settings, start) as assistant:
            conversation.canvas, conversation.components = start.canvas, start.components
            if editing is not None:
                conversation.canvas = await editing.canvas_for(assistant, LOCAL_USER, conversation.session)
                conversation.send = partial(_sent, editing)
            partner = LocalPartner(assistant)
            with _lines(conversation, partner, assistant.settings.data, edits=edits) as lines:
                return await conversation.hold(partner, lines)


async def _sent(editing: "Editing", canvas: "Flow") -> "Flow":
    """Send what has changed of a flow on a Langflow server, and say so; returns the flow as it is then."""
    words = await editing.send_flow(canvas)
    if words:
        print_prose(words)
    return editing.canvas if words and editing.code == DONE else canvas


async def _converse_on(conversation: "ChatSession", server: "Server", flow: str | None) -> bool:
    """Hold a conversation on a server until the user leaves; returns whether its last turn did not fail."""
    from cli.chat.partners.remote import ServerPartner
    from flows.paths import data_folder

    partner = ServerPartner(server)
    with ExitStack() as terminal:
        edits = _edits(conversation, terminal)
        if conversation.model is not None:
            await partner.model(conversation.model)
        if flow is not None:
            loaded = await partner.load(flow)
            conversation.canvas, conversation.flow_id = loaded.canvas, loaded.flow_id
        with _lines(conversation, partner, data_folder(), edits=edits) as lines:
            return await conversation.hold(partner, lines)


def _edits(conversation: "ChatSession", terminal: ExitStack) -> bool:
    """Whether lines are typed in an editor, in whose terminal the keyboard is silent between them."""
    edits = not conversation.as_json and has_editor()
    if edits:
        from cli.chat.keyboard import silent_keyboard

        terminal.enter_context(silent_keyboard())
    return edits


def _lines(conversation: "ChatSession", partner: "Partner", data: "Path", *, edits: bool) -> "Lines":
    """What the user types: in an editor, or line by line."""
    if not edits:
        from cli.chat.lines import Lines

        return Lines(prompts=not conversation.as_json)
    from cli.chat.completion import Completions
    from cli.chat.editor import Editor
    from cli.chat.keyboard import take_typed

    completions = Completions(lambda: conversation.canvas, partner.models, partner.files, commands_at(partner.place))
    return Editor(data, completions, take_typed())
