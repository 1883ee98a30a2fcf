"""What is derived from values: attributes, items, slices and operators."""

from __future__ import annotations

import ast

from runtime.guard.interpreter.reading import Reading
from runtime.guard.interpreter.texts import added, below, filled, parent_of
from runtime.guard.interpreter.values import (
    ANYTHING,
    EMPTY,
    JOINED,
    PICKED,
    Box,
    Const,
    File,
    Local,
    Made,
    Ref,
    Text,
    Unknown,
    Value,
    constants,
    contents,
    elements,
    known,
    outside,
    parts_of,
    union,
)
from runtime.guard.verdicts.running import HANDED, SAME

_KEEPS_THE_FILE = ("name", "file", "buffer", "raw", "fp", "filename")


def attribute(reading: Reading, held: Value, name: str) -> Value:
    """What an attribute of a value may be."""
    found: list[Value] = []
    for atom in held:
        match atom:
            case Ref(path):
                found.append(outside(SAME.get(f"{path}.{name}", f"{path}.{name}")))
            case File() if name in ("parent", "parents"):
                found.append(frozenset({parent_of(atom)}))
            case File(depth) if name in _KEEPS_THE_FILE:
                found.append(frozenset({File(depth, text=True)}))
            case Local() | Made() if name == "__dict__":
                found.append(frozenset({Box((), union(reading.attributes.values()) | ANYTHING, mapping=True)}))
            case Local(number) | Made(number):
                found.append(_own(reading, number, name, made=isinstance(atom, Made)))
            case Unknown("plain") if name in HANDED and (name not in reading.stored or name.startswith("_")):
                found.append(outside(HANDED[name]))
            case Unknown("picked"):
                found.append(PICKED)
            case Const() | Text() | Box() | File():
                found.append(ANYTHING)
            case _:
                found.append(reading.attribute(name) | ANYTHING)
    return union(found)


def _own(reading: Reading, number: int, name: str, *, made: bool) -> Value:
    if made and name in HANDED and is_component(reading, number):
        return outside(HANDED[name])
    found = [reading.attribute(name)]
    if name not in reading.stored:
        found += [
            outside(f"{parent.path}.{name}")
            for parent in reading.definitions[number].bases
            if isinstance(parent, Ref) and parent.path == "pathlib.Path"
        ]
    return union(found)


def is_component(reading: Reading, number: int) -> bool:
    """Whether a class of the source is a component: it inherits from a class of the engine, by whatever way."""
    return any(path.startswith(("lfx", "langflow")) for path in roots(reading, number))


def roots(reading: Reading, number: int) -> set[str]:
    """The outside classes that a class of the source inherits from; `?` for one that is not known."""
    waiting, seen, found = [number], set[int](), set[str]()
    while waiting:
        one = waiting.pop()
        seen.add(one)
        for parent in reading.definitions[one].bases:
            match parent:
                case Ref(path):
                    found.add(path)
                case Local(other):
                    waiting.extend([other] if other not in seen else [])
                case _:
                    found.add("?")
    return found


def sliced(atom: object) -> Value:
    """What a slice of something gives."""
    match atom:
        case Box():
            return frozenset({Box((), contents(atom), mapping=False)})
        case Const(value=tuple()):
            return frozenset({Box((), elements(frozenset({Const(atom.value)})), mapping=False)})
        case Const(value=str()) | Text():
            return JOINED
        case File(depth):
            return frozenset({File(depth if depth < 0 else -1, text=True)})
        case _:
            return ANYTHING


def item(held: Value, index: Value) -> Value:
    """What an item of a value may be."""
    if not held or not index:
        return EMPTY
    keys = constants(index)
    found: list[Value] = []
    for atom in held:
        match atom:
            case Const(value=whole):
                found.append(_of_constant(atom, parts_of(whole), keys))
            case Box():
                found.append(item_of(atom, index))
            case Unknown("picked"):
                found.append(PICKED)
            case File():
                found.append(frozenset({parent_of(atom)}))
            case Ref(path):
                found.append(outside(f"{path}()[]") if path.count("[") < 2 else ANYTHING)
            case _:
                found.append(ANYTHING)
    return union(found)


def _of_constant(atom: Const, parts: tuple[object, ...] | None, keys: list[object] | None) -> Value:
    if parts is None or keys is None:
        return elements(frozenset({atom}))
    found = [known(parts[key]) for key in keys if isinstance(key, int) and -len(parts) <= key < len(parts)]
    return union(found) or ANYTHING


def item_of(box: Box, index: Value) -> Value:
    """What a container may hold under a key."""
    keys = constants(index)
    if keys is None:
        return contents(box) or ANYTHING
    found = [thing for name, thing in box.items for wanted in keys if name == wanted]
    if not box.mapping and any(isinstance(wanted, int) and wanted < 0 for wanted in keys):
        found.append(contents(box))
    found.append(box.rest)
    return union(found) or ANYTHING


def operate(operation: ast.operator, left: Value, right: Value) -> Value:
    """What an operator gives."""
    if not left or not right:
        return EMPTY
    match operation:
        case ast.Div() if any(isinstance(atom, File) for atom in left | right):
            return below(left, [right])
        case ast.Add():
            return added(left, right)
        case ast.Mod() if any(isinstance(atom, Const | Text) for atom in left):
            return filled(left)
        case ast.Mult() if any(isinstance(atom, Text | File) or _is_text(atom) for atom in left | right):
            return JOINED
        case ast.BitOr():
            return left | right  # dictionaries and types
        case ast.Mult():
            lists = frozenset(atom for atom in left | right if isinstance(atom, Box | Const) and not _is_number(atom))
            return frozenset({Box((), elements(lists), mapping=False)}) if lists else ANYTHING
        case _:
            return ANYTHING


def _is_number(atom: object) -> bool:
    return isinstance(atom, Const) and not isinstance(atom.value, tuple)


def _is_text(atom: object) -> bool:
    return isinstance(atom, Const) and isinstance(atom.value, str)


def loosened(value: Value) -> Value:
    """What a text may be that something is put after again and again."""
    heads = {atom.value for atom in value if isinstance(atom, Const) and isinstance(atom.value, str)}
    common = heads.pop() if len(heads) == 1 else ""
    return frozenset(
        Text(common[:20]) if _is_text(atom) else Unknown() if isinstance(atom, Const) else atom for atom in value
    )
