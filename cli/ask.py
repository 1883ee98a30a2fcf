"""`wirewright ask`: one turn of the assistant."""

import asyncio
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from cli.errors import DONE, FAILED, WAITING, BadUsage
from cli.flow.components import ComponentsFolder
from cli.options import Json

if TYPE_CHECKING:
    from pathlib import Path

    from agent.settings import AssistantSettings
    from agent.turn.request import TurnRequest
    from agent.turn.result import TurnResult
    from cli.flow.components import FlowComponents
    from cli.output.turn import Rendering
    from flows.document import Flow


def ask(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What you want, in your words; - reads standard input.")],
    flow: Annotated[
        str | None, typer.Option(metavar="F", help="The flow to work on: Langflow JSON or spec text; - reads it.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the resulting or proposed flow there, as Langflow JSON.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="M", help="provider:name, or demo.")] = None,
    components: ComponentsFolder = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve plans and edits without being asked.")] = False,
    as_json: Json = False,
) -> None:
    """Ask the assistant to build, change, run or explain a flow."""
    from agent.settings import AssistantSettings
    from agent.turn.request import TurnRequest
    from cli.output.files import writable
    from cli.output.turn import JsonLines, Readable
    from cli.settings import settings_of

    if text == "-" and flow == "-":
        raise BadUsage("usage", "Only one of TEXT and --flow can be -.", fix="Name a file.", where="--flow")
    target = writable(out)
    settings = settings_of(AssistantSettings)
    check_model(model, settings)
    own = components_of(components)
    request = TurnRequest(
        text=_text(text),
        session=f"cli-{uuid4().hex}",
        flow=canvas_of(flow, own),
        model=model,
        components=own.sources,
        apply="always" if yes else "ask",
    )
    rendering = JsonLines(request) if as_json else Readable()
    code = asyncio.run(_turn(request, settings, rendering, target))
    if code != DONE:
        raise typer.Exit(code)


async def _turn(
    request: "TurnRequest", settings: "AssistantSettings", rendering: "Rendering", target: "Path | None"
) -> int:
    """Take one turn and show it; returns the exit code. An interruption is shown, too, and goes on."""
    from agent.assistant import Assistant
    from agent.turn.result import TurnEnded
    from cli.engine import EngineUnavailable, install
    from cli.output.streams import note

    result: TurnResult | None = None
    try:
        try:
            await install()
        except EngineUnavailable as unavailable:
            note(f"{unavailable.message} {unavailable.fix}")
        async with Assistant.open(settings) as assistant, assistant.turn(request) as events:
            async for event in events:
                if isinstance(event, TurnEnded):
                    result = event.result
                    if target is not None:
                        write_result(target, result, request.flow)
                rendering.show(event)
    except asyncio.CancelledError:
        rendering.cancelled()
        raise
    finally:
        rendering.close()
    if result is None or result.outcome == "error":
        return FAILED
    return WAITING if result.outcome == "pending" else DONE


def write_result(target: "Path", result: "TurnResult", canvas: "Flow | None") -> None:
    """Write the resulting flow, if there is one; a failed turn leaves the file as it is."""
    from cli.output.files import write_flow
    from cli.output.streams import note

    if result.outcome == "error":
        return
    if result.flow.is_empty and canvas is None:
        note(f"There is no flow to write to {target}.")
    else:
        write_flow(target, result.flow)
        note(f"The {'flow' if result.proposal is None else 'proposed flow'} is in {target}.")


def check_model(model: str | None, settings: "AssistantSettings") -> None:
    """Refuse a model that cannot be had before any work begins.

    Raises:
        BadUsage: naming the option or the variable that asks for it.
    """
    from agent.errors import AssistantUnavailable
    from agent.models.keys import ProviderKeys
    from agent.models.providers import choose

    try:
        choose(model, settings.model, ProviderKeys(settings.data).environment())
    except AssistantUnavailable as error:
        where = "--model" if model is not None else "WIREWRIGHT_MODEL"
        raise BadUsage(error.error.code, error.error.message, fix=error.error.fix, where=where) from None


def _text(text: str) -> str:
    from cli.flow.source import read

    text = read("-").text if text == "-" else text
    if not text.strip():
        raise BadUsage("usage", "TEXT is empty.", fix="Say what you want.", where="TEXT")
    return text


def components_of(folder: str | None) -> "FlowComponents":
    """The flow's own components.

    Raises:
        BadUsage: a file holds none that can be used.
    """
    from cli.engine import ready_catalogue
    from cli.flow.components import FlowComponents, inspect_in_new_engine, read_components
    from cli.output.streams import note

    if folder is None:
        return FlowComponents()
    own = read_components(folder, ready_catalogue(), inspect_in_new_engine)
    for fault in own.faults:
        if fault.is_error:
            raise BadUsage("invalid_component", fault.message, fix=fault.fix, where="--components")
        note(fault.message)
    return own


def canvas_of(name: str | None, own: "FlowComponents") -> "Flow | None":
    """The canvas to work on.

    Raises:
        BadUsage: when the file is no flow, or its spec does not build.
    """
    from cli.engine import ready_catalogue
    from cli.flow.source import built, flow_of, read

    if name is None:
        return None
    source = read(name)
    if source.is_json:
        return flow_of(source)
    result = built(source, own.beside(ready_catalogue()))
    if result.flow is None:
        fault = next(fault for fault in result.faults if fault.is_error)
        where = source.name if fault.line is None else f"{source.name}: line {fault.line}"
        raise BadUsage("invalid_flow", f"{source.name} does not build: {fault.message}", fix=fault.fix, where=where)
    return result.flow
