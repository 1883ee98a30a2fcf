"""What an expression may be at run time, as far as the source tells: constants, outside names, files, texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

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

    @property
    def is_instance(self) -> bool:
        """Whether it is what a call gave, or was taken from that."""
        return "(" in self.path


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
    text: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A text that is put together at run time, of which only the beginning is known."""

    head: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything: `picked` by an attribute's name made at run time, a `method` that is judged by its arguments, or the
    name that `__getattr__` is `asked` for, which is judged where it is asked."""

    kind: Literal["plain", "picked", "method", "asked"] = "plain"


Atom: TypeAlias = Const | Ref | Local | Made | Box | File | Text | Unknown
Value: TypeAlias = frozenset[Atom]

EMPTY: Value = frozenset()
ASKED: Value = frozenset({Unknown("asked")})
ANYTHING: Value = frozenset({Unknown()})
PICKED: Value = frozenset({Unknown("picked")})
OUTSIDE: Value = frozenset({File(-1)})
JOINED: Value = frozenset({Text("")})


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
        value = frozenset(atom for atom in value if not _is_dull(atom)) | ANYTHING
    if len(value) > 2 * MAX_ATOMS:
        value = frozenset(atom for atom in value if isinstance(atom, File)) | ANYTHING
    return value


def widened(value: Value) -> Value:
    """The value told more roughly, so that it stops growing: one flat container, and no constants."""
    boxes = [atom for atom in value if isinstance(atom, Box)]
    kept: set[Atom] = {atom for atom in value if not isinstance(atom, Box)}
    if boxes:
        kept.add(Box((), _dulled(_flat(boxes)), mapping=any(box.mapping for box in boxes)))
    return _dulled(kept)


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
            case Const(value=whole) if (parts := parts_of(whole)) is not None:
                found.append(frozenset(map(Const, parts)))
            case Box(mapping=True):
                found.append(frozenset(Const(key) for key, _ in atom.items))
                found.append(ANYTHING if atom.rest else EMPTY)
            case Box():
                found.append(contents(atom))
            case File(depth, text):
                found.append(frozenset({File(depth + 1 if depth >= 0 else -1, text)}))
            case Text():
                found.append(JOINED)
            case Unknown("picked" | "method"):
                found.append(frozenset({atom}))
            case _:
                found.append(ANYTHING)
    return union(found)


def contents(box: Box) -> Value:
    """Everything that stands in a container."""
    return union([item for _, item in box.items] + [box.rest])


def every(value: Value) -> Value:
    """A value with all that stands in its containers."""
    return union([value, *(contents(atom) for atom in value if isinstance(atom, Box))])


def sequence(parts: list[Value]) -> Value:
    """The list or tuple of the parts: a constant when each part is one."""
    flat: list[object] = []
    for part in parts:
        found = constants(part)
        if found is None or len(found) != 1:
            return frozenset({shallow(Box(tuple(enumerate(parts)), EMPTY, mapping=False))})
        flat.append(found[0])
    return known(tuple(flat))


def listed(inside: Value) -> Value:
    """A list of which only the elements are known; nothing as long as they are not."""
    return frozenset({shallow(Box((), inside, mapping=False))}) if inside else EMPTY


def part_of(value: Value, place: int) -> Value:
    """What stands at a place of a sequence."""
    found: list[Value] = []
    for atom in value:
        match atom:
            case Const(value=whole) if (parts := parts_of(whole)) is not None and place < len(parts):
                found.append(known(parts[place]))
            case Box(mapping=False) if not atom.rest:
                found.append(union([part for name, part in atom.items if name == place]))
            case _:
                found.append(elements(frozenset({atom})))
    return union(found)


def shallow(box: Box) -> Atom:
    """The container, flat when containers stand in it without end."""
    return box if _nesting(box) <= MAX_NESTING else Box((), _dulled(_flat([box])), mapping=box.mapping)


def _nesting(box: Box) -> int:
    inner = [*(item for _, item in box.items), box.rest]
    return 1 + max((_nesting(atom) for value in inner for atom in value if isinstance(atom, Box)), default=0)
