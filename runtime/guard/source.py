"""Reads a component's source and tells everything in it that no component may do."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from runtime.guard.given import GIVEN, as_executed, given_names
from runtime.guard.interpreter import calls, expressions, statements
from runtime.guard.interpreter.reading import Reading, TooMuch
from runtime.guard.parsing import module_of
from runtime.guard.ruleset import RulesError, canonical, rules
from runtime.guard.sets import one
from runtime.guard.values import EMPTY, Ref
from runtime.guard.verdicts import judging
from runtime.guard.violations import DOES, FIXES, Rule, Violation

MAX_LENGTH = 300_000
"""Characters of the longest source that is read."""
_MAX_PASSES = 32
_READ_BY = (calls, expressions, statements)  # each adds its readers when it is imported
_CODING = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


def scan(source: str, *, modules: Sequence[str] = ()) -> list[Violation]:
    """Read a component's source without running it.

    Args:
        source: Python source; it need not hold a component class.
        modules: modules that are there without being imported, by their dotted names.

    Returns:
        Every violation, by line; empty when the source may run. A source that does not parse is one violation
        `syntax`, one that is too long or too deeply nested to be read one violation `too_large`.
    """
    if len(source) > MAX_LENGTH:
        return [_whole("too_large", 1, f"The source is longer than {MAX_LENGTH:,} characters.")]
    source = as_executed(source)
    try:
        tree = module_of(source)
    except SyntaxError as error:
        return [_whole("syntax", error.lineno or 1, f"The source does not parse: {error.msg}.")]
    except (ValueError, OverflowError):
        return [_whole("syntax", 1, "The source does not parse: it holds characters that Python source cannot hold.")]
    except (RecursionError, MemoryError):
        return [_whole("syntax", 1, "The source does not parse: it is nested too deeply.")]
    return _read(tree, source, modules)


def _read(tree: ast.Module, source: str, modules: Sequence[str]) -> list[Violation]:
    given = {name: canonical(name) for name in modules}
    try:
        allowed = rules()
    except RulesError as error:
        return [Violation(1, "unlisted", f"The allow list cannot be used. {error}", "Mend the operator's file.")]
    try:
        reading = Reading(tree, allowed, judging.use)
        for name, path in given.items():
            for known, whole in ((name, path), (name.partition(".")[0], path.partition(".")[0])):
                reading.module.bound.add(known)
                reading.module.values[known] = one(Ref(whole))
        for name, path in given_names(tree) if not reading.mentioned.isdisjoint(GIVEN) else ():
            reading.module.bound.add(name)
            reading.module.values[name] = reading.module.values.get(name, EMPTY) | {Ref(path)}
        _settle(reading)
        if reading.leave_open() or reading.missed:
            reading.final = True
            _settle(reading)
    except RecursionError:
        return [_whole("too_large", 1, "The source is nested too deeply to be read.")]
    except TooMuch:
        return [_whole("too_large", 1, "The source is too large to be read.")]
    found = reading.found
    for name, path in given.items():
        if (rule := allowed.refusal(path)) is not None:
            found.add(Violation(1, rule, f"Importing `{name}` {DOES[rule]}.", FIXES[rule]))
    for number, line in enumerate(source.split("\n", 2)[:2], start=1):
        coding = _CODING.match(line)
        if coding and coding[1].lower().replace("_", "-") not in ("utf-8", "utf8", "ascii", "utf-8-unix"):
            found.add(_whole("syntax", number, f"The source declares the encoding {coding[1]!r}."))
    return sorted(found)


def _settle(reading: Reading) -> None:
    """Read again until nothing new is learnt."""
    for _ in range(_MAX_PASSES):
        reading.stale = reading.missed = False
        reading.read.clear()
        reading.found.clear()
        statements.read(reading)
        reading.passes += 1
        if not reading.stale:
            return
    raise TooMuch


def _whole(rule: Rule, line: int, message: str) -> Violation:
    return Violation(line, rule, message, FIXES[rule])
