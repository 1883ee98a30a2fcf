"""The arguments of a call, with starred ones spread out where they are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from runtime.guard.interpreter.values import (
    EMPTY,
    Box,
    Const,
    Value,
    constants,
    contents,
    elements,
    known,
    parts_of,
    union,
)


@dataclass(eq=False)
class Arguments:
    """What is passed to a call.

    Attributes:
        given: by position, from 0.
        named: by keyword.
        more: what starred arguments may pass at any further place; empty when there are none.
    """

    given: list[Value] = field(default_factory=list[Value])
    named: dict[str, Value] = field(default_factory=dict[str, Value])
    more: Value = EMPTY

    def at(self, position: int, *names: str) -> Value | None:
        """The argument at a position, or under one of the names; None when it is not passed."""
        if 0 <= position < len(self.given):
            return self.given[position]
        for name in names:
            if name in self.named:
                return self.named[name]
        return self.more or None

    def every(self) -> Iterator[Value]:
        """All that is passed."""
        yield from self.given
        yield from self.named.values()
        if self.more:
            yield self.more

    def after(self, count: int) -> Arguments:
        """The same without the first `count` positions."""
        return Arguments(self.given[count:], self.named, self.more)

    def spread(self, starred: Value) -> None:
        """Pass what `*starred` holds."""
        if len(starred) == 1:
            (atom,) = starred
            parts = parts_of(atom.value) if isinstance(atom, Const) else None
            if parts is not None and not self.more:
                self.given.extend(map(known, parts))
                return
            if isinstance(atom, Box) and not atom.mapping and not atom.rest and not self.more:
                self.given.extend(part for _, part in atom.items)
                return
        self.more = union([self.more, elements(starred)])

    def spread_names(self, starred: Value) -> None:
        """Pass what `**starred` holds."""
        for atom in starred:
            if isinstance(atom, Box) and atom.mapping:
                for name, part in atom.items:
                    if isinstance(name, str):
                        self.named[name] = union([self.named.get(name, EMPTY), part])
                if atom.rest:
                    self.more = union([self.more, contents(atom)])
            else:
                self.more = union([self.more, elements(frozenset({atom}))])


def text_of(value: Value | None) -> str | None:
    """The one text that a value is certain to be."""
    found = constants(value) if value else None
    return found[0] if found and len(found) == 1 and isinstance(found[0], str) else None
