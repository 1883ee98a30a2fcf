"""`wirewright eval list` and `eval show`: the scenarios, and the attempts at one."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from cli.engine import ready_catalogue
from cli.errors import FAILED
from cli.eval.play.options import PackName, SplitName, Tags
from cli.eval.play.selection import attempts_of, readable, scored, select, use_pack
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli.documents.evals import ScenarioBrief
    from evals.scenario import Scenario
    from evals.scenarios.validation import InvalidFlow


def list_scenarios(
    tag: Tags = None,
    split: SplitName = None,
    check: Annotated[  # noqa: FBT002  (a flag of the command line)
        bool,
        typer.Option("--check", help="Build every flow of the scenarios; exit 1 and name those that do not build."),
    ] = False,
    pack: PackName = None,
    *,
    as_json: Json = False,
) -> None:
    """List the scenarios."""
    use_pack(pack)
    from cli.documents.evals import ScenarioList

    scenarios = select([], tag or [], split)
    faults = asyncio.run(_invalid(scenarios)) if check else []
    if as_json:
        document = ScenarioList(scenarios=[_brief(scenario) for scenario in scenarios])
        if check:
            document["faults"] = faults
        print_json(document)
    else:
        print_rows((one.id, f"[{', '.join((one.split, *one.tags))}] {one.about}") for one in scenarios)
        for fault in faults:
            print_result(f"{fault.scenario}: {fault.place} does not build: {fault.message}")
        print_result(f"{len(scenarios)} scenarios")
    if faults:
        raise typer.Exit(FAILED)


async def _invalid(scenarios: "Sequence[Scenario]") -> "list[InvalidFlow]":
    """The flows that do not build; the engine is started only when a scenario brings components."""
    from cli.eval.play.environment import play_environment
    from evals.scenarios.validation import invalid_flows

    if not any(scenario.components for scenario in scenarios):
        return await invalid_flows(scenarios, await asyncio.to_thread(ready_catalogue))
    async with play_environment(1) as environment:
        return await invalid_flows(scenarios, environment.catalogue, environment.runner)


def show(
    scenario: Annotated[str, typer.Argument(metavar="ID", help="The scenario.")],
    journal: Annotated[
        str | None, typer.Option("--in", metavar="JOURNAL", help="Show the attempts at it in this journal.")
    ] = None,
    pack: PackName = None,
    *,
    as_json: Json = False,
) -> None:
    """Show a scenario, and the attempts at it."""
    use_pack(pack)
    from cli.documents.evals import PlayedAttempt, ScenarioShown

    (found,) = select([scenario], [])
    attempts = [] if journal is None else attempts_of(readable(journal), [found.id])
    attempts.sort(key=lambda attempt: (attempt.scenario, attempt.repeat, attempt.player))
    verdicts = scored(attempts, ready_catalogue()) if attempts else []
    if as_json:
        played = [
            PlayedAttempt(attempt=attempt, verdict=verdict) for attempt, verdict in zip(attempts, verdicts, strict=True)
        ]
        print_json(ScenarioShown(scenario=found, played=played))
        return
    from evals.report.plain_text import attempt_lines, scenario_lines

    for line in scenario_lines(found):
        print_result(line)
    for attempt, verdict in zip(attempts, verdicts, strict=True):
        for line in attempt_lines(found, attempt, verdict):
            print_result(line)


def _brief(scenario: "Scenario") -> "ScenarioBrief":
    from cli.documents.evals import ScenarioBrief

    return ScenarioBrief(
        id=scenario.id,
        about=scenario.about,
        split=scenario.split,
        tags=list(scenario.tags),
        turns=len(scenario.turns),
        alternatives=len(scenario.alternatives),
        wrong=len(scenario.wrong),
        probes=len(scenario.probes),
        digest=scenario.digest,
    )
