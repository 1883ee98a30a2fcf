"""`wirewright eval mutate`: do the graders see the faults that are seeded into passing attempts?"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import FAILED, BadUsage
from cli.eval.play.options import Journal, PackName, ScenarioIds
from cli.eval.play.selection import all_scenarios, attempts_of, readable, use_pack
from cli.options import Json
from cli.output.columns import print_lines
from cli.output.streams import print_json, progress_bar

if TYPE_CHECKING:
    from cli.documents.evals import Mutated
    from evals.attempt import Attempt
    from evals.mutate.matrix import Matrix, Survivor
    from evals.mutate.trials import Trial


def mutate(
    journal: Journal,
    scenario: ScenarioIds = None,
    per_operator: Annotated[
        int, typer.Option(min=1, metavar="N", help="Mutants that one operator makes of one attempt.")
    ] = 1,
    floor: Annotated[
        float, typer.Option(min=0.0, max=1.0, metavar="SHARE", help="Exit 1 when a smaller share is killed.")
    ] = 0.95,
    accept: Annotated[
        str | None, typer.Option(metavar="FILE", help="Accepted survivors, instead of the built-in list.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Mutants at the same time.")] = 2,
    pack: PackName = None,
    *,
    as_json: Json = False,
) -> None:
    """Seed faults into the attempts that pass, run and score them, and show which evaluator sees which fault."""
    use_pack(pack)
    from evals.mutate.matrix import ALIKE, build_matrix, read_accepted

    attempts, accepted = attempts_of(readable(journal), scenario), _accepted(accept)
    found = asyncio.run(_tried(attempts, per_operator, concurrency))
    counted = build_matrix(found, accepted, read_accepted(ALIKE))
    rate = counted.kill_rate
    ok = rate is not None and rate >= floor and not counted.disturbed
    if as_json:
        print_json(_document(counted, floor, ok=ok))
    else:
        for line in _lines(counted):
            print_lines(line)
        for trial in counted.survivors:
            print_lines(f"survived {trial.id}: {trial.what}")
        for trial in counted.missed:
            print_lines(f"near miss passed {trial.id}: {trial.what}")
        for trial in counted.not_judged:
            print_lines(f"not judged {trial.id}: {trial.not_judged}")
        for trial in counted.disturbed:
            print_lines(f"false positive {trial.id}: {', '.join(trial.seen_by)}")
        open_survivors = _open(counted, {scenario.id for scenario in all_scenarios() if scenario.open})
        if open_survivors:
            print_lines(open_survivors)
        for name in counted.stale:
            print_lines(f"accepted, but no longer a survivor: {name}")
        print_lines(_summary(counted, floor))
    if not ok:
        raise typer.Exit(FAILED)


def _accepted(name: str | None) -> "tuple[Survivor, ...]":
    from evals.mutate.matrix import ACCEPTED, AcceptedError, read_accepted

    try:
        return read_accepted(ACCEPTED if name is None else Path(name))
    except AcceptedError as error:
        raise BadUsage("bad_list", f"{error}.", fix="Correct the file.", where="--accept") from None


async def _tried(attempts: "list[Attempt]", per_operator: int, concurrency: int) -> "list[Trial]":
    from cli.eval.play.environment import play_environment
    from evals.mutate.trials import prepare_mutants, run_trials

    scenarios = {scenario.id: scenario for scenario in all_scenarios()}
    async with play_environment(concurrency) as environment:
        mutants = prepare_mutants(scenarios, attempts, environment, per_operator)
        with progress_bar("trying mutants", len(mutants)) as advance:

            async def ended(_: "Trial") -> None:
                advance()

            return await run_trials(mutants, environment, concurrency=concurrency, on_trial=ended)


def _document(counted: "Matrix", floor: float, *, ok: bool) -> "Mutated":
    from cli.documents.evals import Mutant, Mutated

    def plain(trials: "tuple[Trial, ...]") -> list[Mutant]:
        return [Mutant(id=trial.id, operator=trial.operator, what=trial.what) for trial in trials]

    return Mutated(
        ok=ok,
        kill_rate=counted.kill_rate,
        floor=floor,
        operators=dict(counted.operators),
        survivors=plain(counted.survivors),
        accepted=plain(counted.accepted),
        stale=list(counted.stale),
        controls=counted.controls,
        disturbed=plain(counted.disturbed),
        turn_rate=counted.turn_rate,
        near_misses=dict(counted.near_misses),
        missed=plain(counted.missed),
        not_judged=plain(counted.not_judged),
    )


def _lines(counted: "Matrix") -> list[str]:
    """One line per operator: how many were tried and killed, and by which evaluators, most first."""
    found: list[str] = []
    for name, row in counted.operators.items():
        by = ", ".join(f"{evaluator} {count}" for evaluator, count in row.seen_by.items())
        found.append(f"{name:20} {row.killed:4} of {row.tried:4} killed, {row.failed:4} fail: {by}")
    for name, row in counted.near_misses.items():
        found.append(f"{name:20} {row.failed:4} of {row.tried:4} near misses fail")
    return found


def _open(counted: "Matrix", without: set[str]) -> str:
    """How many survivors are of scenarios without a reference flow; empty when none is."""
    number = sum(trial.id.partition("/")[0] in without for trial in counted.survivors)
    are = "survivor is of an open scenario, which has" if number == 1 else "survivors are of open scenarios, which have"
    return f"{number} {are} no reference flow: add probes and expectations." if number else ""


def _summary(counted: "Matrix", floor: float) -> str:
    rate = counted.kill_rate
    if rate is None:
        return "No mutant was made: no attempt of the journal passes."
    tried, killed = (sum(getattr(row, name) for row in counted.operators.values()) for name in ("tried", "killed"))
    accepted = f", {len(counted.accepted)} survivors are accepted" if counted.accepted else ""
    same = f"; {len(counted.disturbed)} of {counted.controls} unchanged attempts were flagged"
    return f"{killed} of {tried} mutants killed ({rate:.1%}, at least {floor:.0%}){accepted}{same}."
