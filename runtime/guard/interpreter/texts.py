"""Texts and paths put together: what stays below a temporary folder, and how a text begins."""

from __future__ import annotations

import re
from collections.abc import Sequence

from runtime.guard.interpreter.values import (
    ANYTHING,
    EMPTY,
    JOINED,
    OUTSIDE,
    Atom,
    Box,
    Const,
    File,
    Text,
    Unknown,
    Value,
    contents,
    elements,
    known,
    shallow,
    union,
)

_MAX_HEAD = 40
_MAX_WAYS = 256
_MAX_TEXT = 20_000


def parent_of(file: File) -> File:
    """The folder that a file or folder stands in."""
    return File(file.depth - 1 if file.depth > 0 else -1, file.text)


def below(start: Value, parts: Sequence[Value]) -> Value:
    """A path with parts put after it, each as `os.path.join` and `/` do."""
    result = start
    for part in parts:
        if not result or not part:
            return EMPTY
        if len(result) * len(part) > _MAX_WAYS:
            return OUTSIDE
        result = union([frozenset({_under(left, right)}) for left in result for right in part])
    return result


def _under(left: Atom, right: Atom) -> Atom:
    if isinstance(right, File):
        return right
    if not isinstance(left, File):
        return Unknown()
    if left.depth < 0:
        return left
    match right:
        case Const(value=str() as text):
            if _climbs(text):
                return File(-1, left.text)
            return File(left.depth + sum(1 for part in text.split("/") if part not in ("", ".")), left.text)
        case Text(head):
            return File(-1 if not head or _climbs(head) else left.depth + 1, left.text)
        case _:
            return File(left.depth + 1, left.text)


def _climbs(text: str) -> bool:
    return text.startswith(("/", "~", "\\")) or ".." in text or text[1:2] == ":"


def as_path(parts: Sequence[Value]) -> Value:
    """A `Path` of the parts."""
    if not parts:
        return OUTSIDE
    start = union([frozenset({File(atom.depth) if isinstance(atom, File) else File(-1)}) for atom in parts[0]])
    return below(start, parts[1:])


def added(left: Value, right: Value) -> Value:
    """Two texts, lists or numbers, one after the other."""
    if not left or not right:
        return EMPTY
    if len(left) * len(right) > _MAX_WAYS:
        return JOINED | ANYTHING | (OUTSIDE if any(isinstance(atom, File) for atom in left | right) else EMPTY)
    return union([frozenset({_added(one, other)}) for one in left for other in right])


def _added(left: Atom, right: Atom) -> Atom:
    if isinstance(left, File):
        text = right.value if isinstance(right, Const) else right.head if isinstance(right, Text) else ""
        if left.depth < 0 or not isinstance(text, str) or ".." in text or (isinstance(right, Text) and not text):
            return File(-1, text=True)
        return File(left.depth + 1 if "/" in text else left.depth, text=True)
    if isinstance(right, File):
        return File(right.depth if isinstance(left, Const) and left.value == "" else -1, text=True)
    if isinstance(left, Box) or isinstance(right, Box):
        sides = [contents(side) if isinstance(side, Box) else elements(frozenset({side})) for side in (left, right)]
        return shallow(Box((), union(sides), mapping=False))
    match left, right:
        case Const(value=str() as one), Const(value=str() as other) if len(one) + len(other) <= _MAX_TEXT:
            return Const(one + other)
        case Const(value=tuple()), Const(value=tuple()):
            return Box((), elements(frozenset({left, right})), mapping=False)
        case Const(value=""), Unknown():
            return right
        case Const(value=str() as one), _:
            return Text((one or _head(right))[:_MAX_HEAD])
        case Text(head), _:
            return Text(head)
        case Unknown(), _:
            return Unknown()
        case _, Const(value=str()) | Text():
            return Text("")
        case _:
            return Unknown()


def _head(atom: Atom) -> str:
    match atom:
        case Text(head):
            return head
        case Const(value=str() as text):
            return text
        case _:
            return ""


def as_text(value: Value) -> Value:
    """What a value is when it is written as text."""
    return frozenset(_text(atom) for atom in value)


def _text(atom: Atom) -> Atom:
    match atom:
        case Const(value=str()) | Text() | Unknown():
            return atom
        case File(depth):
            return File(depth, text=True)
        case Const(value=int() | float() | None as plain):
            return Const(str(plain))
        case Const():
            return Text("")
        case _:
            return Unknown()


def filled(template: Value) -> Value:
    """A format template with something filled in: only what stands before the first gap is sure."""
    found: list[Atom] = []
    for atom in template:
        match atom:
            case Const(value=str() as text):
                found.append(Text(re.split(r"[{%]", text, maxsplit=1)[0][:_MAX_HEAD]))
            case Text(head):
                found.append(Text(re.split(r"[{%]", head, maxsplit=1)[0]))
            case _:
                found.append(Unknown())
    return frozenset(found)


def joined(parts: Value) -> Value:
    """What `str.join` gives for parts that are not known one by one."""
    if not parts:
        return EMPTY
    files = [atom for atom in parts if isinstance(atom, File)]
    if files:
        return frozenset({File(-1 if any(atom.depth < 0 for atom in files) else 1, text=True)})
    return JOINED


def changed_text(atom: Const | Text, method: str) -> Value:
    """What a method of a text gives, when it gives a text at all."""
    match method:
        case "split" | "rsplit" | "splitlines" | "partition" | "rpartition":
            return frozenset({Box((), ANYTHING, mapping=False)})
        case "strip" | "rstrip" | "lower" | "encode" if isinstance(atom, Const) and isinstance(atom.value, str):
            text = {"strip": atom.value.strip(), "rstrip": atom.value.rstrip(), "lower": atom.value.lower()}
            return known(text.get(method, atom.value)) if method != "encode" else ANYTHING
        case "rstrip" if isinstance(atom, Text):
            return frozenset({atom})
        case "replace" | "strip" | "lstrip" | "lower" | "upper" | "title" | "translate" | "removeprefix" | "zfill":
            return JOINED
        case _:
            return ANYTHING
