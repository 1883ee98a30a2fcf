"""From the name of a player to the player."""

from __future__ import annotations

from pathlib import Path

from evals.players.player import Player

FORMS = (
    "demo, oracle, script, null, boaster, replay:JOURNAL, http:URL, https:URL, python:module:function, "
    "or a model as provider:name"
)
"""What a player may be called."""


class UnknownPlayer(ValueError):
    """A name of no player, or of one that is unavailable; `message` and `fix` are for the user."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


def player_named(name: str) -> Player:
    """The player of a name.

    Raises:
        UnknownPlayer: when there is none.
    """
    built_in = _built_in(name)
    if built_in is not None:
        return built_in
    kind, _, rest = name.partition(":")
    if kind == "replay" and rest:
        return _replay(rest)
    if kind in ("http", "https") and rest:
        from evals.players.http import HttpPlayer

        return HttpPlayer(rest if rest.startswith(("http://", "https://")) else name)
    if kind == "python" and rest:
        from evals.players.function import FunctionPlayer

        try:
            return FunctionPlayer.named(rest)
        except ValueError as error:
            raise UnknownPlayer(f"{str(error)[:1].upper()}{str(error)[1:]}.", "Name an async function.") from None
    return _model(name)


def _built_in(name: str) -> Player | None:
    match name:
        case "demo":
            from evals.players.demo import DemoPlayer

            return DemoPlayer()
        case "oracle":
            from evals.players.oracle.player import OraclePlayer

            return OraclePlayer()
        case "script":
            from evals.players.script import ScriptPlayer

            return ScriptPlayer()
        case "null":
            from evals.players.null import NullPlayer

            return NullPlayer()
        case "boaster":
            from evals.players.boaster import BoasterPlayer

            return BoasterPlayer()
        case _:
            return None


def _replay(path: str) -> Player:
    from evals.jsonl import JsonLinesError
    from evals.players.replay import ReplayPlayer

    try:
        return ReplayPlayer.of(Path(path))
    except OSError:
        raise UnknownPlayer(f"The journal {path} cannot be read.", "Name a journal: replay:attempts.jsonl") from None
    except JsonLinesError as error:
        raise UnknownPlayer(f"{error}.", "Name a journal that `eval run --out` wrote.") from None


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
