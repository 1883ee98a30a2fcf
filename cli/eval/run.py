"""`wirewright eval run`: play scenarios on the real engine, score them, and hold them against a gate."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import FAILED, BadUsage, Stopped
from cli.eval.selection import Ids, SplitName, Tags, ceiling_of, gate_of, player_of, select
from cli.options import Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evals.analysis.cost import Ceiling
    from evals.attempt import Attempt
    from evals.jsonl import JsonLines
    from evals.play.attempts import Limits
    from evals.players.player import Player
    from evals.scenario import Scenario
    from flows.catalogue import Catalogue


def run(
    player: Annotated[
        str,
        typer.Option(
            help="Who plays: demo, oracle, script, null, boaster, replay:JOURNAL, http:URL, python:module:function, "
            "or a model as provider:name."
        ),
    ] = "demo",
    scenario: Ids = None,
    tag: Tags = None,
    split: SplitName = None,
    min_pass: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Exit 1 when a smaller share of the attempts passes.")
    ] = 0.0,
    gate: Annotated[str | None, typer.Option(metavar="FILE", help="Exit 1 when this gate is not passed.")] = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Attempts at the same time.")] = 2,
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="How often each scenario is played.")] = 1,
    seconds: Annotated[float, typer.Option(min=1.0, help="How long the turns of one attempt may take.")] = 120.0,
    tokens: Annotated[int, typer.Option(min=1, help="How many tokens one attempt may take.")] = 500_000,
    max_cost: Annotated[
        float | None,
        typer.Option(min=0.0, metavar="USD", help="Begin no further attempt once the models have cost this much."),
    ] = None,
    shard: Annotated[
        str | None, typer.Option(metavar="K/N", help="Play only the K-th of N parts; their journals add up.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write every attempt there, as JSON lines (attempts.jsonl).")
    ] = None,
    resume: Annotated[  # noqa: FBT002  (a flag of the command line)
        bool, typer.Option("--resume", help="Keep what --out holds, and play only what is missing there.")
    ] = False,
    scores: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write every verdict there, as JSON lines (scores.jsonl).")
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Play scenarios on the real engine and score what comes of them."""
    from cli.eval.summary import EvalSummary
    from cli.output.files import writable
    from evals.analysis.tally import write_verdicts
    from evals.play.attempts import Limits
    from evals.score import score_attempts

    target, score_target = writable(out), writable(scores)
    if resume and target is None:
        raise BadUsage("nothing_to_resume", "--resume needs --out.", fix="Name the journal.", where="--resume")
    held = gate_of(gate)
    playing = player_of(player)
    scenarios = _part(select(scenario or [], tag or [], split), shard)
    ceiling = ceiling_of(max_cost, playing.name)
    limits = Limits(seconds=seconds, tokens=tokens)
    plan = _Plan(scenarios, playing, limits, ceiling, concurrency, repeats, target, resume)
    attempts, catalogue = asyncio.run(plan.play())
    verdicts = score_attempts(scenarios, attempts, catalogue)
    if score_target is not None:
        write_verdicts(score_target, verdicts)
    missing = len(scenarios) * repeats - len(attempts)
    told = EvalSummary(verdicts, scenarios, playing.name, least=min_pass, gate=held, not_played=missing)
    told.tell(as_json=as_json)
    if not told.ok:
        raise typer.Exit(FAILED)


class _Plan:
    def __init__(
        self,
        scenarios: "list[Scenario]",
        player: "Player",
        limits: "Limits",
        ceiling: "Ceiling | None",
        concurrency: int,
        repeats: int,
        target: Path | None,
        resume: bool,  # noqa: FBT001  (what the user's flag says)
    ) -> None:
        self.scenarios = scenarios
        self.player = player
        self.limits = limits
        self.ceiling = ceiling
        self.concurrency = concurrency
        self.repeats = repeats
        self.target = target
        self.resume = resume

    async def play(self) -> "tuple[list[Attempt], Catalogue]":
        """Play, writing the journal on the way; gives the attempts that count, and the component types."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        from cli.eval.environment import play_environment
        from evals.play.attempts import play

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        console = Console(stderr=True)
        async with play_environment(self.concurrency) as stage:
            before = await asyncio.to_thread(self._there)
            done = [
                attempt
                for attempt in before
                if attempt.harness_error is None
                and attempt.player == self.player.name
                and attempt.versions == stage.versions
                and self._wants(attempt)
            ]
            if self.ceiling is not None:
                for attempt in before:
                    self.ceiling.count(attempt)
            try:
                journal = await asyncio.to_thread(self._journal)
            except OSError:
                raise Stopped("unwritable", f"{self.target} cannot be written.", where="--out") from None
            with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
                total = len(self.scenarios) * self.repeats
                task = bar.add_task(f"playing {self.player.name}", total=total, completed=len(done))

                async def ended(attempt: "Attempt") -> None:
                    if journal is not None:
                        await asyncio.to_thread(journal.append, attempt)
                    bar.advance(task)

                played = await play(
                    self.scenarios,
                    self.player,
                    stage,
                    repeats=self.repeats,
                    concurrency=self.concurrency,
                    limits=self.limits,
                    ceiling=self.ceiling,
                    skip={attempt.key for attempt in done},
                    on_attempt=ended,
                )
            return [*done, *played], stage.catalogue

    def _there(self) -> "Sequence[Attempt]":
        from cli.eval.selection import attempts_of

        return attempts_of(self.target) if self.resume and self.target is not None and self.target.exists() else ()

    def _wants(self, attempt: "Attempt") -> bool:
        wanted = {(scenario.id, scenario.digest) for scenario in self.scenarios}
        return (attempt.scenario, attempt.digest) in wanted and attempt.repeat < self.repeats

    def _journal(self) -> "JsonLines[Attempt] | None":
        from evals.journal import open_journal

        return None if self.target is None else open_journal(self.target, resume=self.resume)


def _part(scenarios: "list[Scenario]", shard: str | None) -> "list[Scenario]":
    if shard is None:
        return scenarios
    number, _, parts = shard.partition("/")
    if not (number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts)):
        raise BadUsage("bad_shard", f"{shard!r} is no part.", fix="Write it as 1/4, up to 4/4.", where="--shard")
    return scenarios[int(number) - 1 :: int(parts)]
