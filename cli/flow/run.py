"""`wirewright flow run`: one run of a flow on the real engine."""

import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import FAILED, BadUsage
from cli.flow.components import ComponentsFolder, inspect_all
from cli.flow.sessions import session_key, stored_sessions
from cli.flow.tweaks import checked_tweaks, placed_tweaks, read_tweaks
from cli.jobs.options import BatchFile, BatchOut, Ceiling, EstimateOnly, RetryFailed
from cli.langflow.servers import ConnectionName, OnLangflow
from cli.options import AllowHost, Json
from cli.output.faults import count_in_words, has_errors, note_faults
from cli.output.streams import encoded, print_json, print_message, print_result, progress
from cli.remote.option import ServerAddress, here_alone, server_at

if TYPE_CHECKING:
    from cli.documents.running import Ran
    from cli.flow.source import LoadedFlow
    from flows.document import Flow
    from flows.faults import Fault
    from runtime.options import OnEvent, RunOptions
    from runtime.results import RunResult
    from runtime.run_events import RunEvent
    from runtime.runner import Runner

RUN_SECONDS = 60.0
FlowToRun = Annotated[
    str,
    typer.Argument(
        metavar="F",
        help="Langflow JSON or spec text: a file, or - for standard input. With --server or --langflow a flow "
        "there, by id or name.",
    ),
]

_NO_ENGINE = frozenset({"engine_unavailable", "catalogue_missing"})
"""Fault codes that are not about the flow."""


def run(
    f: FlowToRun,
    text: Annotated[str | None, typer.Option("--input", metavar="T", help="The text to type into the chat.")] = None,
    timeout: Annotated[float, typer.Option(metavar="S", help="Seconds that the run may take.")] = RUN_SECONDS,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="The session id that the flow sees; its runs share their messages.")
    ] = None,
    tweak: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NODE.FIELD=VALUE",
            help="A value for this run alone; NODE is an id or a display name. May be repeated.",
        ),
    ] = None,
    allow_host: AllowHost = None,
    components: ComponentsFolder = None,
    server: ServerAddress = None,
    connection: ConnectionName = None,
    *,
    langflow: OnLangflow = False,
    events: Annotated[bool, typer.Option("--events", help="Report when each node starts and finishes.")] = False,
    batch: BatchFile = None,
    out: BatchOut = None,
    ceiling_tokens: Ceiling = None,
    retry_failed: RetryFailed = False,
    estimate: EstimateOnly = False,
    as_json: Json = False,
) -> None:
    """Run a flow once on the real engine and print its output. With --json, events are lines before the result."""
    import asyncio

    from cli.files.local import LocalVariables, local_files
    from cli.flow.source import all_faults, load_flow
    from cli.jobs.flow_batch import REMOTE_SECONDS, batch_options, run_batch
    from runtime.options import RunOptions

    if not (math.isfinite(timeout) and timeout > 0):
        raise BadUsage("bad_value", "--timeout must be a positive number of seconds.", fix="Try 60.", where="--timeout")
    wanted = read_tweaks(tweak or [])
    hosts = approved_hosts(allow_host or [])
    if langflow:
        _refuse_there(components=components, server=server, events=events, allow_host=allow_host)
        from cli.langflow.run import run_there

        result = run_there(f, text, connection=connection, session=session, tweaks=wanted, seconds=timeout)
        _print_end(result, as_json=as_json)
        return
    here_alone(server, components=components)
    asked = batch_options(
        batch, text, out, ceiling_tokens, estimate=estimate, retry_failed=retry_failed, as_json=as_json
    )
    if asked is not None:
        options = RunOptions(timeout=timeout, session=session, hosts=hosts)
        run_batch(f, asked, options, wanted, components=components, server=server, runner_of=runner_of_settings)
        return
    if (remote := server_at(server)) is not None:
        from agent.contract.requests import RunRequest
        from cli.remote.run import run_stored, stored_flow

        if timeout > REMOTE_SECONDS:
            fix = f"Name at most {REMOTE_SECONDS:.0f} seconds."
            raise BadUsage("bad_value", "A server runs no flow for so long.", fix=fix, where="--timeout")
        flow_id, loaded = stored_flow(remote, f)
        request = RunRequest(
            input_value=text,
            timeout=timeout,
            session_id=session,
            tweaks=placed_tweaks(wanted, loaded),
            allow_hosts=hosts,
            stream=True,
        )
        on_event = event_printer(loaded, as_json=as_json) if events else None
        _print_end(asyncio.run(run_stored(remote, flow_id, request, on_event)), as_json=as_json)
        return
    with asyncio.Runner() as loop:  # one engine makes the flow's own components and then runs it
        runner = runner_of_settings()
        try:
            loaded, catalogue = load_flow(
                f, components=components, inspect=lambda texts: loop.run(inspect_all(texts, runner))
            )
            faults = all_faults(loaded, catalogue)
            if loaded.flow is None or has_errors(faults):
                if as_json:
                    document = result_json(not_run(faults))
                    document["faults"] = faults
                    print_json(document)
                else:
                    note_faults(faults)
                raise typer.Exit(FAILED)
            tweaks = {} if catalogue is None else checked_tweaks(wanted, loaded, catalogue)
            on_event = event_printer(loaded, as_json=as_json) if events else None
            options = RunOptions(
                timeout=timeout,
                session=session,
                tweaks=tweaks,
                on_event=on_event,
                files=local_files(),
                variables=LocalVariables(),
                hosts=hosts,
            )
            work = _run(runner, session_key(f, loaded.flow), loaded.flow, text, options)
            result = written(loaded, loop.run(work))
        finally:
            loop.run(runner.aclose())
    if not as_json:
        note_faults(faults)
    _print_end(result, as_json=as_json)


def _refuse_there(**given: object) -> None:
    """Refuse options that have no counterpart in a Langflow.

    Raises:
        BadUsage: one of them is given.
    """
    for name, value in given.items():
        if value:
            option = f"--{name.replace('_', '-')}"
            message = f"{option} does not go with --langflow."
            raise BadUsage("not_on_langflow", message, fix="Leave one of them out.", where=option)


def _print_end(result: "RunResult", *, as_json: bool) -> None:
    """Print the result of a run; one that failed ends the command."""
    if as_json:
        print_json(result_json(result))
    else:
        _print_result(result)
    if not result.ok:
        raise typer.Exit(FAILED)


async def _run(runner: "Runner", key: str, flow: "Flow", text: str | None, options: "RunOptions") -> "RunResult":
    """Run a flow, and keep it in the log of runs; in a session, with the messages that its earlier runs have left."""
    from cli.runs import run_log
    from runtime.files.folders import LOCAL_USER
    from runtime.sessions.run_entry import RunEntry

    session = options.session_name
    if session is None:
        result = await runner.execute(flow, text, options)
    else:
        async with stored_sessions() as sessions:
            memory = sessions.memory(LOCAL_USER, key, session)
            result = await runner.execute(flow, text, replace(options, memory=memory))
    entry = RunEntry.of(result, text, flow=key, name=flow.name or "Untitled Flow", source="cli", session=session)
    async with run_log() as log:
        log.record(LOCAL_USER, entry, result)
    await _count(result)
    return result


async def _count(result: "RunResult") -> None:
    """Count what a run used."""
    from cli.database import opened_database
    from runtime.files.folders import LOCAL_USER
    from runtime.usage.log import UsageLog
    from runtime.usage.runs import usage_of_run

    async with opened_database() as database:
        usage = UsageLog(database)
        usage.record(LOCAL_USER, usage_of_run(result))
        await usage.aclose()


def approved_hosts(hosts: list[str]) -> tuple[str, ...]:
    """The hosts that `--allow-host` names.

    Raises:
        BadUsage: one of them cannot be read.
    """
    from runtime.egress.hosts import UnreadableHost, read_hosts

    try:
        read_hosts(hosts)
    except UnreadableHost as error:
        raise BadUsage("bad_value", str(error), fix="Try api.example.com:443.", where="--allow-host") from None
    return tuple(hosts)


def not_run(faults: "list[Fault]") -> "RunResult":
    """The result of a flow that was not run because of its faults."""
    from runtime.results import RunError, RunMetrics, RunResult

    first = next(fault for fault in faults if fault.is_error)
    many = len([fault for fault in faults if fault.is_error]) > 1
    message = f"Not run: {count_in_words(faults)}. The first: {first.message}" if many else f"Not run: {first.message}"
    code = "crash" if first.code in _NO_ENGINE else "wiring"
    error = RunError(code=code, message=message, fix=first.fix, node=first.node)
    return RunResult(run_id="", output=None, outputs={}, metrics=RunMetrics(seconds=0.0), error=error)


def runner_of_settings(places: int = 1) -> "Runner":
    """A runner as the settings say; it starts when it is first needed, and notes its progress.

    Args:
        places: how many flows it runs at the same time.
    """
    from agent.models.flow_models import flow_models
    from agent.settings import AssistantSettings
    from cli.files.local import local_keys
    from cli.settings import settings_of
    from runtime.runner import Runner

    settings = settings_of(AssistantSettings)
    keys = cache(local_keys)
    models = flow_models(settings.model, environment=lambda: keys().flow_environment())
    runner = Runner(
        concurrency=places,
        models=models,
        allow_variables=settings.run_variables,
        private_hosts=settings.run_hosts,
        host_rule=settings.run_network,
        confinement=settings.run_confinement,
    )
    runner.on_progress = progress()
    return runner


def event_printer(loaded: "LoadedFlow", *, as_json: bool) -> "OnEvent":
    """Prints each event: a line of JSON on standard output, or text for people on standard error."""
    from runtime.run_events import EventsCut

    def show(event: "RunEvent") -> None:
        if not isinstance(event, EventsCut):
            event = event.model_copy(update={"node": loaded.name(event.node)})
        if as_json:
            print_json(event)
        else:
            print_message(_words(event))

    return show


def result_json(result: "RunResult") -> "Ran":
    """A result as a JSON document."""
    from cli.documents.running import Ran

    document = Ran(
        ok=result.ok,
        output=result.output,
        outputs=dict(result.outputs),
        types=dict(result.types),
        metrics=result.metrics,
        error=result.error,
    )
    if result.files:
        document["files"] = list(result.files)
    if result.hosts:
        document["hosts"] = list(result.hosts)
    if result.missing_protections:
        document["missing_protections"] = list(result.missing_protections)
    return document


def written(loaded: "LoadedFlow", result: "RunResult") -> "RunResult":
    """A result with the ids that the source writes."""
    outputs = {loaded.name(node): value for node, value in result.outputs.items()}
    types = {loaded.name(node): value for node, value in result.types.items()}
    error = result.error
    if error is not None:
        node = None if error.node is None else loaded.name(error.node)
        error = replace(error, node=node, message=loaded.in_words(error.message), fix=loaded.in_words(error.fix))
    return replace(result, outputs=outputs, types=types, error=error)


def _words(event: "RunEvent") -> str:
    match event.event:
        case "node_started":
            return f"{event.node} started{_again(event.iteration)}"
        case "node_finished":
            done = "finished" if event.ok else "failed"
            return f"{event.node} {done}{_again(event.iteration)} after {event.seconds:.2f} s"
        case "token":
            return f"{event.node}: {event.text}"
        case "waiting":
            return f"{event.node}: its model asks to wait {event.seconds:.0f} s"
        case "cut":
            return "There are more events than are shown."


def _again(iteration: int) -> str:
    return f" (time {iteration})" if iteration > 1 else ""


def _print_result(result: "RunResult") -> None:
    if result.output is not None:
        print_result(result.output)
    elif result.ok or result.outputs:
        print_result(encoded(dict(result.outputs)))
    for file in result.files:
        print_message(f"{'Wrote' if file.new else 'Replaced'} {file.path} ({file.size} bytes).")
    if result.hosts:
        from runtime.egress.words import hosts_in_words

        print_message(f"Hosts of the run: {hosts_in_words(result.hosts)}.")
    if result.missing_protections:
        print_message(f"This machine lacks what usually confines a run: {', '.join(result.missing_protections)}.")
    if result.error is not None:
        where = f"{result.error.node}: " if result.error.node else ""
        print_message(
            f"The run failed ({result.error.code}): {where}{result.error.message} {result.error.fix}".rstrip()
        )
