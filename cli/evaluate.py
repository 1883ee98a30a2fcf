"""`wirewright eval`: play scenarios and score what came of them."""

import asyncio
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cli.failures import FAILED, BadUsage, Stopped
from cli.options import Json

if TYPE_CHECKING:
    from pathlib import Path

    from evals.attempt import Attempt
    from evals.players import Player
    from evals.scenario import Scenario

commands = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Play scenarios and score what came of them.")


class PlayerName(StrEnum):
    """Who can play."""

    demo = "demo"
    script = "script"


@commands.callback()
def group() -> None:
    """Play scenarios and score what came of them."""


@commands.command(epilog="Example: wirewright eval run --player demo --tag edit")
def run(
    player: Annotated[PlayerName, typer.Option(help="Who plays.")] = PlayerName.demo,
    scenario: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only this scenario; may be given several times.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="T", help="Only scenarios with this tag; may be given several times.")
    ] = None,
    min_pass: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Exit 1 when a smaller share of the attempts passes.")
    ] = 0.9,
    concurrency: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Attempts at the same time.")] = 2,
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="How often each scenario is played.")] = 1,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write every attempt there, as JSON lines (attempts.jsonl).")
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Play scenarios on the real engine: built, valid, ran, resolved."""
    from cli.output import answer, document
    from cli.target import writable
    from evals.report import reasons, report_json, summary, table
    from evals.score import score

    target = writable(out)
    scenarios = _chosen(scenario or [], tag or [])
    plays = asyncio.run(_play(scenarios, _player(player), concurrency, repeats, target))
    result = score(scenarios, plays)
    if as_json:
        document(report_json(result, scenarios, player.value, min_pass))
    else:
        from rich.console import Console

        Console().print(table(result, player.value))
        for line in reasons(result):
            answer(line)
        answer(summary(result, min_pass))
    if not result.meets(min_pass):
        raise typer.Exit(FAILED)


def _chosen(ids: list[str], tags: list[str]) -> "list[Scenario]":
    from evals.scenario import ScenarioError, load_scenarios

    try:
        scenarios = load_scenarios()
    except ScenarioError as error:
        raise BadUsage("bad_scenario", error.message, fix="Correct the file.", where=error.place) from None
    known = {scenario.id: scenario for scenario in scenarios}
    for wanted in ids:
        if wanted not in known:
            from flows.faults import did_you_mean

            fix = did_you_mean(wanted, known, otherwise="there are")
            raise BadUsage("unknown_scenario", f"There is no scenario {wanted!r}.", fix=fix, where="--scenario")
    chosen = [scenario for scenario in scenarios if not ids or scenario.id in ids]
    chosen = [scenario for scenario in chosen if not tags or set(tags) & set(scenario.tags)]
    if not chosen:
        there = ", ".join(sorted({tag for scenario in scenarios for tag in scenario.tags}))
        raise BadUsage("no_scenario", "No scenario was chosen.", fix=f"The tags are: {there}.", where="--tag")
    return chosen


def _player(name: PlayerName) -> "Player":
    if name is PlayerName.demo:
        from evals.players.demo import DemoPlayer

        return DemoPlayer()
    from evals.players.script import ScriptPlayer

    return ScriptPlayer()


async def _play(
    scenarios: "list[Scenario]", player: "Player", concurrency: int, repeats: int, target: "Path | None"
) -> "list[Attempt]":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from cli.stage import opened
    from evals.journal import Journal
    from evals.play import play

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    async with opened(concurrency) as stage:
        try:
            journal = None if target is None else await asyncio.to_thread(Journal, target)
        except OSError:
            raise Stopped("unwritable", f"{target} cannot be written.", where="--out") from None
        with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
            task = bar.add_task(f"playing {player.name}", total=len(scenarios) * repeats)

            async def ended(attempt: "Attempt") -> None:
                if journal is not None:
                    await asyncio.to_thread(journal.append, attempt)
                bar.advance(task)

            return await play(scenarios, player, stage, repeats=repeats, concurrency=concurrency, on_attempt=ended)
