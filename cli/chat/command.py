"""`wirewright chat`: a conversation in the terminal, with approvals answered in place."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from cli.ask import canvas_of, check_model, components_of
from cli.errors import FAILED
from cli.flow.components import ComponentsFolder
from cli.options import Json

if TYPE_CHECKING:
    from agent.settings import AssistantSettings
    from cli.chat.conversation import Talk


def chat(
    flow: Annotated[
        str | None, typer.Option(metavar="F", help="The flow to work on: Langflow JSON or spec text.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Keep the canvas there, as Langflow JSON, whenever it changes.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="M", help="provider:name, or demo.")] = None,
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
    from cli.chat.conversation import Talk
    from cli.errors import BadUsage
    from cli.output.files import writable
    from cli.settings import settings_of

    if flow == "-":
        raise BadUsage("usage", "Standard input is the conversation.", fix="Name a file.", where="--flow")
    settings = settings_of(AssistantSettings)
    check_model(model, settings)
    own = components_of(components)
    talk = Talk(
        canvas=canvas_of(flow, own),
        target=writable(out),
        model=model,
        components=own.sources,
        approve_all=yes,
        as_json=as_json,
    )
    if not asyncio.run(_talk(talk, settings)):
        raise typer.Exit(FAILED)


async def _talk(talk: "Talk", settings: "AssistantSettings") -> bool:
    """Prepare the engine and talk until the user leaves; returns whether the last turn did not fail."""
    from agent.assistant import Assistant
    from cli.chat.lines import Lines
    from cli.engine import EngineUnavailable, install
    from cli.output.streams import note

    try:
        await install()
    except EngineUnavailable as unavailable:
        note(f"{unavailable.message} {unavailable.fix}")
    with Lines(prompts=not talk.as_json) as lines:
        async with Assistant.open(settings) as assistant:
            return await talk.hold(assistant, lines)
