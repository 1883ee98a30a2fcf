"""Templates that logging fills in with what it is given, which reads attributes as `str.format` does."""

from __future__ import annotations

from runtime.guard.interpreter.arguments import Call
from runtime.guard.sets import constants
from runtime.guard.values import EMPTY, Const
from runtime.guard.verdicts import methods

_LEVELS = frozenset(("trace", "debug", "info", "success", "warning", "error", "critical", "exception", "log"))
_BY_NAME = ("logging.Formatter", "logging.basicConfig")
_FILLED_BY_PERCENT = frozenset({Const("%"), Const("$")})


def logged(call: Call) -> None:
    """Judge a message of loguru, which is a template for what follows it, and a format of `logging` with braces."""
    name, given = call.path.rpartition(".")[2], call.given
    place = 1 if name == "log" else 0
    if call.path.startswith("loguru.") and name in _LEVELS and len(given.given) > place:
        rest = given.after(place + 1)
        if rest.given or rest.named or rest.more:
            methods.judge(Call(call.reading, call.node, call.scope, rest, "format", given.given[place]))
    if call.path in _BY_NAME:
        braces = call.at(2, "style") if name == "Formatter" else given.named.get("style", given.more)
        form = call.at(0, "fmt") if name == "Formatter" else given.named.get("format", given.more)
        if braces - _FILLED_BY_PERCENT and form != EMPTY and constants(form) is None:
            call.report("escape", "A format of log messages that does not stand in the source", "Write it out.")
