"""`wirewright eval report`: a play as one HTML page, or as Markdown, JSON, CSV or JUnit XML."""

import importlib.util
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from cli.engine import ready_catalogue
from cli.errors import BadUsage, CommandError
from cli.eval.play.options import Journal, PackName
from cli.eval.play.selection import (
    all_scenarios,
    attempts_of,
    check_player,
    gate_of,
    readable,
    use_pack,
    verdicts_of,
)
from cli.options import Json
from cli.output.files import note_replaced, writable, write_text
from cli.output.streams import print_json, print_message, print_result

if TYPE_CHECKING:
    from cli.documents.evals import Reported
    from evals.fix.records import Fix
    from evals.report.formats.writer import Form
    from evals.report.model import Material
    from evals.report.play import Play


def report(
    journal: Journal,
    baseline: Annotated[
        str | None, typer.Option(metavar="FILE", help="Compare with the scores or attempts of an earlier play.")
    ] = None,
    baseline_player: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Compare every player with this one of the baseline; by default players are matched by name.",
        ),
    ] = None,
    fixes: Annotated[
        str | None, typer.Option(metavar="FILE", help="Show the smallest fixes that `eval fix --out` wrote.")
    ] = None,
    gate: Annotated[
        str | None, typer.Option(metavar="FILE", help="Show what a gate, as of `eval run --gate`, decides.")
    ] = None,
    out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Write the report there: .html, .md, .json, .csv or .xml (JUnit); may be given several times.",
        ),
    ] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="What the report is called.")] = "Evaluation report",
    pack: PackName = None,
    *,
    as_json: Json = False,
) -> None:
    """Report a play: figures with intervals, every attempt with its conversation and canvas, compared with a baseline.

    Without --out the report is printed as Markdown; with --json, as one JSON document. It exits 0 whatever it says.
    """
    use_pack(pack)
    if importlib.util.find_spec("jinja2") is None:
        fix = "Install Wirewright with its extra: wirewright[evals]."
        raise CommandError("missing_package", "Reports need the package jinja2.", fix=fix)
    from evals.report.formats.documents import summary
    from evals.report.formats.writer import render_report
    from evals.report.model import gather

    targets = [_target(name) for name in out or []]
    material = material_of(
        journal, baseline=baseline, baseline_player=baseline_player, fixes=fixes, gate=gate, title=title
    )
    for target, form in targets:
        note_replaced(target)
        _write(target, form, material)
        print_message(f"Written to {target}.")
    if as_json:
        print_json(cast("Reported", summary(gather(material, None))))
    elif not targets:
        print_result(render_report("md", material).rstrip())


def material_of(
    journal: str,
    *,
    baseline: str | None = None,
    baseline_player: str | None = None,
    fixes: str | None = None,
    gate: str | None = None,
    title: str,
    scenarios: Collection[str] | None = None,
) -> "Material":
    """What a report is made from.

    Args:
        scenarios: the ids of those that are reported; all without any.

    Raises:
        BadUsage: when a file cannot be used.
    """
    from evals.report.model import Material

    path, judging = readable(journal), gate_of(gate)
    earlier = None if baseline is None else readable(baseline)
    before = [] if earlier is None else verdicts_of(earlier)
    if baseline_player is not None:
        check_player(baseline_player, before, "The baseline", "--baseline-player")
    play = _play(path, scenarios)
    return Material(
        play=play,
        catalogue=ready_catalogue(),
        baseline=before,
        baseline_name="" if earlier is None else earlier.name,
        baseline_player=baseline_player or "",
        fixes=_fixes(fixes, play),
        gate=judging,
        gate_name="" if gate is None else Path(gate).name,
        title=title,
    )


def _fixes(name: str | None, play: "Play") -> "list[Fix]":
    """The fixes in a file; those of other attempts than the journal's are left out with a note."""
    from evals.fix.records import Fix
    from evals.jsonl import JsonLines, JsonLinesError

    if name is None:
        return []
    path = readable(name)
    try:
        found = list(JsonLines(path, Fix).read())
    except (JsonLinesError, UnicodeDecodeError) as error:
        fix = "Name a file of `eval fix --out`."
        raise BadUsage("bad_fixes", f"{error}.", fix=fix, where="--fixes") from None
    keys = {entry.attempt.key for entry in play.entries}
    shown = [fix for fix in found if fix.key in keys]
    if len(shown) < len(found):
        others = f"{len(found) - len(shown)} of the {len(found)} fixes in {path.name}"
        print_message(f"{others} are not for attempts of this journal and are not shown.")
    return shown


def _target(name: str) -> "tuple[Path, Form]":
    from evals.report.formats.writer import FORMS

    path = writable(name)
    form = FORMS.get(Path(name).suffix.lower())
    if path is None or form is None:
        fix = "Name a file that ends with .html, .md, .json, .csv or .xml."
        raise BadUsage("bad_form", f"A report cannot be written as {name}.", fix=fix, where="--out")
    return path, form


def _play(path: Path, scenarios: Collection[str] | None = None) -> "Play":
    from evals.report.play import score_play
    from evals.scenarios.flows import BadFlow
    from evals.score import UnknownScenario

    _refuse_scores(path)
    attempts = attempts_of(path, scenarios)
    if not attempts:
        fix = "Play first: wirewright eval run --out attempts.jsonl."
        raise BadUsage("empty_journal", f"{path.name} holds no attempts.", fix=fix, where=path.name)
    try:
        return score_play(all_scenarios(), attempts, ready_catalogue())
    except UnknownScenario as unknown:
        raise BadUsage("other_scenario", unknown.message, fix=unknown.fix, where=path.name) from None
    except BadFlow as bad:
        fix = "Correct the scenario, or install the engine it is for: wirewright runner install."
        raise BadUsage("bad_scenario", f"A reference flow does not build: {bad}", fix=fix) from None


def _refuse_scores(path: Path) -> None:
    """Refuse a file of scores, which could be read as attempts in which nothing was played."""
    from evals.analysis.tally import read_verdicts
    from evals.jsonl import JsonLinesError

    try:
        found = next(read_verdicts(path), None)
    except (JsonLinesError, UnicodeDecodeError):
        return
    if found is not None:
        fix = "Name the journal that they were scored from; scores serve as --baseline."
        raise BadUsage("bad_journal", f"{path.name} holds scores, not attempts.", fix=fix, where=path.name)


def _write(path: Path, form: "Form", material: "Material") -> None:
    from evals.report.formats.html import TooLarge
    from evals.report.formats.writer import render_report

    try:
        write_text(path, render_report(form, material))
    except TooLarge as large:
        raise CommandError(
            "too_large", str(large), fix="Report fewer attempts, or another form.", where="--out"
        ) from None
