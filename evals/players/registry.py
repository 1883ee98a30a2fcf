"""From the name of a player to the player."""

from __future__ import annotations

from pathlib import Path

from evals.players.player import Player

FORMS = (
    "demo, oracle, script, null, boaster, replay:JOURNAL, http:URL, https:URL, python:module:function, "
    "or a model as provider:name"
)
"""The names that a player may have."""


class UnknownPlayer(ValueError):
    """The name of no player, or of one that is unavailable; `message` and `fix` are for the user."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


def player_named(name: str) -> Player:
    """The player with a name; only what it needs is imported.

    Raises:
        UnknownPlayer: there is no such player.
    """
    kind, _, rest = name.partition(":")
    match kind, bool(rest):
        case "demo", False:
            from evals.players.demo import DemoPlayer

            return DemoPlayer()
        case "oracle", False:
            from evals.players.oracle.player import OraclePlayer

            return OraclePlayer()
        case "script", False:
            from evals.players.script import ScriptPlayer

            return ScriptPlayer()
        case "null", False:
            from evals.players.null import NullPlayer

            return NullPlayer()
        case "boaster", False:
            from evals.players.boaster import BoasterPlayer

            return BoasterPlayer()
        case "replay", True:
            return _replay(rest)
        case "http" | "https", True:
            from evals.players.http import HttpPlayer

            return HttpPlayer(rest if rest.startswith(("http://", "https://")) else name)
        case "python", True:
            return _function(rest)
        case _:
            return _model(name)


def _replay(path: str) -> Player:
    from evals.jsonl import JsonLinesError
    from evals.players.replay import ReplayPlayer

    try:
        return ReplayPlayer.of(Path(path))
    except OSError:
        raise UnknownPlayer(f"The journal {path} cannot be read.", "Name a journal: replay:attempts.jsonl") from None
    except JsonLinesError as error:
        raise UnknownPlayer(f"{error}.", "Name a journal that `eval run --out` wrote.") from None


def _function(place: str) -> Player:
    from evals.named_function import FunctionUnavailable
    from evals.players.function import FunctionPlayer

    try:
        return FunctionPlayer.named(place)
    except FunctionUnavailable as error:
        fix = "Name an async function as python:module:function, of an installed module or one in this folder."
        raise UnknownPlayer(str(error), fix) from None


def _model(name: str) -> Player:
    from agent.errors import ModelChoiceError
    from agent.models.providers import PROVIDERS
    from evals.players.model import ModelPlayer

    if name.partition(":")[0] not in PROVIDERS:
        raise UnknownPlayer(f"There is no player {name!r}.", f"Use {FORMS}.")
    try:
        return ModelPlayer(name)
    except ModelChoiceError as refused:
        raise UnknownPlayer(refused.error.message, refused.error.fix) from None
