"""What `case` patterns bind: a class pattern reads attributes by name, a mapping pattern items."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from runtime.guard.interpreter import derived
from runtime.guard.interpreter.reading import Reading
from runtime.guard.interpreter.scopes import Scope
from runtime.guard.interpreter.values import ANYTHING, Value, elements, listed, part_of
from runtime.guard.verdicts import judging


def bind(reading: Reading, node: ast.pattern, value: Value, scope: Scope) -> None:
    """Bind what a pattern captures from a value."""
    read = _READERS.get(type(node))
    if read is not None:
        read(reading, node, value, scope)


def _as(reading: Reading, node: ast.MatchAs, value: Value, scope: Scope) -> None:
    if node.pattern is not None:
        bind(reading, node.pattern, value, scope)
    if node.name is not None:
        reading.bind(node.name, value, scope)


def _star(reading: Reading, node: ast.MatchStar, value: Value, scope: Scope) -> None:
    if node.name is not None:
        reading.bind(node.name, listed(elements(value)), scope)


def _or(reading: Reading, node: ast.MatchOr, value: Value, scope: Scope) -> None:
    for part in node.patterns:
        bind(reading, part, value, scope)


def _sequence(reading: Reading, node: ast.MatchSequence, value: Value, scope: Scope) -> None:
    starred = any(isinstance(part, ast.MatchStar) for part in node.patterns)
    for place, part in enumerate(node.patterns):
        whole = isinstance(part, ast.MatchStar)
        bind(reading, part, value if whole else elements(value) if starred else part_of(value, place), scope)


def _mapping(reading: Reading, node: ast.MatchMapping, value: Value, scope: Scope) -> None:
    for key, part in zip(node.keys, node.patterns, strict=True):
        index = reading.value(key, scope)
        judging.key(reading, value, index, key)
        bind(reading, part, derived.item(value, index), scope)
    if node.rest is not None:
        reading.bind(node.rest, value, scope)


def _class(reading: Reading, node: ast.MatchClass, value: Value, scope: Scope) -> None:
    reading.base(node.cls, scope)
    for part in node.patterns:
        bind(reading, part, value | ANYTHING, scope)
    for name, part in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
        judging.attribute(reading, value, name, node)
        found = derived.attribute(reading, value, name)
        judging.use(reading, found, ast.copy_location(ast.Attribute(node.cls, name), node))
        bind(reading, part, found, scope)


def _value(reading: Reading, node: ast.MatchValue, _: Value, scope: Scope) -> None:
    reading.value(node.value, scope)


_READERS: Mapping[type[ast.pattern], Callable[[Reading, Any, Value, Scope], None]] = MappingProxyType(
    {
        ast.MatchAs: _as,
        ast.MatchStar: _star,
        ast.MatchOr: _or,
        ast.MatchSequence: _sequence,
        ast.MatchMapping: _mapping,
        ast.MatchClass: _class,
        ast.MatchValue: _value,
    }
)
