"""`wirewright eval run`: play scenarios on the real engine, score the attempts, and check them against a gate."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import FAILED, BadUsage
from cli.eval.play.options import (
    VERDICTS,
    Evaluators,
    GateFile,
    JUnit,
    MinPass,
    PackName,
    Required,
    ScenarioIds,
    SplitName,
    Tags,
)
from cli.eval.play.selection import (
    attempts_of,
    ceiling_of,
    evaluators_of,
    gate_of,
    pack_label,
    player_of,
    select,
    use_pack,
)
from cli.options import Json
from cli.output.files import note_replaced, writable, writing
from cli.output.streams import print_message, progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli.eval.play.houses import Wanted
    from evals.attempt import Attempt
    from evals.jsonl import JsonLines
    from evals.scenario import Scenario
    from flows.catalogue import Catalogue


def run(
    player: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Who plays: demo, oracle, script, null, boaster, replay:JOURNAL, http:URL, python:module:function, "
            "or a model as provider:name.",
        ),
    ] = "demo",
    scenario: ScenarioIds = None,
    tag: Tags = None,
    split: SplitName = None,
    min_pass: MinPass = 0.0,
    gate: GateFile = None,
    junit: JUnit = None,
    concurrency: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Attempts at the same time.")] = 2,
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="How often each scenario is played.")] = 1,
    seconds: Annotated[
        float, typer.Option(min=1.0, metavar="S", help="How long the turns of one attempt may take.")
    ] = 120.0,
    tokens: Annotated[int, typer.Option(min=1, metavar="N", help="How many tokens one attempt may take.")] = 500_000,
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
    scores: Annotated[str | None, typer.Option(metavar="FILE", help=VERDICTS)] = None,
    no_engine: Annotated[  # noqa: FBT002  (a flag of the command line)
        bool, typer.Option("--no-engine", help="The player cannot run flows: do not miss the runs that are asked for.")
    ] = False,
    queue: Annotated[  # noqa: FBT002  (a flag of the command line)
        bool, typer.Option("--queue", help="Let workers play: those for the queue `evals` of the same Postgres.")
    ] = False,
    evaluator: Evaluators = None,
    require: Required = None,
    pack: PackName = None,
    *,
    as_json: Json = False,
) -> None:
    """Play scenarios on the real engine and score the attempts."""
    use_pack(pack)
    from cli.eval.play.houses import Wanted
    from cli.eval.play.summary import EvalSummary
    from evals.analysis.tally import write_verdicts
    from evals.play.attempts import AttemptLimits
    from evals.players.player import WithoutEngine
    from evals.user_evaluators import score_with

    target, score_target, junit_target = writable(out), writable(scores, "--scores"), writable(junit, "--junit")
    if resume and target is None:
        raise BadUsage("nothing_to_resume", "--resume needs --out.", fix="Name the journal.", where="--resume")
    loaded_gate, own = gate_of(gate), evaluators_of(evaluator, require)
    chosen = WithoutEngine(player_of(player)) if no_engine else player_of(player)
    scenarios = _part(select(scenario or [], tag or [], split), shard)
    wanted = Wanted(
        scenarios=scenarios,
        player=chosen,
        limits=AttemptLimits(seconds=seconds, tokens=tokens),
        ceiling=ceiling_of(max_cost, chosen.name),
        concurrency=concurrency,
        repeats=repeats,
        evaluators=own,
    )
    play = _Play(wanted=wanted, target=target, resume=resume, queue=queue)
    attempts, catalogue = asyncio.run(play.attempts())
    verdicts = score_with(scenarios, attempts, catalogue, own if resume else ())  # those played have their scores
    if score_target is not None:
        note_replaced(score_target)
        with writing(score_target, "--scores"):
            write_verdicts(score_target, verdicts)
    missing = len(scenarios) * repeats - len(attempts)
    summary = EvalSummary(verdicts, scenarios, chosen.name, min_pass=min_pass, gate=loaded_gate, not_played=missing)
    summary.write_junit(junit_target)
    summary.show(as_json=as_json)
    if not summary.ok:
        raise typer.Exit(FAILED)


@dataclass(frozen=True, kw_only=True)
class _Play:
    wanted: "Wanted"
    target: Path | None
    resume: bool
    queue: bool

    async def attempts(self) -> "tuple[list[Attempt], Catalogue]":
        """Play, writing the journal meanwhile; gives the attempts that count, and the component types."""
        from cli.eval.play.houses import house
        from evals.play.versions import origin

        wanted = self.wanted
        async with house(wanted, queue=self.queue) as place:
            before = await asyncio.to_thread(self._earlier)
            done = [
                attempt
                for attempt in before
                if attempt.harness_error is None
                and attempt.player == wanted.player.name
                and attempt.versions == place.versions
                and self._wants(attempt)
            ]
            if wanted.ceiling is not None:
                for attempt in before:
                    wanted.ceiling.count(attempt)
            journal = await asyncio.to_thread(self._journal)
            total = len(wanted.scenarios) * wanted.repeats
            with progress_bar(f"playing {wanted.player.name}", total, len(done)) as advance:

                async def ended(attempt: "Attempt") -> None:
                    if journal is not None and self.target is not None:
                        with writing(self.target):
                            stamped = attempt.model_copy(update={"origin": origin(pack_label(), wanted.evaluators)})
                            await asyncio.to_thread(journal.append, stamped)
                    advance()

                played = await place.play(wanted, {attempt.key for attempt in done}, ended)
            _note_agents([*done, *played])
            self._note_evaluators(done)
            self._note_runs(played)
            return [*done, *played], place.catalogue

    def _earlier(self) -> "list[Attempt]":
        """The attempts of the journal that are kept; that one is mended or replaced is said."""
        from evals.journal import mend_journal

        if self.target is None or not self.target.is_file():
            return []
        if self.resume:
            with writing(self.target):
                if mend_journal(self.target):
                    print_message(f"The last line of {self.target} was incomplete, and was removed.")
            return attempts_of(self.target)
        with self.target.open("rb") as file:
            lines = sum(1 for _ in file)
        if lines:
            print_message(f"{self.target} is replaced, which held {_lines(lines)}; --resume would have kept it.")
        return []

    def _note_evaluators(self, kept: "Sequence[Attempt]") -> None:
        """Say which of the user's own evaluators scored attempts of the journal in another version."""
        now = {one.name: one.version for one in self.wanted.evaluators}
        before = [attempt.origin.evaluators for attempt in kept if attempt.origin is not None]
        changed = [name for name, version in now.items() if any(one.get(name, version) != version for one in before)]
        if changed:
            print_message(f"{self.target} has scores of other versions of own evaluators: {', '.join(changed)}.")

    def _note_runs(self, played: "Sequence[Attempt]") -> None:
        """Say how players without an engine are played, if this one leaves flows and never ran what was asked."""
        asking = {one.id for one in self.wanted.scenarios if any(turn.run for turn in one.turns)}
        asked = [one for one in played if one.scenario in asking and one.flow is not None and not one.without_engine]
        if asked and not any(turn.runs for one in asked for turn in one.turns):
            print_message("No run that was asked for was made. A player that cannot run flows plays with --no-engine.")

    def _wants(self, attempt: "Attempt") -> bool:
        wanted = {(scenario.id, scenario.digest) for scenario in self.wanted.scenarios}
        return (attempt.scenario, attempt.digest) in wanted and attempt.repeat < self.wanted.repeats

    def _journal(self) -> "JsonLines[Attempt] | None":
        from evals.journal import open_journal

        if self.target is None:
            return None
        with writing(self.target):
            return open_journal(self.target, resume=self.resume)


def _note_agents(attempts: "Sequence[Attempt]") -> None:
    """Say that several versions of the agent were played, as when a play is resumed with another one."""
    agents = sorted({str(attempt.agent) for attempt in attempts if attempt.agent is not None})
    if len(agents) > 1:
        print_message(f"Several agents were played: {', '.join(agents)}.")


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def _part(scenarios: "list[Scenario]", shard: str | None) -> "list[Scenario]":
    if shard is None:
        return scenarios
    number, _, parts = shard.partition("/")
    if not (number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts)):
        raise BadUsage("bad_shard", f"{shard!r} is not a shard.", fix="Write 1/4, 2/4 and so on.", where="--shard")
    return scenarios[int(number) - 1 :: int(parts)]
