"""`wirewright eval fix`: the smallest change that would have made a failed flow pass."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import BadUsage
from cli.eval.play.options import Journal, PackName, ScenarioIds
from cli.eval.play.selection import PLAY_AGAIN, all_scenarios, attempts_of, readable, use_pack
from cli.options import Json
from cli.output.files import note_replaced, writable, writing
from cli.output.streams import print_json, print_message, print_result

if TYPE_CHECKING:
    from cli.documents.evals import FixObject
    from evals.attempt import Attempt
    from evals.fix.search import MinimalFix

Found = list["tuple[Attempt, MinimalFix | None]"]


def fix(
    journal: Journal,
    scenario: ScenarioIds = None,
    tries: Annotated[int, typer.Option(min=1, metavar="N", help="How many flows to try for one attempt.")] = 64,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the fixes there, for `eval report --fixes`.")
    ] = None,
    pack: PackName = None,
    *,
    as_json: Json = False,
) -> None:
    """Find the fewest changes that would make each failed flow pass."""
    use_pack(pack)
    from cli.documents.evals import Fixed
    from evals.fix.records import Fix
    from evals.jsonl import JsonLines

    target = writable(out)
    found = asyncio.run(_fixes(attempts_of(readable(journal), scenario), tries))
    if target is not None:
        note_replaced(target)
        with writing(target):
            JsonLines(target, Fix).write([Fix.of(attempt, fixed) for attempt, fixed in found if fixed is not None])
        print_message(f"Written to {target}.")
    if as_json:
        print_json(Fixed(ok=True, fixes=[_plain(attempt, fixed) for attempt, fixed in found if fixed is not None]))
        return
    for attempt, fixed in found:
        if fixed is not None:
            for line in _lines(attempt, fixed):
                print_result(line)
    print_result(f"A fix was found for {sum(fixed is not None for _, fixed in found)} of {len(found)} attempts.")


async def _fixes(attempts: "list[Attempt]", tries: int) -> Found:
    from cli.eval.play.environment import play_environment
    from evals.behaviours.own_runs import EngineCrashed
    from evals.fix.attempts import fix_of

    scenarios = {scenario.id: scenario for scenario in all_scenarios()}
    for one in attempts:
        if one.scenario not in scenarios or scenarios[one.scenario].digest != one.digest:
            message = f"The scenario {one.scenario!r} no longer exists or has changed since it was played."
            raise BadUsage("other_scenario", message, fix=PLAY_AGAIN)
    async with play_environment(1) as environment:
        found: Found = []
        for one in attempts:
            try:
                found.append((one, await fix_of(scenarios[one.scenario], one, environment, tries=tries)))
            except EngineCrashed as crashed:
                print_message(f"{one.scenario} was not tried to the end: {crashed}.")
                found.append((one, None))
        return found


def _plain(attempt: "Attempt", fixed: "MinimalFix") -> "FixObject":
    from cli.documents.evals import FixObject
    from flows.action_json import action_to_json

    return FixObject(
        scenario=attempt.scenario,
        repeat=attempt.repeat,
        player=attempt.player,
        actions=[action_to_json(action) for action in fixed.actions],
        whole=fixed.whole,
        tries=fixed.tries,
        proven=fixed.proven,
    )


def _lines(attempt: "Attempt", fixed: "MinimalFix") -> list[str]:
    from cli.output.turn import format_change

    sure = "no fewer would do" if fixed.proven else "not all smaller sets were tried"
    name = attempt.scenario if not attempt.repeat else f"{attempt.scenario} #{attempt.repeat + 1}"
    head = f"{name}: {len(fixed.actions)} of {fixed.whole} changes would do ({sure}):"
    return [head, *(f"  {format_change(action)}" for action in fixed.actions)]
