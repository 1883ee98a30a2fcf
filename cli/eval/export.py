"""`wirewright eval export`: send a scored journal to Logfire, or any OpenTelemetry endpoint, as experiments."""

import asyncio
import os
from typing import TYPE_CHECKING

import typer

from cli.engine import ready_catalogue
from cli.errors import FAILED, BadUsage, CommandError
from cli.eval.play.options import Journal, ScenarioIds
from cli.eval.play.selection import all_scenarios, attempts_of, readable, scored
from cli.options import Json
from cli.output.streams import print_json, print_result

if TYPE_CHECKING:
    from evals.attempt import Attempt
    from evals.exports.experiments import Experiment
    from evals.score import Verdict

DESTINATIONS = ("LOGFIRE_TOKEN", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""The variables that say where spans go; without any of them, nothing is sent."""

FLUSH_SECONDS = 30
"""How long to wait until everything is sent."""


def export(
    journal: Journal,
    scenario: ScenarioIds = None,
    *,
    as_json: Json = False,
) -> None:
    """Send the scored attempts of a journal as experiments, one per player; nothing is played.

    They go where LOGFIRE_TOKEN or OTEL_EXPORTER_OTLP_ENDPOINT says. Texts go with them only when
    WIREWRIGHT_TRACE_CONTENT is true.
    """
    from agent.settings import AssistantSettings
    from cli.documents.evals import Exported
    from cli.settings import settings_of
    from evals.exports import MissingExtra

    if not any(os.environ.get(name) for name in DESTINATIONS):
        fix = "Set LOGFIRE_TOKEN, or OTEL_EXPORTER_OTLP_ENDPOINT."
        raise BadUsage("no_destination", "Nothing says where to send the experiments.", fix=fix, where="environment")
    content = settings_of(AssistantSettings).trace_content
    attempts = attempts_of(readable(journal), scenario)
    if not attempts:
        raise BadUsage("no_attempts", "There is nothing to send.", fix="Name a journal with attempts.", where=journal)
    verdicts = scored(attempts, ready_catalogue())
    try:
        found, sent = asyncio.run(_sent(attempts, verdicts, content=content))
    except MissingExtra as missing:
        raise CommandError("extra_needed", f"{missing}.", fix="Install wirewright[evals].") from None
    if as_json:
        print_json(Exported(ok=sent, content=content, experiments=found))
    else:
        for one in found:
            print_result(_line(one))
        print_result(f"Sent {'with' if content else 'without'} texts." if sent else "Not everything was sent in time.")
    if not sent:
        raise typer.Exit(FAILED)


async def _sent(
    attempts: "list[Attempt]", verdicts: "list[Verdict]", *, content: bool
) -> "tuple[list[Experiment], bool]":
    import logfire

    from evals.exports.experiments import experiments

    logfire.configure(
        send_to_logfire="if-token-present", console=False, service_name="wirewright", inspect_arguments=False
    )
    found = await experiments(all_scenarios(), attempts, verdicts, content=content)
    return found, await asyncio.to_thread(logfire.force_flush, FLUSH_SECONDS * 1000)


def _line(one: "Experiment") -> str:
    rest = f", {one.left_out} left out: the harness failed" if one.left_out else ""
    trace = "" if one.trace_id is None else f"  trace {one.trace_id}"
    return f"{one.name}: {one.passed} of {one.cases} pass{rest}{trace}"
