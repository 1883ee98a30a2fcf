"""What is derived from values: attributes, items, slices and operators."""

from __future__ import annotations

import ast

from runtime.guard import policy
from runtime.guard.folding import fold_item, fold_operator
from runtime.guard.paths import added, below, filled, parent_of
from runtime.guard.reading import Reading
from runtime.guard.running import HANDED
from runtime.guard.values import (
    ANYTHING,
    DECODED,
    DRAWN,
    EMPTY,
    TABLE,
    Atom,
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
    outside,
    union,
)


def attribute(reading: Reading, held: Value, name: str) -> Value:
    """What an attribute of a value may be."""
    if name == "__dict__":
        return TABLE
    found: list[Value] = []
    for atom in held:
        match atom:
            case Ref(path):
                found.append(outside(policy.step(path, name)))
            case File(depth):
                found.append(_of_file(depth, name))
            case Local(number) | Made(number):
                found.append(reading.attribute(name))
                found.extend(_inherited(reading, number, name, made=isinstance(atom, Made)))
                if name in HANDED and name not in reading.stored and isinstance(atom, Made):
                    found.append(outside(HANDED[name]) if _of_engine(reading, number) else EMPTY)
            case Unknown("plain") if name in policy.HIDDEN_MODULES:
                found.append(outside(f"?{name}"))
            case Const() | Text():
                found.append(ANYTHING)
            case Box():
                found.append(ANYTHING)
            case _:
                found.append(reading.attribute(name) | ANYTHING)
    return union(found)


def _of_file(depth: int, name: str) -> Value:
    if name in ("parent", "parents"):
        return frozenset({parent_of(depth)})
    if name in ("name", "file", "_path", "buffer", "raw", "fp", "filename"):
        return frozenset({File(depth)})
    return ANYTHING


def _inherited(reading: Reading, number: int, name: str, *, made: bool) -> list[Value]:
    found: list[Value] = []
    for parent in reading.definitions[number].bases:
        if isinstance(parent, Ref) and name not in reading.stored:
            path = policy.step(parent.path + ("()" if made and not parent.path.endswith("()") else ""), name)
            if parent.path == "pathlib.Path" and made:
                found.append(outside(f"pathlib.Path.{name}"))
            elif policy.is_standard(parent.path) and policy.forbidden(path):
                found.append(outside(path))
    return found


def _of_engine(reading: Reading, number: int) -> bool:
    """Whether a class of the source is a component: it inherits from a class of the engine, by whatever way."""
    waiting, seen = [number], set[int]()
    while waiting:
        one = waiting.pop()
        seen.add(one)
        for parent in reading.definitions[one].bases:
            if isinstance(parent, Ref) and policy.is_engine(parent.path):
                return True
            if isinstance(parent, Local) and parent.number not in seen:
                waiting.append(parent.number)
    return False


def sliced(atom: object, *, backwards: bool) -> Value:
    """What a slice of something that is not a constant gives."""
    match atom:
        case Box():
            return frozenset({Box((), contents(atom), mapping=False)})
        case Text(decoded=decoded) if not backwards:
            return frozenset({Text("", "", decoded=decoded)})
        case Unknown() | Made() | Ref() if not backwards:
            return frozenset({Unknown()})
        case _:
            return DECODED if backwards else ANYTHING


def item(reading: Reading, held: Value, index: Value) -> Value:
    """What an item of a value may be."""
    if not held or not index:
        return EMPTY
    keys = constants(index)
    found: list[Value] = []
    for atom in held:
        match atom:
            case Const():
                folded = fold_item(frozenset({atom}), index) if keys is not None else elements(frozenset({atom}))
                found.append(ANYTHING if folded is None else folded)
            case Box():
                found.append(_in_box(atom, keys))
            case Unknown("table") | Unknown("picked"):
                if keys is not None and atom.kind == "table":
                    names = [key for key in keys if isinstance(key, str)]
                    found.append(union([reading.attribute(name) | ANYTHING for name in names]))
                else:
                    found.append(DRAWN)
            case Unknown("drawn"):
                found.append(DRAWN)
            case File(depth):
                found.append(frozenset({parent_of(depth)}))
            case Ref(path):
                found.append(outside(path if policy.forbidden(path) else f"{path}[]"))
            case _:
                found.append(ANYTHING)
    return union(found)


def item_of(box: Box, index: Value) -> Value:
    """What a container may hold under a key."""
    return _in_box(box, constants(index))


def _in_box(box: Box, keys: list[object] | None) -> Value:
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
    folded = fold_operator(operation, left, right)
    if folded:
        return folded
    if isinstance(operation, ast.Div) and any(isinstance(atom, File) for atom in left | right):
        return below(left, [right])
    if isinstance(operation, ast.Add):
        return added(left, right)
    if isinstance(operation, ast.Mod) and any(isinstance(atom, Const | Text) for atom in left):
        return filled(left)
    if isinstance(operation, ast.BitOr):
        return left | right  # dictionaries and types
    return ANYTHING


def loosened(value: Value) -> Value:
    """What a text may be that something is put after again and again."""
    first = [atom.value for atom in value if isinstance(atom, Const) and isinstance(atom.value, str)]
    head = (
        next((first[0][:size] for size in range(20, 0, -1) if all(one[:size] == first[0][:size] for one in first)), "")
        if first
        else ""
    )
    found: set[Atom] = set()
    for atom in value:
        match atom:
            case Const(value=str()):
                found.add(Text(head, "", decoded=False))
            case Const():
                found.add(Unknown())
            case Text():
                found.add(Text("", "", decoded=atom.decoded))
            case _:
                found.add(atom)
    return frozenset(found)
