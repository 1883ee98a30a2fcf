"""The arguments of a call, with starred ones spread out where they are known, and the call itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from runtime.guard.interpreter.reading import Reading
from runtime.guard.interpreter.scopes import Scope
from runtime.guard.sets import contents, elements, known_value, one, union
from runtime.guard.values import EMPTY, MODEL_CONFIG, Box, Const, Value
from runtime.guard.violations import Rule


@dataclass(eq=False)
class Arguments:
    """What is passed to a call.

    Attributes:
        given: by position, from 0.
        named: by keyword.
        more: what starred arguments may pass at any further place; empty when there are none.
        open: whether `**` may pass keywords whose names do not stand in the source.
    """

    given: list[Value] = field(default_factory=list[Value])
    named: dict[str, Value] = field(default_factory=dict[str, Value])
    more: Value = EMPTY
    open: bool = False

    def at(self, position: int, *names: str) -> Value | None:
        """The argument at a position, or under one of the names; None when it is not passed."""
        if 0 <= position < len(self.given):
            return self.given[position]
        return next((self.named[name] for name in names if name in self.named), self.more or None)

    def every(self) -> Iterator[Value]:
        """All that is passed."""
        yield from self.given
        yield from self.named.values()
        if self.more:
            yield self.more

    def in_order(self) -> list[Value]:
        """What is passed by position, starred arguments last."""
        return [*self.given, *([self.more] if self.more else [])]

    def after(self, count: int) -> Arguments:
        """The same without the first `count` positions."""
        return Arguments(self.given[count:], self.named, self.more, self.open)

    def spread(self, starred: Value) -> None:
        """Pass what `*starred` holds."""
        atom = next(iter(starred)) if len(starred) == 1 and not self.more else None
        if isinstance(atom, Const) and atom.parts is not None:
            self.given.extend(map(known_value, atom.parts))
        elif isinstance(atom, Box) and not atom.mapping and not atom.rest:
            self.given.extend(part for _, part in atom.items)
        else:
            self.more = union([self.more, elements(starred)])

    def spread_names(self, starred: Value) -> None:
        """Pass what `**starred` holds."""
        for atom in starred - {MODEL_CONFIG}:
            more = elements(one(atom))
            if isinstance(atom, Box) and atom.mapping:
                for name, part in atom.items:
                    if isinstance(name, str):
                        self.named[name] = union([self.named.get(name, EMPTY), part])
                more = contents(atom) if atom.rest else EMPTY
            self.open = self.open or bool(more)
            self.more = union([self.more, more])


@dataclass(eq=False)
class Call:
    """A call, as what judges it sees it.

    Attributes:
        path: the dotted path of what is called, or the name of a method.
        held: what a method is called on.
    """

    reading: Reading
    node: ast.Call
    scope: Scope
    given: Arguments
    path: str = ""
    held: Value = EMPTY

    def at(self, position: int, *names: str) -> Value:
        """The argument at a position, or under one of the names; empty when it is not passed."""
        return self.given.at(position, *names) or EMPTY

    def report(self, rule: Rule, what: str, fix: str | None = None) -> None:
        """Note a violation where the call stands."""
        self.reading.report(rule, self.node, what, fix)
