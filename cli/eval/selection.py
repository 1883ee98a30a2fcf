"""What the `eval` commands are about: scenarios by id, tag and split, and files of attempts or scores."""

from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from cli.engine import ready_catalogue
from cli.errors import BadUsage

if TYPE_CHECKING:
    from evals.analysis.cost import Ceiling
    from evals.attempt import Attempt
    from evals.gate import Gate
    from evals.players.player import Player
    from evals.scenario import Scenario
    from evals.score import Verdict
    from flows.catalogue import Catalogue

Ids: TypeAlias = Annotated[
    list[str] | None, typer.Option("--scenario", metavar="ID", help="Only this scenario; may be given several times.")
]
Tags: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="T", help="Only scenarios with this tag; may be given several times."),
]
SplitName: TypeAlias = Annotated[
    str | None, typer.Option("--split", metavar="dev|test", help="Only scenarios of this split.")
]


_folder: ContextVar[Path | None] = ContextVar("scenarios", default=None)


def use_folder(folder: Path | None) -> None:
    """Say where this command's scenarios are.

    Args:
        folder: one of the user's; None for the scenarios that come with Wirewright.
    """
    _folder.set(folder)


def all_scenarios() -> "tuple[Scenario, ...]":
    """Every scenario.

    Raises:
        BadUsage: when a file cannot be used.
    """
    from evals.scenarios.loader import FOLDER, ScenarioError, load_scenarios

    try:
        return load_scenarios(_folder.get() or FOLDER)
    except ScenarioError as error:
        raise BadUsage("bad_scenario", error.message, fix="Correct the file.", where=error.place) from None


def select(ids: Sequence[str], tags: Sequence[str], split: str | None = None) -> "list[Scenario]":
    """The scenarios with one of the ids, one of the tags and the split; what is not given does not count.

    Raises:
        BadUsage: when an id is unknown, or none is left.
    """
    scenarios = all_scenarios()
    known = {scenario.id: scenario for scenario in scenarios}
    for wanted in ids:
        if wanted not in known:
            from flows.faults import did_you_mean

            fix = did_you_mean(wanted, known, otherwise="there are")
            raise BadUsage("unknown_scenario", f"There is no scenario {wanted!r}.", fix=fix, where="--scenario")
    if split not in (None, "dev", "test"):
        raise BadUsage("bad_split", f"There is no split {split!r}.", fix="Use dev or test.", where="--split")
    found = [scenario for scenario in scenarios if not ids or scenario.id in ids]
    found = [scenario for scenario in found if not tags or set(tags) & set(scenario.tags)]
    found = [scenario for scenario in found if split in (None, scenario.split)]
    if not found:
        there = ", ".join(sorted({tag for scenario in scenarios for tag in scenario.tags}))
        raise BadUsage("no_scenario", "No scenario was chosen.", fix=f"The tags are: {there}.", where="--tag")
    return found


def player_of(name: str) -> "Player":
    """The player of a name.

    Raises:
        BadUsage: when there is none.
    """
    from evals.players.registry import UnknownPlayer, player_named

    try:
        return player_named(name)
    except UnknownPlayer as unknown:
        raise BadUsage("unknown_player", unknown.message, fix=unknown.fix, where="--player") from None


def ceiling_of(dollars: float | None, player: str) -> "Ceiling | None":
    """What a play may cost.

    Raises:
        BadUsage: when the player is a model whose price is not known: its cost could not be watched.
    """
    from agent.models.providers import PROVIDERS
    from evals.analysis.cost import Ceiling, priced

    if dollars is None:
        return None
    if player.partition(":")[0] in PROVIDERS and not priced(player):
        fix = "Leave --max-cost out and use --tokens, or play a model that the price list of genai-prices has."
        raise BadUsage("unknown_price", f"What {player} costs is not known.", fix=fix, where="--max-cost")
    return Ceiling(dollars)


def readable(name: str) -> Path:
    """A file that is there to be read.

    Raises:
        BadUsage: when it is not.
    """
    path = Path(name)
    if not path.is_file():
        raise BadUsage("unreadable", f"{name} cannot be read.", fix="Name a file of attempts or scores.", where=name)
    return path


def attempts_of(path: Path) -> "list[Attempt]":
    """The attempts that count of a journal.

    Raises:
        BadUsage: when a line is no attempt.
    """
    from evals.journal import latest_attempts, read_journal
    from evals.jsonl import JsonLinesError

    try:
        return list(latest_attempts(read_journal(path)).values())
    except (JsonLinesError, UnicodeDecodeError) as error:
        raise BadUsage("bad_journal", f"{error}.", fix="Name a journal of `eval run --out`.", where=path.name) from None


def scored(attempts: "Iterable[Attempt]", catalogue: "Catalogue") -> "list[Verdict]":
    """The verdicts of attempts.

    Raises:
        BadUsage: when a scenario is gone or has changed since it was played.
    """
    from evals.score import UnknownScenario, score_attempts

    try:
        return score_attempts(all_scenarios(), attempts, catalogue)
    except UnknownScenario as unknown:
        raise BadUsage("other_scenario", unknown.message, fix="Play again with the scenarios that there are.") from None


def verdicts_of(path: Path) -> "list[Verdict]":
    """The verdicts of a file: of scores, or of attempts, which are scored now.

    Raises:
        BadUsage: when it is neither.
        Stopped: when attempts are to be scored and there is no catalogue.
    """
    from evals.analysis.tally import read_verdicts
    from evals.jsonl import JsonLinesError

    try:
        return list(read_verdicts(path))
    except (JsonLinesError, UnicodeDecodeError):
        return scored(attempts_of(path), ready_catalogue())


def gate_of(name: str | None) -> "tuple[Gate, tuple[Verdict, ...]] | None":
    """The gate of a file and its baseline.

    Raises:
        BadUsage: when either cannot be used.
    """
    from evals.gate import GateError, load_gate
    from evals.jsonl import JsonLinesError

    if name is None:
        return None
    try:
        return load_gate(Path(name))
    except (GateError, JsonLinesError) as error:
        raise BadUsage("bad_gate", f"{error}.", fix="Correct the file.", where="--gate") from None
