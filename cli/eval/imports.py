"""`wirewright eval import`: external benchmarks as scenarios."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import BadUsage
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.streams import print_json, print_result

if TYPE_CHECKING:
    from cli.documents.evals import ImportedScenario
    from evals.imports.chat2workflow.scenarios import Imported

commands = CommandGroup("Import an external benchmark as scenarios.")


@commands.callback()
def group() -> None:
    """Import an external benchmark as scenarios."""


@commands.add(
    "chat2workflow",
    "wirewright eval import chat2workflow --queries query.json \\\n      --checks checks.json --out rounds",
)
def chat2workflow(
    queries: Annotated[str, typer.Option(metavar="FILE", help="The tasks, query.json.")],
    checks: Annotated[str, typer.Option(metavar="FILE", help="Their checks, check_pass_stage.json.")],
    out: Annotated[str, typer.Option(metavar="DIR", help="Where the scenarios go: a new or empty folder.")],
    resolve: Annotated[
        str | None, typer.Option(metavar="FILE", help="The wanted file endings, check_resolve_stage.json.")
    ] = None,
    files: Annotated[str | None, typer.Option(metavar="DIR", help="The files that tests hand in, case_files.")] = None,
    *,
    as_json: Json = False,
) -> None:
    """Make a scenario of every round of Chat2Workflow's tasks, and list what could not be carried over."""
    from cli.documents.evals import ScenariosImported
    from evals.imports.chat2workflow.format import ImportFormatError, read_checks, read_queries
    from evals.imports.chat2workflow.scenarios import convert_tasks
    from evals.imports.writer import write
    from evals.scenarios.loader import ScenarioError

    if files is not None and not Path(files).is_dir():
        raise BadUsage(
            "unreadable", f"{files} is not a directory.", fix="Name the directory of the files.", where="--files"
        )
    try:
        rounds = read_checks(Path(checks), None if resolve is None else Path(resolve))
        imported, left_out = convert_tasks(read_queries(Path(queries)), rounds, None if files is None else Path(files))
        write(Path(out), imported)
    except (ImportFormatError, ScenarioError) as fault:
        fix = "Correct it; everything before it is valid."
        raise BadUsage("bad_import", f"{fault.place}: {fault.message}.", fix=fix, where=fault.place) from None
    if as_json:
        print_json(ScenariosImported(folder=out, scenarios=[_plain(one) for one in imported], left=left_out))
        return
    for one in imported:
        print_result(f"{one.scenario.id}  {len(one.scenario.turns)} turns, {len(one.scenario.probes)} probes")
        for note in one.notes:
            print_result(f"  changed: {note}")
    for line in left_out:
        print_result(f"left out: {line}")
    print_result(
        f"{len(imported)} scenarios; play them with: wirewright eval --scenarios {out} run --player provider:name"
    )


def _plain(one: "Imported") -> "ImportedScenario":
    from cli.documents.evals import ImportedScenario

    scenario = one.scenario
    return ImportedScenario(
        id=scenario.id,
        turns=len(scenario.turns),
        probes=len(scenario.probes),
        expected=[list(types) for types in scenario.expect.one_of],
        criteria=len(scenario.criteria),
        files=sorted(scenario.files),
        notes=list(one.notes),
    )
