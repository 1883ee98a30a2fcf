"""`wirewright eval fix`: the smallest change that would have made a failed flow pass."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import BadUsage, Stopped
from cli.eval.selection import Ids, all_scenarios, attempts_of, readable
from cli.options import Json

if TYPE_CHECKING:
    from evals.attempt import Attempt
    from evals.fix.search import MinimalFix

Found = list["tuple[Attempt, MinimalFix | None]"]


def fix(
    journal: Annotated[str, typer.Argument(metavar="JOURNAL", help="Attempts, as `eval run --out` writes them.")],
    scenario: Ids = None,
    tries: Annotated[int, typer.Option(min=1, metavar="N", help="How many flows to try for one attempt.")] = 64,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write what was found there, for `eval report --fixes`.")
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Find, for every flow that does not do what it must, the fewest changes with which it would."""
    from cli.output.files import writable
    from cli.output.streams import answer, document, note

    target = writable(out)
    attempts = [attempt for attempt in attempts_of(readable(journal)) if not scenario or attempt.scenario in scenario]
    found = asyncio.run(_fixes(attempts, tries))
    if target is not None:
        _write(target, found)
        note(f"Written to {target}.")
    if as_json:
        document({"ok": True, "fixes": [_told(attempt, fixed) for attempt, fixed in found if fixed is not None]})
        return
    for attempt, fixed in found:
        if fixed is not None:
            for line in _lines(attempt, fixed):
                answer(line)
    answer(f"For {sum(fixed is not None for _, fixed in found)} of {len(found)} attempts a fix was found.")


async def _fixes(attempts: "list[Attempt]", tries: int) -> Found:
    from cli.eval.environment import play_environment
    from evals.fix.attempts import fix_of

    scenarios = {scenario.id: scenario for scenario in all_scenarios()}
    for one in attempts:
        if one.scenario not in scenarios or scenarios[one.scenario].digest != one.digest:
            message = f"The scenario {one.scenario!r} is gone, or has changed since it was played."
            raise BadUsage("other_scenario", message, fix="Play again with the scenarios that there are.")
    async with play_environment(1) as stage:
        return [(one, await fix_of(scenarios[one.scenario], one, stage, tries=tries)) for one in attempts]


def _write(target: Path, found: Found) -> None:
    from evals.fix.records import Fix
    from evals.jsonl import JsonLines

    try:
        JsonLines(target, Fix).write([Fix.of(attempt, fixed) for attempt, fixed in found if fixed is not None])
    except OSError:
        raise Stopped("unwritable", f"{target} cannot be written.", fix="Name another file.", where="--out") from None


def _told(attempt: "Attempt", fixed: "MinimalFix") -> dict[str, object]:
    from flows.action_json import action_to_json

    return {
        "scenario": attempt.scenario,
        "repeat": attempt.repeat,
        "player": attempt.player,
        "actions": [action_to_json(action) for action in fixed.actions],
        "whole": fixed.whole,
        "tries": fixed.tries,
        "proven": fixed.proven,
    }


def _lines(attempt: "Attempt", fixed: "MinimalFix") -> list[str]:
    from cli.output.turn import change

    sure = "no fewer would do" if fixed.proven else "fewer were not all tried"
    name = attempt.scenario if not attempt.repeat else f"{attempt.scenario} #{attempt.repeat + 1}"
    head = f"{name}: {len(fixed.actions)} of {fixed.whole} changes would do ({sure}):"
    return [head, *(f"  {change(action)}" for action in fixed.actions)]
