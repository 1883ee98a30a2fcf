"""What is put into containers after they were made, by where they were made (allocation sites).

Whoever changes a container changes it for all who hold it. What is put into something that cannot be followed may have
been put into any container.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from runtime.guard.origins import is_anything
from runtime.guard.sets import MAX_NESTING, contents, shallow, union
from runtime.guard.values import ANYTHING, EMPTY, FIXED, Box, Unknown, Value

_Asked: TypeAlias = tuple[Value, frozenset[object], int]
Grow: TypeAlias = Callable[[dict[Any, Value], object, Value], None]


GROWS = frozenset(("append", "extend", "insert", "update", "setdefault", "add", "appendleft", "extendleft"))
"""Methods that put something into a container; one that is taken may be called with anything."""
_REBUILDING = 8
"""How many expressions it is worth to put together again a container with what was put into it."""
ATTRIBUTES = frozenset({"attributes"})
"""The site of the tables in which the source's own objects keep their attributes."""


@dataclass(eq=False)
class Heap:
    """All that was put into containers.

    Attributes:
        spend: counts work.
        grow: lets what a table has under a name be one thing more.
        read: what was read in this pass.
        added: what was put into the containers of each site.
        anywhere: what was put into something that cannot be followed: lists under False, dictionaries under True.
    """

    spend: Callable[[int], None]
    grow: Grow
    read: set[object]
    added: dict[Any, Value] = field(default_factory=dict[Any, Value])
    anywhere: dict[Any, Value] = field(default_factory=dict[Any, Value])
    _known: dict[_Asked, tuple[Value, frozenset[object]]] = field(
        default_factory=dict["_Asked", "tuple[Value, frozenset[object]]"]
    )

    def put(self, held: Value, box: Box, kinds: Iterable[bool] = (False, True)) -> None:
        """Put what stands in `box` into what `held` may be.

        Args:
            held: what is changed.
            box: what it has more then.
            kinds: whether it may be a list (False), and a dictionary (True).
        """
        for atom in held:
            if isinstance(atom, Box):
                for site in atom.sites - FIXED:
                    self._grow(self.added, site, box)
            elif is_anything(atom):
                for kind in kinds:
                    self._grow(self.anywhere, kind, box)

    def _grow(self, table: dict[Any, Value], key: object, box: Box) -> None:
        before = table.get(key)
        self.grow(table, key, shallow(box))
        if table.get(key) != before:
            self._known.clear()

    def spoil(self, given: Value) -> None:
        """Let the containers that are given to something outside come back with anything in them."""
        waiting = list(given)
        while waiting:
            if isinstance(atom := waiting.pop(), Box):
                self.put(frozenset({atom}), Box((), ANYTHING))
                waiting.extend(contents(atom))

    def seen(self, value: Value, place: object) -> Value:
        """The value of an expression, with all that was put into its containers; new ones are made at this place."""
        if not any(isinstance(atom, Box) for atom in value):
            return value
        return self._seen(placed(value, place), frozenset(), MAX_NESTING)

    def _seen(self, value: Value, outer: frozenset[object], depth: int) -> Value:
        """What `_together` gives, put together once for as long as nothing is put into any container."""
        asked = (value, outer, depth)
        if (known := self._known.get(asked)) is not None:
            self.read.update(known[1])
            return known[0]
        read, self.read = self.read, set()
        try:
            found = self._together(value, outer, depth)
            self._known[asked] = found, frozenset(self.read)
        finally:
            read.update(self.read)
            self.read = read
        return found

    def _together(self, value: Value, outer: frozenset[object], depth: int) -> Value:
        if not depth:
            return frozenset(Unknown() if isinstance(atom, Box) else atom for atom in value)
        found: list[Value] = []
        for atom in value:
            if not isinstance(atom, Box):
                found.append(frozenset({atom}))
                continue
            if not self.anywhere and self.added.keys().isdisjoint(atom.within):
                self.read.update((id(self.added), site) for site in atom.within)
                self.read.update((id(self.anywhere), kind) for kind in (False, True))
                found.append(frozenset({atom}))
                continue
            self.spend(_REBUILDING + len(atom.within))
            sites = atom.sites - outer
            inner = outer | sites | {atom.mapping}
            more = [self._of(self.added, site) for site in sites]
            more += [] if atom.mapping in outer or atom.sites == FIXED else [self._of(self.anywhere, atom.mapping)]
            for box in {atom, *(box for boxes in more for box in boxes if isinstance(box, Box))}:
                items = tuple((name, self._inside(held, inner, depth)) for name, held in box.items)
                found.append(shallow(Box(items, self._inside(box.rest, inner, depth), atom.mapping, atom.sites)))
        return union(found)

    def _inside(self, value: Value, outer: frozenset[object], depth: int) -> Value:
        return self._seen(value, outer, depth - 1) if any(isinstance(atom, Box) for atom in value) else value

    def attribute(self, name: str) -> Value:
        """What was put under a name into the table of an object's attributes."""
        found = [box for box in self._of(self.added, *ATTRIBUTES) if isinstance(box, Box)]
        return union([*(held for box in found for key, held in box.items if key == name), *(box.rest for box in found)])

    def _of(self, table: dict[Any, Value], key: object) -> Value:
        self.read.add((id(table), key))
        return table.get(key, EMPTY)


def placed(value: Value, place: object) -> Value:
    """The value, with new containers made at this place."""
    if all(not isinstance(atom, Box) or atom.sites for atom in value):
        return value
    site = frozenset({place})
    return frozenset(replace(atom, sites=site) if isinstance(atom, Box) and not atom.sites else atom for atom in value)
