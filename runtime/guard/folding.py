"""Computes with constants as Python would, in bounded time: a name put together from pieces is read as itself."""

from __future__ import annotations

import ast
import binascii
import itertools
import lzma
import zlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from runtime.guard.pure import MAX_SIZE, PURE
from runtime.guard.values import EMPTY, Const, Value, capped, constants, parts_of

_UNPACKING = ("@chr", "@bytes", "base64.", "binascii.", "codecs.", "zlib.", "gzip.", "bz2.", "lzma.", "@int.to_bytes")
_MAX_WAYS = 32
_MAX_BITS = 2048

_TEXT_METHODS = frozenset(
    [
        "join",
        "replace",
        "lower",
        "upper",
        "strip",
        "lstrip",
        "rstrip",
        "split",
        "rsplit",
        "encode",
        "title",
        "capitalize",
        "swapcase",
        "casefold",
        "removeprefix",
        "removesuffix",
        "partition",
        "rpartition",
        "splitlines",
        "decode",
        "hex",
        "__add__",
        "__getitem__",
        "__mul__",
        "__mod__",
        "__str__",
        "startswith",
        "endswith",
        "find",
        "index",
        "count",
        "isidentifier",
        "__len__",
        "__radd__",
        "__rmul__",
        "__format__",
        "__contains__",
        "translate",
        "maketrans",
    ]
)
_PADDING = frozenset(["center", "ljust", "rjust", "zfill", "expandtabs"])
_NUMBER_METHODS = frozenset(["to_bytes", "bit_length", "__add__", "__sub__", "__xor__", "__str__", "conjugate"])
_TUPLE_METHODS = frozenset(["index", "count", "__getitem__", "__len__", "copy", "__add__"])


class NotConstant(Exception):
    """The result cannot be told, or would be too big to be worth telling."""


def _spread(value: object) -> object:
    return tuple(value) if isinstance(value, list | set | frozenset | range | map | filter | zip | reversed) else value  # pyright: ignore[reportUnknownArgumentType] made of constants only


_FAILS = (ValueError, TypeError, KeyError, IndexError, OverflowError, ArithmeticError, LookupError, AttributeError)
_MORE_FAILS = (binascii.Error, zlib.error, lzma.LZMAError, EOFError, OSError, SyntaxError, RecursionError, MemoryError)


def _small(found: object, depth: int = 3) -> Const:
    found = _spread(found)
    if isinstance(found, bytearray):
        found = bytes(found)
    if isinstance(found, str | bytes):
        if len(found) > MAX_SIZE:
            raise NotConstant
    elif (parts := parts_of(found)) is not None:
        if len(parts) > MAX_SIZE or not depth:
            raise NotConstant
        return Const(tuple(_small(part, depth - 1).value for part in parts))
    elif not isinstance(found, bool | int | float | complex | type(None)):
        raise NotConstant
    return Const(found)


def _ways(parts: Sequence[Value]) -> list[tuple[object, ...]] | None:
    columns: list[list[object]] = []
    total = 1
    for part in parts:
        found = constants(part)
        if found is None:
            return None
        total *= len(found)
        if total > _MAX_WAYS:
            return None
        columns.append(found)
    return list(itertools.product(*columns))


def _each(compute: Callable[..., object], parts: Sequence[Value]) -> Value | None:
    ways = _ways(parts)
    if ways is None:
        return None
    found: set[Const] = set()
    for way in ways:
        try:
            found.add(_small(compute(*way)))
        except (NotConstant, *_MORE_FAILS):
            return None
        except _FAILS:
            continue  # this combination would fail at run time, and so does nothing
    return capped(frozenset(found)) if found else None


def fold_call(name: str, parts: Sequence[Value]) -> Value | None:
    """What a call of a known pure function gives for constants; None when that cannot be told."""
    if name not in PURE:
        return None
    if any(not part for part in parts):
        return EMPTY
    if (
        name in ("@bytes", "@bytearray")
        and parts
        and any(isinstance(number, int) for number in constants(parts[0]) or [0])
    ):
        return None  # bytes(n) is n zero bytes
    return _each(PURE[name], parts)


def is_foldable(name: str) -> bool:
    """Whether the function is one that unpacks or converts constants."""
    return name in PURE


def is_unpacking(name: str) -> bool:
    """Whether the function makes text out of what does not read as that text."""
    return name.startswith(_UNPACKING)


def fold_method(base: object, method: str, parts: Sequence[Value]) -> Value | None:
    """What a method of a constant gives for constants; None when that cannot be told."""
    allowed = (
        _TEXT_METHODS | _PADDING | {"format"}
        if isinstance(base, str | bytes)
        else _NUMBER_METHODS
        if isinstance(base, int)
        else _TUPLE_METHODS
        if parts_of(base) is not None
        else ()
    )
    if method not in allowed or any(not part for part in parts):
        return None

    whole: Any = base

    def compute(*args: Any) -> object:
        if method in _PADDING and any(isinstance(arg, int) and arg > MAX_SIZE for arg in args):
            raise NotConstant
        if method == "format" and _wide(str(whole)):
            raise NotConstant
        if method == "replace" and len(str(whole)) * (len(str(args[1])) + 1) > 50 * MAX_SIZE:
            raise NotConstant
        if method in ("to_bytes", "__mul__", "__rmul__", "__mod__") and any(
            isinstance(a, int) and a > 4096 for a in args
        ):
            raise NotConstant
        found: object = getattr(whole, method)(*args)  # a method of a str, bytes, int or tuple, named above
        return found

    return _each(compute, parts)


def _wide(template: str) -> bool:
    """Whether a format may ask for more padding than is worth computing, or look into what it is given."""
    digits = 0
    for letter in template:
        digits = digits + 1 if letter.isdigit() else 0
        if digits > 3:
            return True
    return "{" in template.replace("{", "", 1) and ":{" in template


def fold_operator(node: ast.operator, left: Value, right: Value) -> Value | None:
    """What an operator gives for constants; None when that cannot be told."""
    compute = _OPERATORS.get(type(node))
    return None if compute is None else _each(compute, (left, right))


def _size(side: object) -> int:
    parts = parts_of(side)
    if parts is not None:
        return len(parts)
    return len(side) if isinstance(side, str | bytes) else abs(side) if isinstance(side, int) else 1


def _bounded(*sides: object) -> None:
    if any(isinstance(side, int) and side.bit_length() > _MAX_BITS for side in sides):
        raise NotConstant


def _add(left: Any, right: Any) -> object:
    _bounded(left, right)
    return left + right


def _subtract(left: Any, right: Any) -> object:
    _bounded(left, right)
    return left - right


def _times(left: Any, right: Any) -> object:
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    if not numbers and _size(left) * _size(right) > MAX_SIZE:
        raise NotConstant
    _bounded(left, right)
    return left * right


def _percent(left: Any, right: Any) -> object:
    _bounded(left, right)
    if isinstance(left, str | bytes):
        whole = str(left)
        ambiguous = isinstance(right, tuple) and whole.count("%") < 2  # a list in its place would be written out
        if ambiguous or _wide(whole) or "*" in whole:
            raise NotConstant
    return left % right


def _divide(left: Any, right: Any) -> object:
    _bounded(left, right)
    return left // right


def _xor(left: Any, right: Any) -> object:
    _bounded(left, right)
    return left ^ right


def _and(left: Any, right: Any) -> object:
    _bounded(left, right)
    return left & right


def _or(left: Any, right: Any) -> object:
    _bounded(left, right)
    return left | right


def _shift_left(left: Any, right: Any) -> object:
    _bounded(left, right)
    if right > _MAX_BITS:
        raise NotConstant
    return left << right


def _shift_right(left: Any, right: Any) -> object:
    _bounded(left, right)
    return left >> right


_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], object]] = MappingProxyType(
    {
        ast.Add: _add,
        ast.Sub: _subtract,
        ast.Mult: _times,
        ast.Mod: _percent,
        ast.FloorDiv: _divide,
        ast.BitXor: _xor,
        ast.BitAnd: _and,
        ast.BitOr: _or,
        ast.LShift: _shift_left,
        ast.RShift: _shift_right,
    }
)


def _item(whole: Any, key: Any) -> object:
    return whole[key]


def _slice(whole: Any, low: Any, high: Any, step: Any) -> object:
    return whole[low:high:step]


def fold_item(base: Value, key: Value) -> Value | None:
    """What stands at an index or in a slice of constants; None when that cannot be told."""
    return _each(_item, (base, key))


def fold_slice(base: Value, low: Value, high: Value, step: Value) -> Value | None:
    """A slice of constants; None when that cannot be told."""
    return _each(_slice, (base, low, high, step))
