"""`wirewright chat`: a conversation in the terminal, with approvals answered in place."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from cli.assistant import ModelName, StartingPoint, check_model, open_assistant
from cli.errors import FAILED, BadUsage
from cli.flow.components import ComponentsFolder
from cli.options import Json

if TYPE_CHECKING:
    from agent.settings import AssistantSettings
    from cli.chat.conversation import Conversation


def chat(
    flow: Annotated[
        str | None, typer.Option(metavar="F", help="The flow to work on: Langflow JSON or spec text.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Keep the canvas there, as Langflow JSON, whenever it changes.")
    ] = None,
    model: ModelName = None,
    components: ComponentsFolder = None,
    *,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Approve plans, edits and proposals without asking.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Talk with the assistant; each line is a message. Ctrl-C stops a turn, Ctrl-D leaves.

    With --json each event is a line; the lines after one whose approvals or proposal wait answer them, y or why not.
    """
    from agent.settings import AssistantSettings
    from cli.chat.conversation import Conversation
    from cli.output.files import writable
    from cli.settings import settings_of

    if flow == "-":
        raise BadUsage("usage", "Standard input is the conversation.", fix="Name a file.", where="--flow")
    settings = settings_of(AssistantSettings)
    check_model(model, settings)
    conversation = Conversation(target=writable(out), model=model, approve_all=yes, as_json=as_json)
    if not asyncio.run(_converse(conversation, StartingPoint(flow, components), settings)):
        raise typer.Exit(FAILED)


async def _converse(conversation: "Conversation", start: StartingPoint, settings: "AssistantSettings") -> bool:
    """Hold a conversation until the user leaves; returns whether its last turn did not fail."""
    from cli.chat.lines import Lines

    with Lines(prompts=not conversation.as_json) as lines:
        async with open_assistant(settings, start) as assistant:
            conversation.canvas, conversation.components = start.canvas, start.components
            return await conversation.hold(assistant, lines)
