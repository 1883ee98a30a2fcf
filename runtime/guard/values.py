"""What an expression may be at run time, as far as the source tells: constants, outside names, files, texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from runtime.guard.closed import attribute_rule

MAX_ATOMS = 64
MAX_BOXES = 4
MAX_PARTS = 400
MAX_CALLS = 3
MAX_NESTING = 4
MAX_PATH = 160


@dataclass(frozen=True, slots=True)
class Const:
    """A value that is known: text, bytes, a number, None, or a tuple of such (lists are told as tuples)."""

    value: object
    kind: type

    def __init__(self, value: object) -> None:
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "kind", type(value))


@dataclass(frozen=True, slots=True)
class Ref:
    """Something from outside the source by its dotted path; `()` stands for the result of a call, `@` for a builtin."""

    path: str


@dataclass(frozen=True, slots=True)
class Local:
    """A function or class that the source defines, by its number."""

    number: int


@dataclass(frozen=True, slots=True)
class Made:
    """An instance of a class that the source defines."""

    number: int


@dataclass(frozen=True, slots=True)
class Box:
    """A container: what stands under known keys or positions, and what else may be in it."""

    items: tuple[tuple[object, Value], ...]
    rest: Value
    mapping: bool


@dataclass(frozen=True, slots=True)
class File:
    """A path or an open file; `depth` is how many steps it lies below the temporary folder, -1 outside of it."""

    depth: int


@dataclass(frozen=True, slots=True)
class Text:
    """A text of which only the ends are known; `decoded` when it was unpacked, reversed or put together by numbers."""

    head: str
    tail: str
    decoded: bool


Kind: TypeAlias = Literal["plain", "picked", "drawn", "table"]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything: `picked` by an attribute's name made at run time, `drawn` from that, or a `table` of attributes."""

    kind: Kind = "plain"


Atom: TypeAlias = Const | Ref | Local | Made | Box | File | Text | Unknown
Value: TypeAlias = frozenset[Atom]

EMPTY: Value = frozenset()
ANYTHING: Value = frozenset({Unknown()})
PICKED: Value = frozenset({Unknown("picked")})
DRAWN: Value = frozenset({Unknown("drawn")})
TABLE: Value = frozenset({Unknown("table")})
OUTSIDE: Value = frozenset({File(-1)})
TEMPORARY: Value = frozenset({File(1)})
JOINED: Value = frozenset({Text("", "", decoded=False)})
DECODED: Value = frozenset({Text("", "", decoded=True)})


def known(value: object) -> Value:
    """The value that is `value`."""
    return frozenset({Const(value)})


def outside(path: str) -> Value:
    """The value that the dotted path names; nothing certain when the path has grown beyond use."""
    return frozenset({Ref(path)}) if len(path) <= MAX_PATH and path.count("(") <= MAX_CALLS else ANYTHING


def union(values: Iterable[Value]) -> Value:
    """Whatever one of the values may be."""
    merged = EMPTY.union(*values)
    return merged if len(merged) <= MAX_BOXES else capped(merged)


def capped(value: Value) -> Value:
    """The value with few containers and constants: many containers become one, many plain constants anything."""
    boxes = [atom for atom in value if isinstance(atom, Box)]
    if len(boxes) > MAX_BOXES:
        inside = union(contents(box) for box in boxes)
        value = value - frozenset(boxes) | {shallow(Box((), inside, mapping=any(box.mapping for box in boxes)))}
    if len(value) > MAX_ATOMS:
        value = frozenset(atom for atom in value if not isinstance(atom, Const | Text | Ref) or _sharp(atom)) | ANYTHING
    if len(value) > 2 * MAX_ATOMS:
        value = frozenset(atom for atom in value if isinstance(atom, File)) | DECODED | ANYTHING
    return value


def widened(value: Value) -> Value:
    """The value told more roughly, so that it stops growing: one flat container, and no constant that is harmless."""
    boxes = [atom for atom in value if isinstance(atom, Box)]
    kept: set[Atom] = {atom for atom in value if not isinstance(atom, Box)}
    if boxes:
        inside: set[Atom] = set()
        waiting = list(boxes)
        while waiting:
            for atom in contents(waiting.pop()):
                waiting.append(atom) if isinstance(atom, Box) else inside.add(atom)
        kept.add(Box((), _dulled(inside), mapping=any(box.mapping for box in boxes)))
    return _dulled(kept)


def _dulled(atoms: set[Atom]) -> Value:
    dull = {atom for atom in atoms if isinstance(atom, Const | Text | Ref) and not _sharp(atom)}
    return frozenset(atoms - dull) | ANYTHING if dull else frozenset(atoms)


def _sharp(atom: Atom) -> bool:
    """Whether a constant is a name or path that could do harm, and so is not forgotten."""
    if not isinstance(atom, Const):
        return isinstance(atom, Text) or (isinstance(atom, Ref) and "(" not in atom.path)
    text = atom.value
    return isinstance(text, str) and (attribute_rule(text) is not None or "__" in text or "/" in text or "." in text)


def parts_of(value: object) -> tuple[object, ...] | None:
    """The parts of a constant list or tuple; None for anything else."""
    return cast("tuple[object, ...]", value) if isinstance(value, tuple) else None


def constants(value: Value) -> list[object] | None:
    """All that the value may be when each is known; None when something else is among them."""
    if not value:
        return None
    found: list[object] = []
    for atom in value:
        if not isinstance(atom, Const):
            return None
        found.append(atom.value)
    return found


def certain_rounds(value: Value) -> list[object] | None:
    """The elements of the one constant that a value is certain to be, when they are few enough to be read singly."""
    found = constants(value)
    if found is None or len(found) != 1:
        return None
    whole = found[0]
    parts = list(whole) if isinstance(whole, str | bytes) else parts_of(whole)
    return list(parts) if parts is not None and len(parts) <= MAX_PARTS else None


def strings(value: Value) -> list[str]:
    """The known texts among what the value may be."""
    return [atom.value for atom in value if isinstance(atom, Const) and isinstance(atom.value, str)]


def elements(value: Value) -> Value:
    """What walking over the value may give."""
    found: list[Value] = []
    for atom in value:
        match atom:
            case Const(value=str() as text):
                found.append(frozenset(map(Const, text[:MAX_PARTS])))
            case Const(value=bytes() as data):
                found.append(frozenset(map(Const, data[:MAX_PARTS])))
            case Const(value=whole) if (parts := parts_of(whole)) is not None:
                found.append(frozenset(map(Const, parts)))
            case Box(mapping=True):
                found.append(frozenset(Const(key) for key, _ in atom.items))
                found.append(ANYTHING if atom.rest else EMPTY)
            case Box():
                found.extend(item for _, item in atom.items)
                found.append(atom.rest)
            case File(depth):
                found.append(frozenset({File(depth + 1 if depth >= 0 else -1)}))
            case Text():
                found.append(frozenset({Text("", "", decoded=atom.decoded)}))
            case Unknown("picked" | "drawn" | "table"):
                found.append(DRAWN)
            case _:
                found.append(ANYTHING)
    return union(found)


def contents(box: Box) -> Value:
    """Everything that stands in a container."""
    return union([item for _, item in box.items] + [box.rest])


def sequence(parts: list[Value]) -> Value:
    """The list or tuple of the parts: a constant when each part is one."""
    flat: list[object] = []
    for part in parts:
        found = constants(part)
        if found is None or len(found) != 1:
            return frozenset({shallow(Box(tuple(enumerate(parts)), EMPTY, mapping=False))})
        flat.append(found[0])
    return known(tuple(flat))


def shallow(box: Box) -> Atom:
    """The container, or nothing certain when containers stand in it without end."""
    return box if _nesting(box) <= MAX_NESTING else Unknown()


def _nesting(box: Box) -> int:
    inner = [*(item for _, item in box.items), box.rest]
    return 1 + max((_nesting(atom) for value in inner for atom in value if isinstance(atom, Box)), default=0)
