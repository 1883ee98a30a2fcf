"""Texts and paths put together: what stays below a temporary folder, and which ends of a text are certain."""

from __future__ import annotations

import re
from collections.abc import Sequence

from runtime.guard.values import (
    ANYTHING,
    DECODED,
    EMPTY,
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
    shallow,
    union,
)

_MAX_END = 40
_MAX_WAYS = 256


def parent_of(depth: int) -> File:
    """The folder that a file or folder stands in."""
    return File(depth - 1 if depth > 0 else -1)


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
            return _stepped(left.depth, text)
        case Text(head=head, decoded=decoded):
            return File(-1) if decoded or _climbs(head) else File(left.depth + 1)
        case Unknown("plain") | Const():
            return File(left.depth + 1)
        case _:
            return File(left.depth + 1)


def _climbs(text: str) -> bool:
    return text.startswith(("/", "~", "\\")) or ".." in text or text[1:2] == ":"


def _stepped(depth: int, text: str) -> File:
    if _climbs(text):
        return File(-1)
    return File(depth + sum(1 for part in text.split("/") if part not in ("", ".")))


def added(left: Value, right: Value) -> Value:
    """Two texts, lists or numbers, one after the other."""
    if not left or not right:
        return EMPTY
    if len(left) * len(right) > _MAX_WAYS:
        return DECODED | ANYTHING | (OUTSIDE if any(isinstance(atom, File) for atom in left | right) else EMPTY)
    return union([frozenset({_added(one, other)}) for one in left for other in right])


def _added(left: Atom, right: Atom) -> Atom:
    if isinstance(left, File):
        if left.depth < 0:
            return left
        text = right.value if isinstance(right, Const) else right.head if isinstance(right, Text) else ""
        decoded = isinstance(right, Text) and right.decoded
        if not isinstance(text, str) or decoded or ".." in text:
            return File(-1)
        return File(left.depth + 1 if "/" in text else left.depth)
    if isinstance(right, File):
        return right if right.depth < 0 or (isinstance(left, Const) and left.value == "") else File(-1)
    if isinstance(left, Box) or isinstance(right, Box):
        sides = [contents(side) if isinstance(side, Box) else elements(frozenset({side})) for side in (left, right)]
        return shallow(Box((), union(sides), mapping=False))
    if isinstance(left, Const | Text | Unknown) and isinstance(right, Const | Text | Unknown):
        if not any(isinstance(side, Text) or _is_text(side) for side in (left, right)):
            return Text("", "", decoded=False)
        decoded = any(isinstance(side, Text) and side.decoded for side in (left, right))
        return Text(_head(left, right), _tail(right, left), decoded=decoded)
    return next(iter(ANYTHING))


def _is_text(atom: Atom) -> bool:
    return isinstance(atom, Const) and isinstance(atom.value, str)


def _head(first: Atom, second: Atom) -> str:
    if isinstance(first, Const) and isinstance(first.value, str):
        more = second.head if isinstance(second, Text) and not first.value else ""
        return (first.value or more)[:_MAX_END]
    return first.head if isinstance(first, Text) else ""


def _tail(last: Atom, before: Atom) -> str:
    if isinstance(last, Const) and isinstance(last.value, str):
        more = before.tail if isinstance(before, Text) and not last.value else ""
        return (last.value or more)[-_MAX_END:]
    return last.tail if isinstance(last, Text) else ""


def as_path(parts: Sequence[Value]) -> Value:
    """A `Path` of the parts."""
    if not parts:
        return OUTSIDE
    start = union([frozenset({atom if isinstance(atom, File) else File(-1)}) for atom in parts[0]])
    return below(start, parts[1:])


def as_text(value: Value) -> Value:
    """What a value is when it is written as text."""
    return frozenset(_text(atom) for atom in value)


def _text(atom: Atom) -> Atom:
    match atom:
        case Const(value=str()) | File() | Text() | Unknown():
            return atom
        case Const(value=int() | float() | None as plain):
            return Const(str(plain))
        case Const():
            return Text("", "", decoded=True)
        case _:
            return Unknown()


def filled(template: Value) -> Value:
    """A format template with something filled in: only what stands before and after the first and last gap is sure."""
    found: list[Atom] = []
    for atom in template:
        match atom:
            case Const(value=str() as text):
                head = re.split(r"[{%]", text, maxsplit=1)[0]
                tail = re.split(r"[}]|%[-#0 +.\d]*[a-zA-Z]|%\(\w*\)[a-z]", text)[-1]
                found.append(Text(head[:_MAX_END], tail[-_MAX_END:] if tail != text else "", decoded=False))
            case Text():
                found.append(Text(atom.head.partition("{")[0], "", decoded=atom.decoded))
            case _:
                found.append(Unknown())
    return frozenset(found)
