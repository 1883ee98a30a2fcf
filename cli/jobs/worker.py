"""`wirewright worker`: does the jobs that wait in the queues of a shared Postgres."""

import asyncio
import gc
from typing import Annotated

import typer

from cli.errors import BadUsage, CommandError
from cli.options import Json
from cli.output.streams import print_json, print_message


def worker(
    queues: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="The queues that it works for, separated by commas; all without."),
    ] = None,
    places: Annotated[
        int | None, typer.Option(min=1, max=256, metavar="N", help="How many jobs it does at the same time.")
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Do jobs that wait, until SIGTERM: turns, runs, batches and evaluations. Start as many as are needed."""
    from cli.database import store_errors
    from cli.documents.running import Working
    from cli.settings import settings_of
    from flows.gc_pause import SurvivorsFrozen
    from runtime.jobs.job import QUEUES, QueueName
    from server.jobs.process import CannotWork, work
    from server.settings import ServerSettings
    from server.telemetry.logs import configure_logs

    wanted = [name.strip() for name in (",".join(QUEUES) if queues is None else queues).split(",") if name.strip()]
    chosen: list[QueueName] = [queue for queue in QUEUES if queue in wanted]
    unknown = [name for name in wanted if name not in QUEUES]
    if unknown or not chosen:
        message = f"There is no queue {unknown[0][:60]!r}." if unknown else "No queue is named."
        raise BadUsage("bad_value", message, fix=f"There are: {', '.join(QUEUES)}.", where="--queues")
    settings = settings_of(ServerSettings, job_places=places)

    def ready(name: str) -> None:
        if as_json:
            print_json(Working(event="working", worker=name, queues=[*chosen], places=settings.job_places))
        else:
            print_message(f"Worker {name} takes {settings.job_places} jobs at once from: {', '.join(chosen)}.")

    async def working() -> None:
        if "evals" not in chosen:
            await work(settings, chosen, ready)
            return
        from cli.eval.play.attempt_jobs import AttemptJobs

        attempts = AttemptJobs(settings.job_places)
        try:
            await work(settings, chosen, ready, {"attempt": attempts.attempt})
        finally:
            await attempts.aclose()

    configure_logs("json" if as_json else settings.log)
    try:
        with store_errors(), SurvivorsFrozen():
            asyncio.run(working())
    except CannotWork as unable:
        raise CommandError("cannot_work", unable.message, fix=unable.fix) from None
    finally:
        gc.freeze()  # what is left ends with the process: to look through it once more takes seconds
