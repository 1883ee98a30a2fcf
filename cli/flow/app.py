"""`wirewright flow`: build, check, run and print flows, compare and merge them, and start from a template."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import FAILED, BadUsage
from cli.flow import compare, templates
from cli.flow.components import Folder, Inspect, inspect_apart, inspect_with
from cli.options import FlowFile, Json

if TYPE_CHECKING:
    from pathlib import Path

    from cli.flow.source import Made
    from flows.catalogue import Catalogue
    from flows.faults import Fault
    from runtime.results import RunResult

commands = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Build, check, run, compare and print flows.")

RUN_SECONDS = 60.0

_NO_ENGINE = frozenset({"engine_unavailable", "catalogue_missing"})
"""Faults that are not the flow's."""


@commands.command(epilog="Example: wirewright flow build echo.txt --out echo.json")
def build(
    f: FlowFile,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the flow there, as Langflow JSON, once it is built.")
    ] = None,
    components: Folder = None,
    *,
    as_json: Json = False,
) -> None:
    """Build a flow from spec text, and tell all its faults at once."""
    from cli.flow.target import writable, write_flow
    from cli.output.faults import sound
    from cli.output.streams import document

    target = writable(out)
    made, catalogue = flow_in(f, components=components)
    if made.flow is not None and catalogue is not None and not made.from_spec:
        made = replace(made, faults=tuple(_checked(made, catalogue)))
    flow = made.flow if sound(made.faults) else None
    if target is not None and flow is not None:
        write_flow(target, flow)
    if as_json:
        document({"ok": flow is not None, "flow": flow and flow.to_json(), "faults": _faults_json(made.faults)})
    else:
        _tell_built(made, target if flow is not None else None)
    if flow is None:
        raise typer.Exit(FAILED)


@commands.command(epilog="Example: wirewright flow check flow.json --json")
def check(f: FlowFile, components: Folder = None, *, as_json: Json = False) -> None:
    """Find everything that would keep a flow from running as asked. Spec text is built first."""
    from cli.output.faults import counted, lines, sound
    from cli.output.streams import answer, document

    made, catalogue = flow_in(f, components=components)
    faults = _checked(made, catalogue)
    ok = sound(faults)
    if as_json:
        document({"ok": ok, "faults": _faults_json(faults)})
    else:
        for line in lines(faults):
            answer(line)
        answer(f"{'Clean' if not faults else 'Sound' if ok else 'Not sound'}: {counted(faults)}.")
    if not ok:
        raise typer.Exit(FAILED)


@commands.command(epilog="Example: wirewright flow run flow.json --input hello")
def run(
    f: FlowFile,
    text: Annotated[str | None, typer.Option("--input", metavar="T", help="The text to type into the chat.")] = None,
    timeout: Annotated[float, typer.Option(metavar="S", help="Seconds that the run may take.")] = RUN_SECONDS,
    session: Annotated[str | None, typer.Option(metavar="ID", help="The session id that the flow sees.")] = None,
    tweak: Annotated[
        list[str] | None, typer.Option(metavar="NODE.FIELD=VALUE", help="A value for this run alone; may be repeated.")
    ] = None,
    components: Folder = None,
    *,
    events: Annotated[bool, typer.Option("--events", help="Tell of each node as it begins and ends.")] = False,
    as_json: Json = False,
) -> None:
    """Run a flow once on the real engine and print what it gives. With --json, events are lines before the result."""
    from cli.flow.run import result_json, runner_of_settings, teller, tweaks_of, written
    from cli.output.faults import note_faults, sound
    from cli.output.streams import document

    if not (math.isfinite(timeout) and timeout > 0):
        raise BadUsage("bad_value", "--timeout must be a positive number of seconds.", fix="Try 60.", where="--timeout")
    import asyncio

    with asyncio.Runner() as loop:  # one engine makes the flow's own components and then runs it
        runner = runner_of_settings()
        try:
            made, catalogue = flow_in(f, components=components, inspect=inspect_with(runner, loop))
            faults = _checked(made, catalogue)
            if made.flow is None or not sound(faults):
                if as_json:
                    document({**result_json(_not_run(faults)), "faults": _faults_json(faults)})
                else:
                    note_faults(faults)
                raise typer.Exit(FAILED)
            tweaks = tweaks_of(tweak or [], made)
            on_event = teller(made, as_json=as_json) if events else None
            work = runner.run(made.flow, text, timeout=timeout, session=session, tweaks=tweaks, on_event=on_event)
            result = written(made, loop.run(work))
        finally:
            loop.run(runner.aclose())
    if as_json:
        document(result_json(result))
    else:
        note_faults(faults)
        _tell_result(result)
    if not result.ok:
        raise typer.Exit(FAILED)


@commands.command(epilog="Example: wirewright flow spec flow.json > flow.txt")
def spec(f: FlowFile, *, as_json: Json = False) -> None:
    """Print a flow as spec text: the short form that people and models write."""
    from cli.engine import cached_catalogue
    from cli.flow.source import flow_of, read
    from cli.output.faults import note_faults
    from cli.output.streams import answer, document
    from flows.spec import print_spec

    source = read(f)
    if source.is_json:
        flow, faults = flow_of(source), ()
    else:
        made, _ = flow_in(f, source.text)
        flow, faults = made.flow, made.faults
    said = None if flow is None else print_spec(flow, cached_catalogue())
    text = None if said is None else said.text
    faults = (*faults, *(() if said is None else said.faults))  # what the text leaves out
    if as_json:
        document({"ok": text is not None, "spec": text, "faults": _faults_json(faults)})
    else:
        note_faults(faults)
        if text is not None:
            answer(text.rstrip("\n"))
    if text is None:
        raise typer.Exit(FAILED)


commands.command("diff", epilog="Example: wirewright flow diff before.json after.json --json")(compare.diff)
commands.command("merge", epilog="Example: wirewright flow merge canvas.json echo.txt --out both.json")(compare.merge)
commands.command("templates", epilog="Example: wirewright flow templates router | wirewright flow run - --input hello")(
    templates.templates
)


def flow_in(
    name: str, text: str | None = None, *, components: str | None = None, inspect: Inspect = inspect_apart
) -> "tuple[Made, Catalogue | None]":
    """The flow in a source, and the catalogue with the flow's own components; without one, that is the only fault.

    Args:
        name: the source's name, as the user called it.
        text: what it holds, when it was read already.
        components: the folder of the flow's own components.
        inspect: makes them.
    """
    from cli.engine import EngineUnavailable, ready_catalogue
    from cli.flow.components import own_components
    from cli.flow.source import Made, Source, built, flow_of, read, shown
    from cli.output.faults import sound
    from flows.faults import Fault

    source = read(name) if text is None else Source(name=shown(name), text=text)
    given = Made(flow=flow_of(source)) if source.is_json else None
    try:
        catalogue = ready_catalogue()
    except EngineUnavailable as unavailable:
        fault = Fault(code=unavailable.code, message=unavailable.message, fix=unavailable.fix)
        return Made(flow=None, faults=(fault,)), None
    own = own_components(components, catalogue, inspect)
    catalogue = own.beside(catalogue)
    if not sound(own.faults):
        return Made(flow=None, faults=own.faults), catalogue
    made = given or built(source, catalogue)
    return replace(made, faults=(*own.faults, *made.faults)), catalogue


def _checked(made: "Made", catalogue: "Catalogue | None") -> "list[Fault]":
    """The faults of building, then those of checking that building did not tell."""
    from flows.checks import check

    if made.flow is None or catalogue is None:
        return list(made.faults)
    told = {(fault.code, fault.node, fault.port, fault.field) for fault in made.faults}
    found = [made.placed(fault) for fault in check(made.flow, catalogue)]
    return [*made.faults, *(fault for fault in found if (fault.code, fault.node, fault.port, fault.field) not in told)]


def _not_run(faults: "list[Fault]") -> "RunResult":
    from cli.output.faults import counted
    from runtime.results import RunError, RunMetrics, RunResult

    first = next(fault for fault in faults if fault.is_error)
    many = len([fault for fault in faults if fault.is_error]) > 1
    message = f"Not run: {counted(faults)}. The first: {first.message}" if many else f"Not run: {first.message}"
    code = "crash" if first.code in _NO_ENGINE else "wiring"
    error = RunError(code=code, message=message, fix=first.fix, node=first.node)
    return RunResult(run_id="", output=None, outputs={}, metrics=RunMetrics(seconds=0.0), error=error)


def _faults_json(faults: "tuple[Fault, ...] | list[Fault]") -> list[object]:
    return [fault.to_json() for fault in faults]


def _tell_built(made: "Made", target: "Path | None") -> None:
    from cli.output.faults import counted, note_faults
    from cli.output.streams import answer
    from flows.describe.diagrams import ascii_graph

    note_faults(made.faults)
    if made.flow is None:
        answer(f"Not built: {counted(made.faults)}.")
        return
    nodes = sum(not node.is_note for node in made.flow.nodes)
    answer(f"{made.flow.name or 'Flow'}: {nodes} nodes, {len(made.flow.edges)} edges; {counted(made.faults)}.")
    answer(ascii_graph(made.flow))
    if target is not None:
        answer(f"Written to {target}.")


def _tell_result(result: "RunResult") -> None:
    from cli.output.streams import answer, encoded, note

    if result.output is not None:
        answer(result.output)
    elif result.ok or result.outputs:
        answer(encoded(dict(result.outputs)))
    if result.error is not None:
        where = f"{result.error.node}: " if result.error.node else ""
        note(f"The run failed ({result.error.code}): {where}{result.error.message} {result.error.fix}".rstrip())
