"""`wirewright ask`: one turn of the assistant."""

import asyncio
import shlex
from functools import partial
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from cli.assistant import ModelName, StartingPoint, check_model, open_assistant
from cli.errors import DONE, FAILED, WAITING, BadUsage
from cli.flow.components import ComponentsFolder
from cli.langflow.servers import ConnectionName, FlowThere, excluded_by_langflow
from cli.options import Json
from cli.output.streams import print_message
from cli.remote.option import ServerAddress, here_alone, server_at

if TYPE_CHECKING:
    from pathlib import Path

    from agent.assistant import Assistant
    from agent.settings import AssistantSettings
    from agent.turn.request import TurnRequest
    from agent.turn.result import TurnResult
    from cli.langflow.editing import Editing
    from cli.output.turn import Rendering
    from cli.remote.connection import Server
    from flows.document import Flow


_ID_LETTERS = 8
"""Letters of the id of a conversation that the user has not named."""


def ask(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What you want, in your words; - reads standard input.")],
    flow: Annotated[
        str | None, typer.Option(metavar="F", help="The flow to work on: Langflow JSON or spec text; - reads it.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the resulting or proposed flow there, as Langflow JSON.")
    ] = None,
    model: ModelName = None,
    components: ComponentsFolder = None,
    session: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Keep this conversation and its canvas, or go on with them; TEXT may answer what waits."
        ),
    ] = None,
    file: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="A file that this is about; it is added to your files. May be repeated."),
    ] = None,
    server: ServerAddress = None,
    langflow: FlowThere = None,
    connection: ConnectionName = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve plans and edits without being asked.")] = False,
    as_json: Json = False,
) -> None:
    """Ask the assistant to build, change, run or explain a flow.

    What would replace or remove something of yours waits for your answer: the
    exit code is 3, and the command that answers is shown. With --yes nothing
    waits. The exit code is 1 when what was asked was not done.
    """
    from agent.settings import AssistantSettings
    from agent.turn.request import TurnRequest
    from cli.files.local import add_file
    from cli.output.files import writable
    from cli.output.turn import JsonEvents, Readable
    from cli.settings import settings_of

    if text == "-" and flow == "-":
        raise BadUsage("usage", "Only one of TEXT and --flow can be -.", fix="Name a file.", where="--flow")
    excluded_by_langflow(langflow, flow=flow, server=server)
    target = writable(out)
    here_alone(server, components=components)
    if (remote := server_at(server)) is not None:
        code = _remotely(
            remote, text, flow, target, file or [], model=model, session=session, yes=yes, as_json=as_json, out=out
        )
        if code != DONE:
            raise typer.Exit(code)
        return
    settings = settings_of(AssistantSettings)
    check_model(model, settings)
    if session is not None:
        settings = settings.model_copy(update={"memory": "file"})
    start = StartingPoint(flow, components)
    editing = None
    if langflow is not None:
        from cli.langflow.editing import Editing

        editing = Editing(langflow, connection, yes=yes)
    apply = "always" if yes else "ask"
    message = _text(text)
    files = tuple(add_file(path, where="--file").path for path in file or ())
    name = session or f"ask-{uuid4().hex[:_ID_LETTERS]}"
    request = TurnRequest(text=message, session=name, keep_canvas=True, model=model, apply=apply, files=files)
    keeps = settings.memory == "file" or "memory" not in settings.model_fields_set
    others = {"langflow": langflow, "connection": connection}
    answer = _answer_command(name, out=out, model=model, components=components, **others) if keeps else ""
    rendering = JsonEvents(name) if as_json else Readable(session=session, answer=answer, source=_file_of(flow))
    code = asyncio.run(_turn(request, start, settings, rendering, target, keeps=keeps, editing=editing))
    if code != DONE:
        raise typer.Exit(code)


def _remotely(
    server: "Server",
    text: str,
    flow: str | None,
    target: "Path | None",
    files: list[str],
    *,
    model: str | None,
    session: str | None,
    yes: bool,
    as_json: bool,
    out: str | None,
) -> int:
    """Take one turn on a server; returns the exit code."""
    from agent.turn.request import TurnRequest
    from cli.output.turn import Readable
    from cli.remote.ask import JsonLines, Start, Words, take
    from cli.remote.stores.files import RemoteFiles

    start = Start(server, flow)
    message = _text(text)
    paths = tuple(RemoteFiles(server).add(path, where="--file").path for path in files)
    name = session or f"ask-{uuid4().hex[:_ID_LETTERS]}"
    apply = "always" if yes else "ask"
    request = TurnRequest(text=message, session=name, flow=start.canvas, model=model, apply=apply, files=paths)
    answer = _answer_command(name, out=out, model=model, flow=start.flow_id, server=server.origin)
    rendering = Readable(session=None, answer=answer, source=None if start.flow_id else _file_of(flow))
    write = None if target is None else partial(write_result, target, canvas=start.canvas)
    shown = JsonLines() if as_json else Words(rendering, start.name, write)
    result, _ = asyncio.run(take(server, request, start, shown))
    if as_json and write is not None and result is not None and (place := write(result)):
        print_message(place)
    return exit_code(result, message)


async def _turn(
    request: "TurnRequest",
    start: StartingPoint,
    settings: "AssistantSettings",
    rendering: "Rendering",
    target: "Path | None",
    *,
    keeps: bool,
    editing: "Editing | None" = None,
) -> int:
    """Take one turn and show it, or that it was interrupted; returns the exit code.

    Args:
        request: the turn's request.
        start: what it begins with.
        settings: the assistant's.
        rendering: shows it.
        target: the file that the flow is written to.
        keeps: whether a conversation that waits for an answer is kept, so that it can be given.
        editing: the flow of a Langflow server that it works on, if any.
    """
    from agent.turn.record import TurnRecord
    from agent.turn.result import TurnEnded
    from cli.output.turn import Readable

    result: TurnResult | None = None
    record = TurnRecord()
    try:
        async with open_assistant(settings, start) as assistant:
            canvas = start.canvas
            if editing is not None:
                canvas = await editing.canvas_for(assistant, request.user, request.session)
            elif canvas is None:
                canvas = await assistant.kept_canvas(request.user, request.session)
            request = request.model_copy(update={"flow": canvas, "components": start.components})
            async with assistant.turn(request) as events:
                try:
                    async for event in events:
                        if isinstance(event, TurnEnded):
                            result = event.result
                            if keeps and result.outcome == "pending":
                                await _keep(assistant, request)
                            place = ""
                            if target is not None:
                                place = write_result(target, result, canvas)
                            if editing is not None:
                                place = await editing.send(result, target) or place
                            if target is not None or editing is not None:
                                if isinstance(rendering, Readable):
                                    rendering.place = place
                                elif place:
                                    print_message(place)
                        rendering.show(event)
                finally:
                    record = events.record
    except asyncio.CancelledError:
        rendering.cancelled(record)
        raise
    finally:
        rendering.close()
    return exit_code(result, request.text) or (DONE if editing is None else editing.code)


async def _keep(assistant: "Assistant", request: "TurnRequest") -> None:
    """Keep a conversation beyond this process."""
    from agent.conversation.stored import StoredMemory

    state = await assistant.memory.load(request.user, request.session)
    await StoredMemory(assistant.database).save(request.user, request.session, state)


def _answer_command(session: str, **options: str | None) -> str:
    """The command that answers what a conversation waits for, with the options that matter then, too."""
    given = [part for name, value in options.items() if value for part in (f"--{name}", value)]
    return shlex.join(["wirewright", "ask", "yes", "--session", session, *given])


def exit_code(result: "TurnResult | None", text: str) -> int:
    """What a turn that has ended exits with.

    1 when it failed or left undone what was asked: nothing was built or run, the last run failed, or the request was
    declined, because it has nothing to do with flows or cannot be met. What the user turned down is no failure.

    Args:
        result: the result; None when the turn ended without one.
        text: the message.
    """
    from agent.language.replies import plain_reply

    if result is None or result.outcome == "error":
        return FAILED
    if result.outcome == "pending":
        return WAITING
    failed = bool(result.runs) and result.runs[-1].error is not None
    decided = [one.status for one in (*result.record.plans, *result.record.installs)]
    if plain_reply(text) == "deny" or "denied" in decided:
        return DONE
    return FAILED if failed or result.record.not_done or result.outcome == "refused" else DONE


def write_result(target: "Path", result: "TurnResult", canvas: "Flow | None") -> str:
    """Write the resulting flow, if there is one; a failed turn leaves the file as it is.

    Returns:
        Where the flow is, in words; empty after a failure.
    """
    from agent.language.phrases import phrase
    from cli.output.files import write_flow

    if result.outcome == "error":
        return ""
    if result.flow.is_empty and canvas is None:
        return phrase("shell_no_flow", result.language, target)
    write_flow(target, result.flow)
    return phrase("shell_flow_in" if result.proposal is None else "shell_proposal_in", result.language, target)


def _file_of(flow: str | None) -> str | None:
    return None if flow == "-" else flow


def _text(text: str) -> str:
    from cli.input.texts import read

    text = read("-").text if text == "-" else text
    if not text.strip():
        raise BadUsage("usage", "TEXT is empty.", fix="Say what you want.", where="TEXT")
    return text
