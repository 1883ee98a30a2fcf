"""What is derived from values: attributes, items, slices and operators."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from runtime.guard.interpreter.heap import ATTRIBUTES
from runtime.guard.interpreter.reading import Definition, Reading
from runtime.guard.interpreter.texts import added, below, filled, is_step
from runtime.guard.origins import is_anything
from runtime.guard.sets import boxed, constants, contents, elements, known_value, one, outside, strings, union
from runtime.guard.values import (
    ANYTHING,
    EMPTY,
    JOINED,
    MODEL_CONFIG,
    PICKED,
    STEP,
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
)
from runtime.guard.verdicts.running import HANDED, SAME

_STEPS = ("name", "stem", "suffix")
_KEEPS_THE_FILE = ("name", "file", "buffer", "raw", "fp", "filename")


def attribute(reading: Reading, held: Value, name: str) -> Value:
    """What an attribute of a value may be; one that is a property of the source is what that gives."""
    found: list[Value] = []
    for atom in union([_handed(reading, atom, name) or _attribute(reading, atom, name) for atom in held]):
        defined = reading.definitions[atom.number] if isinstance(atom, Local) else None
        is_property = defined is not None and defined.static == "property"
        found.append(reading.given_by(defined) if defined is not None and is_property else one(atom))
        own = reading.definitions[atom.number].scope.values.get("__get__", EMPTY) if isinstance(atom, Made) else EMPTY
        found += [reading.given_by(reading.definitions[part.number]) for part in own if isinstance(part, Local)]
    return union(found)


def _handed(reading: Reading, atom: Atom, name: str) -> Value:
    """What leads from something that may be a component to the run that it is part of, or the settings of a model;
    nothing for other names."""
    if name == "model_config":
        return _settings(reading, atom)
    own = name in reading.stored and (not name.startswith("_") or isinstance(atom, Ref))
    unknown = is_anything(atom) or atom == Unknown("step")
    return outside(HANDED[name]) if name in HANDED and unknown and not own and atom not in PICKED else EMPTY


def _settings(reading: Reading, atom: Atom) -> Value:
    """The settings of a model, when that is what something may be."""
    own = isinstance(atom, Local | Made) and not is_component(reading, atom.number)
    unknown = is_anything(atom) and "pydantic" in reading.tops
    return one(MODEL_CONFIG) | (ANYTHING if unknown else EMPTY) if own or unknown else EMPTY


def _attribute(reading: Reading, atom: Atom, name: str) -> Value:
    match atom:
        case Ref(path) if name == "__class__" and path.startswith("numpy.") and atom.is_instance:
            return outside("numpy.ndarray")
        case Ref(path):
            return outside(SAME.get(f"{path}.{name}", f"{path}.{name}"))
        case File() if name in ("parent", "parents"):
            return one(atom.parent)
        case File(depth) if name in _STEPS and (depth < 0 or name != "name"):
            return STEP
        case File() if name in _KEEPS_THE_FILE:
            return one(replace(atom, text=True))
        case Local() | Made() if name == "__dict__":
            return one(Box((), union(reading.attributes.values()) | ANYTHING, mapping=True, sites=ATTRIBUTES))
        case Made(number) if name in HANDED and is_component(reading, number):
            return outside(HANDED[name])
        case Local(number) if name == "__class__" and isinstance(reading.definitions[number].node, ast.ClassDef):
            return outside("types.FunctionType")
        case Local(number) | Made(number):
            inherits = name not in reading.stored and Ref("pathlib.Path") in reading.definitions[number].bases
            return reading.attribute(name) | (outside(f"pathlib.Path.{name}") if inherits else EMPTY)
        case Unknown("picked"):
            return one(atom)
        case Unknown():
            return reading.attribute(name) | ANYTHING
        case _:
            return ANYTHING


def lineage(reading: Reading, number: int) -> Iterator[Definition]:
    """A class of the source and those of the source that it inherits from, by whatever way, each once."""
    waiting, seen = [number], {number}
    while waiting:
        yield (defined := reading.definitions[waiting.pop()])
        above = {base.number for base in defined.bases if isinstance(base, Local)} - seen
        seen |= above
        waiting += sorted(above)


def foreign_bases(reading: Reading, number: int) -> Iterator[Atom]:
    """What such a class inherits from, by whatever way, that the source does not define."""
    return (base for each in lineage(reading, number) for base in each.bases if not isinstance(base, Local))


def is_component(reading: Reading, number: int) -> bool:
    """Whether a class of the source is a component: it inherits from a class of the engine, by whatever way."""
    bases = foreign_bases(reading, number)
    return any(isinstance(base, Ref) and base.path.startswith(("lfx", "langflow")) for base in bases)


def sliced(atom: Atom) -> Value:
    """What a slice of something gives."""
    match atom:
        case Box():
            return one(Box((), contents(atom)))
        case Const(value=tuple()):
            return one(Box((), elements(one(atom))))
        case Const(value=str()) | Text():
            return JOINED
        case File():
            return one(File(-1, text=True))
        case Ref() | Unknown() if is_step(atom):
            return STEP
        case _:
            return ANYTHING


def item(held: Value, index: Value) -> Value:
    """What an item of a value may be."""
    if not held or not index:
        return EMPTY
    return union([_item(atom, index) for atom in held])


def _item(atom: Atom, index: Value) -> Value:
    match atom:
        case Const():
            parts, keys = atom.parts, constants(index)
            if parts is None or keys is None:
                return elements(one(atom))
            found = [
                known_value(parts[key]) for key in keys if isinstance(key, int) and -len(parts) <= key < len(parts)
            ]
            return union(found) or ANYTHING
        case Box():
            return item_of(atom, index)
        case Unknown("picked" | "step"):
            return one(atom)
        case File():
            return one(atom.parent)
        case Ref(path) if path.count("[") < 2:
            return outside(f"{path}()[]")
        case _:
            return ANYTHING


def item_of(box: Box, index: Value) -> Value:
    """What a container may hold under a key."""
    keys = constants(index)
    if keys is None:
        return contents(box) or ANYTHING
    found = [thing for name, thing in box.items for wanted in keys if name == wanted]
    if not box.mapping and any(isinstance(wanted, int) and wanted < 0 for wanted in keys):
        found.append(contents(box))
    return union([*found, box.rest]) or ANYTHING


def operate(operation: ast.operator, left: Value, right: Value) -> Value:
    """What an operator gives."""
    if not left or not right:
        return EMPTY
    both = left | right
    match operation:
        case ast.Div() if any(isinstance(atom, File) for atom in both):
            return below(left, [right])
        case ast.Add():
            return added(left, right)
        case ast.Mod() if any(isinstance(atom, Const | Text) for atom in left):
            return filled(left, union([elements(one(atom)) if is_list(atom) else one(atom) for atom in right]))
        case ast.Mult() if strings(both) or any(isinstance(atom, Text | File) for atom in both):
            return JOINED
        case ast.Mult():
            lists = frozenset(filter(is_list, both))
            return boxed(elements(lists)) if lists else ANYTHING
        case ast.BitOr():
            own = any(isinstance(atom, Made) for atom in both)  # else dictionaries, sets or types
            return both | ANYTHING if own else both
        case _:
            return ANYTHING


def is_list(atom: Atom) -> bool:
    """Whether something is a container."""
    return isinstance(atom, Box) or (isinstance(atom, Const) and atom.parts is not None)


def loosened(value: Value) -> Value:
    """What a text may be that something is put after again and again."""
    known = strings(value) or [""]
    same = takewhile(lambda pair: pair[0] == pair[1], zip(min(known), max(known), strict=False))
    text = Text("".join(letter for letter, _ in same)[:20])
    return frozenset(text if strings(one(atom)) else Unknown() if isinstance(atom, Const) else atom for atom in value)
