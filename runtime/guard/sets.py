"""Values as the sets of all that something may be: what stands in them, and how they are kept small."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from runtime.guard.values import ANYTHING, EMPTY, FIXED, JOINED, Atom, Box, Const, File, Ref, Text, Unknown, Value

MAX_ATOMS = 64
MAX_BOXES = 4
MAX_PARTS = 400
MAX_CALLS = 3
MAX_NESTING = 4
MAX_PATH = 160
MAX_DEPTH = 6


def one(atom: Atom) -> Value:
    """The value that can only be this."""
    return frozenset({atom})


def known_value(value: object) -> Value:
    """The value that is `value`."""
    return frozenset({Const(value)})


def outside(path: str) -> Value:
    """The value that the dotted path names; nothing certain when the path has grown beyond use."""
    return one(Ref(path)) if len(path) <= MAX_PATH and path.count("(") <= MAX_CALLS else ANYTHING


def union(values: Iterable[Value]) -> Value:
    """Whatever one of the values may be."""
    merged = EMPTY.union(*values)
    return merged if len(merged) <= MAX_BOXES else _capped(merged)


def _capped(value: Value) -> Value:
    """The value with few containers and constants: many containers become one, many plain constants anything."""
    boxes = [atom for atom in value if isinstance(atom, Box)]
    if len(boxes) > MAX_BOXES:
        inside = union(contents(box) for box in boxes)
        value = value - frozenset(boxes) | _merged(boxes, inside)
    if len(value) > MAX_ATOMS:
        value = frozenset(atom for atom in value if not _is_dull(atom)) | ANYTHING
    if len(value) > 2 * MAX_ATOMS:
        value = frozenset(atom for atom in value if isinstance(atom, File)) | ANYTHING
    return value


def widened(value: Value) -> Value:
    """The value told more roughly, so that it stops growing: one container of each nesting, and no constants."""
    boxes = [atom for atom in value if isinstance(atom, Box)]
    kept: set[Atom] = {_shortened(atom) for atom in value if not isinstance(atom, Box)}
    if boxes:
        kept |= _merged(boxes, widened(union(contents(box) for box in boxes)))
    return _dulled(kept)


def _shortened(atom: Atom) -> Atom:
    """A path that lies deep is told as one that lies less deep, from which fewer steps lead up."""
    return replace(atom, depth=MAX_DEPTH) if isinstance(atom, File) and atom.depth > MAX_DEPTH else atom


def _merged(boxes: list[Box], inside: Value) -> Value:
    """One container in place of several."""
    sites = frozenset[object]().union(*(box.sites for box in boxes))
    return shallow(Box((), inside, any(box.mapping for box in boxes), sites))


def _flat(boxes: list[Box]) -> set[Atom]:
    inside: set[Atom] = set()
    waiting = list(boxes)
    while waiting:
        for atom in contents(waiting.pop()):
            waiting.append(atom) if isinstance(atom, Box) else inside.add(atom)
    return inside


def _dulled(atoms: set[Atom]) -> Value:
    dull = {atom for atom in atoms if _is_dull(atom)}
    return frozenset(atoms - dull) | ANYTHING if dull else frozenset(atoms)


def _is_dull(atom: Atom) -> bool:
    """Whether nothing is lost when an atom is told as anything at all, which is judged at least as hard."""
    return isinstance(atom, Const | Text) or (isinstance(atom, Ref) and atom.is_instance)


def shallow(box: Box) -> Value:
    """The container, flat when containers stand in it without end: those may be anything then."""
    if box.depth <= MAX_NESTING:
        return one(box)
    return one(Box((), _dulled(_flat([box])) | ANYTHING, box.mapping, box.sites))


def boxed(inside: Value, *, mapping: bool = False) -> Value:
    """A container of which only the elements are known."""
    return shallow(Box((), inside, mapping))


def listed(inside: Value) -> Value:
    """A list of which only the elements are known; nothing as long as they are not."""
    return boxed(inside) if inside else EMPTY


def sequence(parts: list[Value]) -> Value:
    """The tuple of the parts: a constant when each part is one."""
    singles = [found[0] for part in parts if (found := constants(part)) is not None and len(found) == 1]
    return known_value(tuple(singles)) if len(singles) == len(parts) else shallow(_tuple(parts))


def _tuple(parts: list[Value]) -> Box:
    return Box(tuple(enumerate(parts)), EMPTY, sites=FIXED)


def constants(value: Value) -> list[object] | None:
    """All that the value may be when each is known; None when something else is among them."""
    found = [atom.value for atom in value if isinstance(atom, Const)]
    return found if found and len(found) == len(value) else None


def strings(value: Value | None) -> list[str]:
    """The known texts among what the value may be."""
    return [atom.value for atom in value or () if isinstance(atom, Const) and isinstance(atom.value, str)]


def paths(value: Value) -> list[str]:
    """The dotted paths among what the value may be."""
    return [atom.path for atom in value if isinstance(atom, Ref)]


def elements(value: Value) -> Value:
    """What walking over the value may give."""
    return union(map(_elements, value))


def _elements(atom: Atom) -> Value:
    match atom:
        case Const(value=str() as text):
            return frozenset(map(Const, text[:MAX_PARTS]))
        case Const() if atom.parts is not None:
            return frozenset(map(Const, atom.parts))
        case Box(mapping=True):
            return frozenset(Const(key) for key, _ in atom.items) | (ANYTHING if atom.rest else EMPTY)
        case Box():
            return contents(atom)
        case File(depth, text, last):
            return one(File(depth + 1 if depth >= 0 and not last else -1, text))
        case Text():
            return JOINED
        case Unknown("picked" | "method" | "step"):
            return one(atom)
        case _:
            return ANYTHING


def part_of(value: Value, place: int) -> Value:
    """What stands at a place of a sequence."""
    found: list[Value] = []
    for atom in value:
        if isinstance(atom, Const) and atom.parts is not None and place < len(atom.parts):
            found.append(known_value(atom.parts[place]))
        elif isinstance(atom, Box) and not atom.mapping and not atom.rest:
            found.append(union([part for name, part in atom.items if name == place]))
        else:
            found.append(_elements(atom))
    return union(found)


def contents(box: Box) -> Value:
    """Everything that stands in a container."""
    return union([item for _, item in box.items] + [box.rest])


def inside(value: Value) -> Value:
    """What stands in the containers among the values."""
    return union([contents(atom) for atom in value if isinstance(atom, Box)])


def every(value: Value) -> Value:
    """A value with all that stands in its containers."""
    return union([value, inside(value)])
