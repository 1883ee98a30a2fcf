"""Texts and paths put together: what stays below a temporary folder, and how a text begins."""

from __future__ import annotations

import re
from collections.abc import Sequence

from runtime.guard.sets import boxed, contents, elements, known, one, union
from runtime.guard.values import ANYTHING, EMPTY, JOINED, OUTSIDE, Atom, Box, Const, File, Text, Unknown, Value

_MAX_HEAD = 40
_MAX_WAYS = 256
_MAX_TEXT = 20_000


def below(start: Value, parts: Sequence[Value]) -> Value:
    """A path with parts put after it, each as `os.path.join` and `/` do."""
    result = start
    for part in parts:
        if not result or not part:
            return EMPTY
        if len(result) * len(part) > _MAX_WAYS:
            return OUTSIDE
        result = union([one(_under(left, right)) for left in result for right in part])
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
            steps = sum(1 for part in text.split("/") if part not in ("", "."))
            return File(-1 if _climbs(text) else left.depth + steps, left.text)
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
    return below(frozenset(File(atom.depth if isinstance(atom, File) else -1) for atom in parts[0]), parts[1:])


def added(left: Value, right: Value) -> Value:
    """Two texts, lists or numbers, one after the other."""
    if not left or not right:
        return EMPTY
    if len(left) * len(right) > _MAX_WAYS:
        return JOINED | ANYTHING | (OUTSIDE if any(isinstance(atom, File) for atom in left | right) else EMPTY)
    return union([_added(first, second) for first in left for second in right])


def _added(left: Atom, right: Atom) -> Value:
    if isinstance(left, File) or isinstance(right, File):
        return one(File(_depth(left, right), text=True))
    if isinstance(left, Box) or isinstance(right, Box):
        return boxed(
            union([contents(side) if isinstance(side, Box) else elements(one(side)) for side in (left, right)])
        )
    match left, right:
        case Const(value=str() as first), Const(value=str() as second) if len(first) + len(second) <= _MAX_TEXT:
            return known(first + second)
        case Const(value=tuple()), Const(value=tuple()):
            return boxed(elements(frozenset({left, right})))
        case Const(value=""), Unknown():
            return one(right)
        case Const(value=str() as first), _:
            return one(Text((first or _head(right))[:_MAX_HEAD]))
        case Text(), _:
            return one(left)
        case Unknown(), _:
            return ANYTHING
        case _, Const(value=str()) | Text():
            return JOINED
        case _:
            return ANYTHING


def _depth(left: Atom, right: Atom) -> int:
    """Where a path lies that has something put before or after it."""
    if not isinstance(left, File):
        return right.depth if isinstance(right, File) and left == Const("") else -1
    text = right.value if isinstance(right, Const) else _head(right)
    if left.depth < 0 or not isinstance(text, str) or ".." in text or (isinstance(right, Text) and not text):
        return -1
    return left.depth + 1 if "/" in text else left.depth


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
    return frozenset(map(_text, value))


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
    return frozenset(map(_filled, template))


def _filled(atom: Atom) -> Atom:
    match atom:
        case Const(value=str()) | Text():
            return Text(re.split(r"[{%]", _head(atom), maxsplit=1)[0][:_MAX_HEAD])
        case _:
            return Unknown()


def joined(parts: Value) -> Value:
    """What `str.join` gives for parts that are not known one by one."""
    depths = [atom.depth for atom in parts if isinstance(atom, File)]
    return one(File(1 if min(depths) >= 0 else -1, text=True)) if depths else JOINED if parts else EMPTY


def changed_text(atom: Const | Text, method: str) -> Value:
    """What a method of a text gives, when it gives a text at all."""
    match method, atom:
        case "split" | "rsplit" | "splitlines" | "partition" | "rpartition", _:
            return one(Box((), ANYTHING))
        case "strip" | "rstrip" | "lower", Const(value=str() as text):
            return known(getattr(text, method)())
        case "rstrip", Text():
            return one(atom)
        case "replace" | "strip" | "lstrip" | "lower" | "upper" | "title" | "translate" | "removeprefix" | "zfill", _:
            return JOINED
        case _:
            return ANYTHING
