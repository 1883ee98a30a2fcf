"""`wirewright eval export`: a scored journal in the forms that other tools read; nothing is played."""

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.engine import ready_catalogue
from cli.errors import FAILED, BadUsage, CommandError
from cli.eval.play.options import GateFile, Journal, PackName, ScenarioIds
from cli.eval.play.selection import all_scenarios, attempts_of, readable, scored, use_pack
from cli.eval.report import material_of
from cli.options import Json
from cli.output.files import note_replaced, writable, write_text
from cli.output.streams import print_json, print_message, print_result

if TYPE_CHECKING:
    from evals.attempt import Attempt
    from evals.exports.experiments import Experiment
    from evals.exports.writer import FolderForm
    from evals.score import Verdict

DESTINATIONS = ("LOGFIRE_TOKEN", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""The variables that say where spans go; without any of them, nothing is sent."""

FLUSH_SECONDS = 30
"""How long to wait until everything is sent."""

EXPERIMENTS = "experiments"
FORMS = (EXPERIMENTS, "inspect", "huggingface", "junit", "markdown")
"""What a journal can be exported to; the first is sent, the others are written."""


def export(
    journal: Journal,
    to: Annotated[
        str,
        typer.Option(
            metavar="FORM", help=f"One of: {', '.join(FORMS)}. Experiments are sent, the others are written to --out."
        ),
    ] = EXPERIMENTS,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A file for junit and markdown, a new folder for inspect and huggingface."),
    ] = None,
    scenario: ScenarioIds = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Markdown: begin with the differences to these scores or attempts."),
    ] = None,
    gate: GateFile = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="What the report is called.")] = "Evaluation",
    pack: PackName = None,
    *,
    as_json: Json = False,
) -> None:
    """Export the scored attempts of a journal: as experiments, Inspect logs, a dataset, JUnit or Markdown.

    Experiments go where LOGFIRE_TOKEN or OTEL_EXPORTER_OTLP_ENDPOINT says; texts go with them only when
    WIREWRIGHT_TRACE_CONTENT is true.
    """
    use_pack(pack)
    if to not in FORMS:
        from flows.faults import did_you_mean

        fix = did_you_mean(to, FORMS, otherwise="known forms")
        raise BadUsage("bad_form", f"A journal cannot be exported to {to}.", fix=fix, where="--to")
    if (out is None) != (to == EXPERIMENTS):
        message = "Experiments are sent, not written." if to == EXPERIMENTS else f"An export to {to} needs --out."
        fix = "Leave --out away." if to == EXPERIMENTS else "Name where to write it."
        raise BadUsage("bad_target", message, fix=fix, where="--out")
    if (baseline is not None or gate is not None) and to not in ("junit", "markdown"):
        raise BadUsage("bad_value", f"{to} has no gate and no baseline.", fix="Leave them away.", where="--to")
    if to == EXPERIMENTS:
        _send(journal, scenario, as_json=as_json)
    elif to in ("inspect", "huggingface"):
        _write_folder(to, str(out), journal, scenario, title, as_json=as_json)
    else:
        _write_file(to, str(out), journal, scenario, baseline, gate, title, as_json=as_json)


def _attempts(journal: str, scenario: list[str] | None) -> "list[Attempt]":
    attempts = attempts_of(readable(journal), scenario)
    if not attempts:
        raise BadUsage("no_attempts", "There is nothing to export.", fix="Name a journal with attempts.", where=journal)
    return attempts


def _write_folder(
    form: "FolderForm", out: str, journal: str, scenario: list[str] | None, title: str, *, as_json: bool
) -> None:
    from evals.exports.recorded import recorded
    from evals.exports.writer import exported_files

    target = _empty_folder(out)
    attempts = _attempts(journal, scenario)
    players = recorded(all_scenarios(), attempts, scored(attempts, ready_catalogue()))
    written = datetime.fromtimestamp(Path(journal).stat().st_mtime, UTC)
    files = exported_files(form, players, title=title, written=written)
    for name, text in files.items():
        path = target / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            fix = "Name another folder."
            raise CommandError("unwritable", f"{path.parent} cannot be made.", fix=fix, where="--out") from None
        write_text(path, text)
    _say(form, target, sorted(files), as_json=as_json)


def _empty_folder(out: str) -> Path:
    """A folder that is not there yet, or is empty.

    Raises:
        BadUsage: it holds something, or cannot be made.
    """
    target = Path(out)
    if not target.is_dir():
        writable(out)
        if target.exists():
            raise BadUsage("unwritable", f"{out} is a file.", fix="Name a new folder.", where="--out")
    elif any(target.iterdir()):
        fix = "Name a new folder, or empty this one."
        raise BadUsage("not_empty", f"{out} is not empty.", fix=fix, where="--out")
    return target


def _write_file(
    form: str,
    out: str,
    journal: str,
    scenario: list[str] | None,
    baseline: str | None,
    gate: str | None,
    title: str,
    *,
    as_json: bool,
) -> None:
    from evals.report.formats.junit import as_junit
    from evals.report.formats.pull_request import as_pull_request
    from evals.report.model import gather

    target = writable(out)
    assert target is not None  # noqa: S101  (it has a name)
    material = material_of(journal, baseline=baseline, gate=gate, title=title, scenarios=scenario)
    found = gather(material, None)
    note_replaced(target)
    write_text(target, as_junit(found) if form == "junit" else as_pull_request(found))
    _say(form, target, [target.name], as_json=as_json)


def _say(form: str, target: Path, files: list[str], *, as_json: bool) -> None:
    from cli.documents.evals import Written

    if as_json:
        print_json(Written(ok=True, to=form, out=str(target), files=files))
    else:
        print_message(f"Written to {target}.")


def _send(journal: str, scenario: list[str] | None, *, as_json: bool) -> None:
    from agent.settings import AssistantSettings
    from cli.documents.evals import Exported
    from cli.settings import settings_of
    from evals.exports import MissingExtra

    if not any(os.environ.get(name) for name in DESTINATIONS):
        fix = "Set LOGFIRE_TOKEN, or OTEL_EXPORTER_OTLP_ENDPOINT; or write files: --to inspect --out DIR."
        raise BadUsage("no_destination", "Nothing says where to send the experiments.", fix=fix, where="environment")
    content = settings_of(AssistantSettings).trace_content
    attempts = _attempts(journal, scenario)
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
