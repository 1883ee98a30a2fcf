"""How `flow run` runs a batch: on this machine, or at a server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from cli.errors import FAILED, BadUsage
from cli.output.faults import has_errors, note_faults
from cli.remote.option import server_at

if TYPE_CHECKING:
    from cli.jobs.batch import BatchOptions
    from runtime.options import RunOptions
    from runtime.runner import Runner

REMOTE_SECONDS: Final = 600.0
"""The longest time of a run that may be asked of a server."""


def batch_options(
    batch: Path | None,
    text: str | None,
    out: Path | None,
    ceiling_tokens: int | None,
    *,
    estimate: bool,
    retry_failed: bool,
    as_json: bool,
) -> BatchOptions | None:
    """How a batch is run; None without one.

    Raises:
        BadUsage: an option is given that needs `--batch` or does not go with it, one is missing, or its file is wrong.
    """
    if batch is None:
        for name, value in {
            "--out": out,
            "--ceiling-tokens": ceiling_tokens,
            "--estimate": estimate,
            "--retry-failed": retry_failed,
        }.items():
            if value:
                raise BadUsage("usage", f"{name} belongs to --batch.", fix="Add --batch inputs.jsonl.", where=name)
        return None
    from cli.jobs.batch import BatchOptions, needs_out
    from cli.jobs.inputs import read_inputs
    from cli.output.files import writable

    if text is not None:
        fix = "Leave --input out: each line of the file has its own."
        raise BadUsage("usage", "--input does not go with --batch.", fix=fix, where="--input")
    out = writable(None if out is None else str(out))
    options = BatchOptions(read_inputs(batch), batch, out, ceiling_tokens, estimate, retry_failed, as_json)
    needs_out(options)
    return options


def run_batch(
    f: str,
    asked: BatchOptions,
    options: RunOptions,
    wanted: Any,
    *,
    components: str | None,
    server: str | None,
    runner_of: Callable[[int], Runner],
) -> None:
    """Run a batch, and print what came of it.

    Args:
        f: the flow.
        asked: how the batch is run.
        options: those of every run.
        wanted: the values of `--tweak`.
        components: the folder of the flow's own components.
        server: the server, if one is named.
        runner_of: makes what runs so many flows at the same time on this machine.
    """
    from cli.flow.tweaks import placed_tweaks
    from cli.jobs.server_batch import run_at_server
    from server.routes.jobs.batches import BatchRequest

    if (remote := server_at(server)) is not None:
        from cli.remote.run import stored_flow
        from flows.document import Flow

        if options.timeout > REMOTE_SECONDS:
            fix = f"Name at most {REMOTE_SECONDS:.0f} seconds."
            raise BadUsage("bad_value", "A server runs no flow for so long.", fix=fix, where="--timeout")
        flow_id, loaded = stored_flow(remote, f)
        session = options.session
        inputs = [one.model_copy(update={"session_id": one.session_id or session}) for one in asked.inputs]
        request = BatchRequest(
            inputs=inputs[:1],
            timeout=options.timeout,
            tweaks=placed_tweaks(wanted, loaded),
            allow_hosts=tuple(options.hosts),
            ceiling_tokens=asked.ceiling_tokens,
            estimate=asked.estimate,
        ).model_copy(update={"inputs": inputs})  # which may be more than one request has
        run_at_server(remote, flow_id, loaded.flow or Flow.empty(), request, asked)
        return
    _run_here(f, asked, options, wanted, components, runner_of)


def _run_here(
    f: str,
    asked: BatchOptions,
    options: RunOptions,
    wanted: Any,
    components: str | None,
    runner_of: Callable[[int], Runner],
) -> None:
    from dataclasses import replace

    from agent.settings import AssistantSettings
    from cli.database import opened_database
    from cli.files.local import LocalVariables, local_files
    from cli.flow.components import inspect_all
    from cli.flow.sessions import session_key
    from cli.flow.source import all_faults, load_flow
    from cli.flow.tweaks import checked_tweaks
    from cli.jobs.batch import LocalBatch, print_batched, print_estimate
    from cli.settings import settings_of
    from flows.catalogue import Catalogue
    from flows.document import Flow
    from runtime.files.folders import LOCAL_USER
    from runtime.usage.log import UsageLog
    from server.routes.jobs.batches import BatchEstimate

    places = settings_of(AssistantSettings).concurrency

    async def estimated(flow: Flow, catalogue: Catalogue | None) -> BatchEstimate:
        from dataclasses import asdict

        from runtime.gateway.prices import price_of

        async with opened_database() as database:
            await database.open()
            from runtime.jobs.estimates import estimate

            default = settings_of(AssistantSettings).model
            price = price_of(flow, catalogue or Catalogue.load(), default)
            found = await estimate(database, LOCAL_USER, session_key(f, flow), len(asked.inputs), price)
            return BatchEstimate.model_validate(asdict(found))

    with asyncio.Runner() as loop:
        runner = runner_of(places)
        try:
            loaded, catalogue = load_flow(
                f, components=components, inspect=lambda texts: loop.run(inspect_all(texts, runner))
            )
            faults = all_faults(loaded, catalogue)
            note_faults(faults)
            flow = loaded.flow
            if flow is None or has_errors(faults):
                raise typer.Exit(FAILED)
            if asked.estimate:
                print_estimate(loop.run(estimated(flow, catalogue)), as_json=asked.as_json)
                return
            tweaks = {} if catalogue is None else checked_tweaks(wanted, loaded, catalogue)
            options = replace(options, tweaks=tweaks, files=local_files(), variables=LocalVariables())

            async def work() -> Any:
                async with opened_database() as database:
                    usage = UsageLog(database)
                    try:
                        batch = LocalBatch(asked, flow.raw)
                        return await batch.run(
                            lambda text, own: runner.execute(flow, text, own), options, places, usage
                        )
                    finally:
                        await usage.aclose()

            batched = loop.run(work())
        finally:
            loop.run(runner.aclose())
    print_batched(batched, as_json=asked.as_json)
