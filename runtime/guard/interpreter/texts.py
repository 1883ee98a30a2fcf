"""Texts and paths put together: what stays below a temporary folder, and how a text begins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from runtime.guard.sets import boxed, contents, elements, known_value, one, strings, union
from runtime.guard.values import (
    ANYTHING,
    EMPTY,
    JOINED,
    OUTSIDE,
    STEP,
    Atom,
    Box,
    Const,
    File,
    Ref,
    Text,
    Unknown,
    Value,
)

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
    if left.depth < 0 or left.last:
        return left.followed
    match right:
        case Const(value=str() as text):
            steps = sum(1 for part in text.split("/") if part not in ("", "."))
            return File(-1 if _climbs(text) else left.depth + steps, left.text)
        case _ if is_step(right):
            return File(left.depth + 1, left.text, last=_head(right)[:1] in ("", "."))
        case _:
            return File(-1, left.text)


def is_step(atom: Atom) -> bool:
    """Whether something put into a path is one step of it: it may be `..`, but not more than that."""
    match atom:
        case Const(value=str() as text):
            return "/" not in text
        case Const(value=int() | float()) | Unknown("step"):
            return True
        case Text(step=step):
            return step
        case Ref(path):
            return _MADE_UP.fullmatch(path) is not None
        case _:
            return False


_MADE_UP = re.compile(
    r"uuid\.uuid[1-8]\(\)(\.hex|\.int)?|hashlib\.\w+\(\)\.hexdigest\(\)|time\.(time|time_ns|monotonic)\(\)|os\.getpid\(\)|"
    r"secrets\.token_(hex|urlsafe)\(\)|random\.(randint|randrange)\(\)|datetime\.(date|datetime)\.\w+\(\)\.isoformat\(\)"
)
"""What gives numbers and texts without a slash."""


def _climbs(text: str) -> bool:
    return text.startswith(("/", "~", "\\")) or ".." in text or text[1:2] == ":"


def as_path(parts: Sequence[Value]) -> Value:
    """A `Path` of the parts."""
    if not parts:
        return OUTSIDE
    start = (replace(atom, text=False) if isinstance(atom, File) else File(-1) for atom in parts[0])
    return below(frozenset(start), parts[1:])


def added(left: Value, right: Value) -> Value:
    """Two texts, lists or numbers, one after the other."""
    if not left or not right:
        return EMPTY
    if len(left) * len(right) > _MAX_WAYS:
        return JOINED | ANYTHING | (OUTSIDE if any(isinstance(atom, File) for atom in left | right) else EMPTY)
    return union([_added(first, second) for first in left for second in right])


def _added(left: Atom, right: Atom) -> Value:
    left, right = _made_up(left), _made_up(right)
    if isinstance(left, File) or isinstance(right, File):
        return one(_lengthened(left, right))
    if isinstance(left, Box) or isinstance(right, Box):
        return boxed(
            union([contents(side) if isinstance(side, Box) else elements(one(side)) for side in (left, right)])
        )
    match left, right:
        case Const(value=str() as first), Const(value=str() as second) if len(first) + len(second) <= _MAX_TEXT:
            return known_value(first + second)
        case Const(value=tuple()), Const(value=tuple()):
            return boxed(elements(frozenset({left, right})))
        case Const(value=""), Unknown():
            return one(right)
        case Const(value=str() as first), _:
            return one(Text((first or _head(right))[:_MAX_HEAD], is_step(left) and is_step(right)))
        case Text(head), _:
            return one(Text(head, is_step(left) and is_step(right)))
        case Const(value=int() | float()), Unknown("step"):
            return STEP
        case Unknown(), _:
            return STEP if is_step(left) and is_step(right) else ANYTHING
        case _, Const(value=str()) | Text():
            return JOINED
        case _:
            return ANYTHING


def _made_up(atom: Atom) -> Atom:
    return Unknown("step") if isinstance(atom, Ref) and is_step(atom) else atom


def _lengthened(left: Atom, right: Atom) -> File:
    """A path that has something put before or after it."""
    if not isinstance(left, File):
        return replace(right, text=True) if isinstance(right, File) and left == Const("") else File(-1, text=True)
    text = right.value if isinstance(right, Const) else _head(right)
    known_text = isinstance(right, Const) and isinstance(text, str)
    if left.depth < 0 or not isinstance(text, str) or ".." in text or not (known_text or is_step(right)):
        return File(-1, text=True)
    if "/" in text:
        return File(-1 if left.last else left.depth + 1, text=True)
    return File(left.depth, text=True, last=left.last or not known_text)


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
        case File():
            return replace(atom, text=True)
        case Const(value=int() | float() | None as plain):
            return Const(str(plain))
        case Const():
            return Text("")
        case Ref() if is_step(atom):
            return Unknown("step")
        case _:
            return Unknown()


def filled(template: Value, parts: Value = ANYTHING) -> Value:
    """A format template with something filled in: only what stands before the first gap is sure.

    Args:
        template: what it may be.
        parts: all that may be filled in.
    """
    steps = _all_steps(parts)
    return frozenset(_filled(atom, steps=steps and is_step(atom)) for atom in template)


def _filled(atom: Atom, *, steps: bool) -> Atom:
    match atom:
        case Const(value=str()) | Text():
            return Text(re.split(r"[{%]", _head(atom), maxsplit=1)[0][:_MAX_HEAD], steps)
        case _:
            return Unknown()


def joined(parts: Value) -> Value:
    """What `str.join` gives for parts that are not known one by one."""
    depths = [atom.depth if isinstance(atom, File) and not atom.last else -1 for atom in parts]
    if any(isinstance(atom, File) for atom in parts):
        return one(File(1 if min(depths) >= 0 else -1, text=True))
    return JOINED if parts else EMPTY


_KEEP_STEPS = frozenset(
    ("lower", "upper", "casefold", "title", "capitalize", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix")
)


def cleaned(held: Atom, method: str, given: Sequence[Value]) -> bool:
    """Whether a method of a text gives one step of a path."""
    if not isinstance(held, Text | Unknown):
        return False
    if method == "replace" and len(given) == 2:
        return _all_steps(given[1]) and (is_step(held) or given[0] == known_value("/"))
    return method in _KEEP_STEPS and is_step(held)


def substituted(given: Sequence[Value]) -> bool:
    """Whether `re.sub` gives one step of a path: it replaces all but the characters of names."""
    patterns = strings(given[0]) if len(given) > 1 else []
    only = bool(patterns) and len(patterns) == len(given[0]) and all(map(_NO_NAME.fullmatch, patterns))
    return only and _all_steps(given[1])


_NO_NAME = re.compile(r"\[\^(?:\\[wds.-]|[A-Za-z0-9](?:-[A-Za-z0-9])?|[_ .-])+\][+*]?")
"""A pattern for whatever is not in a list of characters without a slash."""


def _all_steps(value: Value) -> bool:
    return bool(value) and all(map(is_step, value))


def changed_text(atom: Const | Text, method: str) -> Value:
    """What a method of a text gives, when it gives a text at all."""
    match method, atom:
        case "split" | "rsplit" | "splitlines" | "partition" | "rpartition", _:
            return one(Box((), ANYTHING))
        case "strip" | "rstrip" | "lower", Const(value=str() as text):
            return known_value(getattr(text, method)())
        case "rstrip", Text():
            return one(atom)
        case "replace" | "strip" | "lstrip" | "lower" | "upper" | "title" | "translate" | "removeprefix" | "zfill", _:
            return JOINED
        case _:
            return ANYTHING
