"""What the `eval` commands work on: scenarios by id, tag and split, and files of attempts or scores."""

from collections.abc import Collection, Iterable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from cli.engine import ready_catalogue
from cli.errors import BadUsage

if TYPE_CHECKING:
    from evals.analysis.cost import Ceiling
    from evals.attempt import Attempt
    from evals.gate import Gate
    from evals.packs.pack import Pack
    from evals.players.player import Player
    from evals.scenario import Scenario
    from evals.score import Verdict
    from evals.user_evaluators import UserEvaluator
    from flows.catalogue import Catalogue

PLAY_AGAIN = "Play again with the current scenarios."

_folder: ContextVar[Path | None] = ContextVar("scenarios", default=None)
_pack: "ContextVar[Pack | None]" = ContextVar("pack", default=None)


def use_folder(folder: Path | None) -> None:
    """Set where this command's scenarios are; None for the built-in ones."""
    _folder.set(folder)
    _pack.set(None)


def use_pack(name: str | None) -> None:
    """Set that this command's scenarios are those of a pack; None leaves them as they are.

    Args:
        name: a folder, a zip file, or the name of an installed pack.

    Raises:
        BadUsage: when it cannot be used, or there is a folder already.
    """
    if name is None:
        return
    from evals.packs.installed import find_pack
    from evals.packs.pack import PackError

    if _folder.get() is not None:
        message = "--pack and --scenarios name two sets of scenarios."
        raise BadUsage("two_sets", message, fix="Leave one of them away.", where="--pack")
    try:
        pack = find_pack(name)
    except PackError as error:
        raise BadUsage("bad_pack", error.message, fix=error.fix, where="--pack") from None
    _pack.set(pack)
    _folder.set(pack.folder)


def pack_label() -> str:
    """The name, version and digest of this command's pack; empty without one."""
    pack = _pack.get()
    return "" if pack is None else pack.label


def all_scenarios() -> "tuple[Scenario, ...]":
    """Every scenario.

    Raises:
        BadUsage: when a file cannot be used.
    """
    from evals.scenarios.loader import FOLDER, ScenarioError, load_scenarios

    try:
        return load_scenarios(_folder.get() or FOLDER)
    except ScenarioError as error:
        raise BadUsage("bad_scenario", f"{error}.", fix="Correct the file.", where=error.place) from None


def select(ids: Sequence[str], tags: Sequence[str], split: str | None = None) -> "list[Scenario]":
    """The scenarios with one of the ids, one of the tags and the split; empty ids or tags select all.

    Raises:
        BadUsage: when an id is unknown, or no scenario is selected.
    """
    scenarios = all_scenarios()
    known = {scenario.id: scenario for scenario in scenarios}
    for wanted in ids:
        if wanted not in known:
            from flows.faults import did_you_mean

            fix = did_you_mean(wanted, known, otherwise="known scenarios")
            raise BadUsage("unknown_scenario", f"Unknown scenario: {wanted}.", fix=fix, where="--scenario")
    if split not in (None, "dev", "test"):
        raise BadUsage("bad_split", f"Unknown split: {split}.", fix="Use dev or test.", where="--split")
    found = [scenario for scenario in scenarios if not ids or scenario.id in ids]
    found = [scenario for scenario in found if not tags or set(tags) & set(scenario.tags)]
    found = [scenario for scenario in found if split in (None, scenario.split)]
    if not found:
        known_tags = ", ".join(sorted({tag for scenario in scenarios for tag in scenario.tags}))
        raise BadUsage("no_scenario", "No scenario is selected.", fix=f"Known tags: {known_tags}.", where="--tag")
    return found


def player_of(name: str) -> "Player":
    """The player of a name.

    Raises:
        BadUsage: when it is unknown.
    """
    from evals.players.registry import UnknownPlayer, player_named

    try:
        return player_named(name)
    except UnknownPlayer as unknown:
        raise BadUsage("unknown_player", unknown.message, fix=unknown.fix, where="--player") from None


def check_player(name: str, verdicts: "Sequence[Verdict]", source: str, option: str) -> None:
    """Refuse a player that has no verdicts.

    Args:
        name: the player.
        verdicts: those of a file.
        source: what the message calls the file.
        option: the option that names the player.

    Raises:
        BadUsage: naming the players of the file.
    """
    players = sorted({verdict.player for verdict in verdicts})
    if name not in players:
        from flows.faults import did_you_mean

        fix = did_you_mean(name, players, otherwise="known players") if players else "Name a file that has attempts."
        raise BadUsage("unknown_player", f"{source} has no player {name!r}.", fix=fix, where=option)


def ceiling_of(dollars: float | None, player: str) -> "Ceiling | None":
    """The cost limit of a play.

    Raises:
        BadUsage: when the player is a model of unknown price, whose cost could not be counted.
    """
    from agent.models.providers import PROVIDERS
    from evals.analysis.cost import Ceiling, priced

    if dollars is None:
        return None
    if player.partition(":")[0] in PROVIDERS and not priced(player):
        fix = "Leave --max-cost out and use --tokens, or play a model in the price list of genai-prices."
        raise BadUsage("unknown_price", f"The price of {player} is unknown.", fix=fix, where="--max-cost")
    return Ceiling(dollars)


def evaluators_of(targets: Sequence[str] | None, required: Sequence[str] | None) -> "tuple[UserEvaluator, ...]":
    """The user's own evaluators.

    Args:
        targets: of `--evaluator`.
        required: of `--require`.

    Raises:
        BadUsage: when one cannot be used.
    """
    if not targets and not required:
        return ()
    from evals.user_evaluators import EvaluatorError, user_evaluators

    try:
        return user_evaluators(targets or [], required or [])
    except EvaluatorError as error:
        raise BadUsage("bad_evaluator", error.message, fix=error.fix, where="--evaluator") from None


def readable(name: str) -> Path:
    """An existing file.

    Raises:
        BadUsage: when it does not exist.
    """
    from runtime.files.texts import TextRefused, check_file

    path = Path(name)
    try:
        check_file(path)
    except TextRefused as refused:
        fix = "Name a file of attempts or scores."
        raise BadUsage("unreadable", f"{name} {refused.reason}.", fix=fix, where=name) from None
    return path


def attempts_of(path: Path, scenarios: Collection[str] | None = None) -> "list[Attempt]":
    """The latest attempts of a journal at some scenarios, or at all.

    Raises:
        BadUsage: when a line is not an attempt.
    """
    from evals.journal import latest_attempts, read_journal
    from evals.jsonl import JsonLinesError

    try:
        latest = latest_attempts(read_journal(path)).values()
        return [attempt for attempt in latest if not scenarios or attempt.scenario in scenarios]
    except (JsonLinesError, UnicodeDecodeError) as error:
        raise BadUsage("bad_journal", f"{error}.", fix="Name a journal of `eval run --out`.", where=path.name) from None


def scored(
    attempts: "Iterable[Attempt]", catalogue: "Catalogue", evaluators: "Sequence[UserEvaluator]" = ()
) -> "list[Verdict]":
    """The verdicts of attempts, scored by the user's own evaluators, too.

    Raises:
        BadUsage: when a scenario no longer exists or has changed since it was played.
    """
    from evals.score import UnknownScenario
    from evals.user_evaluators import score_with

    try:
        return score_with(all_scenarios(), attempts, catalogue, evaluators)
    except UnknownScenario as unknown:
        raise BadUsage("other_scenario", unknown.message, fix=unknown.fix) from None


def verdicts_of(path: Path) -> "list[Verdict]":
    """The verdicts in a file of scores, or of the attempts in a journal, which are scored now.

    Raises:
        BadUsage: when it is neither.
        CommandError: when attempts must be scored and there is no catalogue.
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
        raise BadUsage("bad_gate", f"{error}.", fix="Name a gate file, or correct this one.", where="--gate") from None
