"""Reads expressions: what each may be at run time, reporting on the way what no component may do."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from runtime.guard import calls, files, hints, judging, policy, targets
from runtime.guard.derived import attribute, item, operate, sliced
from runtime.guard.folding import fold_operator, fold_slice
from runtime.guard.paths import added, as_text
from runtime.guard.reading import Reading
from runtime.guard.scopes import Scope
from runtime.guard.values import (
    ANYTHING,
    DECODED,
    EMPTY,
    Box,
    Const,
    Local,
    Ref,
    Value,
    certain_rounds,
    constants,
    contents,
    elements,
    known,
    sequence,
    shallow,
    union,
)

_MANY = 8
"""Possibilities from which on each counts as work."""
_GENERIC = ("typing.", "typing_extensions.", "@list", "@dict", "@tuple", "@set", "@type", "@frozenset")
"""What is subscripted with types; those in quotes are evaluated by whoever asks for them."""


def value(reading: Reading, node: ast.expr | None, scope: Scope) -> Value:
    """What an expression may be, where its value goes somewhere: naming what is forbidden is reported."""
    if node is None:
        return known(None)
    found = base(reading, node, scope)
    if isinstance(node, ast.Name | ast.Attribute):
        for atom in found:
            if isinstance(atom, Ref):
                judging.used(reading, found, node)
                break
    return found


def base(reading: Reading, node: ast.expr, scope: Scope) -> Value:
    """What an expression may be, where only an attribute or item is taken from it."""
    reading.spend()
    read = _READERS.get(type(node))
    found = ANYTHING if read is None else read(reading, node, scope)
    if len(found) > _MANY:
        reading.spend(len(found))
    return found


def _constant(_: Reading, node: ast.Constant, __: Scope) -> Value:
    return known(node.value)


def _name(reading: Reading, node: ast.Name, scope: Scope) -> Value:
    return reading.lookup(node.id, scope, node.lineno)


def _attribute(reading: Reading, node: ast.Attribute, scope: Scope) -> Value:
    held = base(reading, node.value, scope)
    judging.attribute(reading, held, node.attr, node)
    files.taken(reading, held, node.attr, node)
    return attribute(reading, held, node.attr)


def _subscript(reading: Reading, node: ast.Subscript, scope: Scope) -> Value:
    held = base(reading, node.value, scope)
    if isinstance(node.slice, ast.Slice):
        bounds = [value(reading, part, scope) for part in (node.slice.lower, node.slice.upper, node.slice.step)]
        if not held or not all(bounds):
            return EMPTY
        if constants(held) is not None:
            folded = fold_slice(held, *bounds)
            return DECODED if folded is None else folded
        backwards = isinstance(node.slice.step, ast.UnaryOp)
        return union([sliced(atom, backwards=backwards) for atom in held])
    if any(isinstance(atom, Ref) and atom.path.startswith(_GENERIC) for atom in held):
        hints.annotation(reading, node, scope)
        return held
    index = value(reading, node.slice, scope)
    judging.key(reading, held, index, node)
    return item(reading, held, index)


def _binary(reading: Reading, node: ast.BinOp, scope: Scope) -> Value:
    parts: list[tuple[ast.operator, ast.expr]] = []
    first: ast.expr = node
    while isinstance(first, ast.BinOp):
        parts.append((first.op, first.right))
        first = first.left
    result = value(reading, first, scope)
    for operation, right in reversed(parts):
        result = operate(operation, result, value(reading, right, scope))
    return result


def _joined(reading: Reading, node: ast.JoinedStr, scope: Scope) -> Value:
    whole: Value = known("")
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            piece = value(reading, part.value, scope)
            if part.format_spec is not None:
                value(reading, part.format_spec, scope)
            piece = as_text(piece)
        else:
            piece = value(reading, part, scope)
        if not piece:
            return EMPTY
        folded = fold_operator(ast.Add(), whole, piece)
        whole = added(whole, piece) if folded is None else folded
    return whole


def _either(reading: Reading, node: ast.BoolOp, scope: Scope) -> Value:
    return union([value(reading, part, scope) for part in node.values])


def _choice(reading: Reading, node: ast.IfExp, scope: Scope) -> Value:
    value(reading, node.test, scope)
    return union([value(reading, node.body, scope), value(reading, node.orelse, scope)])


def _unary(reading: Reading, node: ast.UnaryOp, scope: Scope) -> Value:
    found = value(reading, node.operand, scope)
    numbers = constants(found)
    if isinstance(node.op, ast.USub) and numbers and all(isinstance(number, int) for number in numbers):
        return frozenset(Const(-number) for number in numbers if isinstance(number, int))
    return ANYTHING if found else EMPTY


def _compare(reading: Reading, node: ast.Compare, scope: Scope) -> Value:
    for part in (node.left, *node.comparators):
        if isinstance(part, ast.Name | ast.Attribute):
            found = base(reading, part, scope)
            if not all(isinstance(atom, Ref) and policy.is_module_in_part(atom.path) for atom in found):
                value(reading, part, scope)
        else:
            value(reading, part, scope)
    return ANYTHING


def _sequence(reading: Reading, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
    parts: list[Value] = []
    starred: list[Value] = []
    for part in node.elts:
        if isinstance(part, ast.Starred):
            starred.append(elements(value(reading, part.value, scope)))
        else:
            parts.append(value(reading, part, scope))
    if starred:
        return frozenset({shallow(Box((), union(parts + starred), mapping=False))})
    return sequence(parts)


def _dictionary(reading: Reading, node: ast.Dict, scope: Scope) -> Value:
    items: list[tuple[object, Value]] = []
    rest: list[Value] = []
    for name, held in zip(node.keys, node.values, strict=True):
        found = value(reading, held, scope)
        if name is None:
            rest.extend([contents(atom) for atom in found if isinstance(atom, Box)] or [ANYTHING])
            continue
        names = constants(value(reading, name, scope))
        if names is None:
            rest.append(found)
        else:
            items.extend((one, found) for one in names)
    return frozenset({shallow(Box(tuple(items), union(rest), mapping=True))})


def _walrus(reading: Reading, node: ast.NamedExpr, scope: Scope) -> Value:
    found = value(reading, node.value, scope)
    home = scope
    while home.kind == "function" and home.parent is not None and node.target.id not in home.bound:
        home = home.parent
    reading.bind(node.target.id, found, home)
    return found


def _lambda(reading: Reading, node: ast.Lambda, scope: Scope) -> Value:
    defined = reading.define(node, scope)
    for default in (*node.args.defaults, *node.args.kw_defaults):
        value(reading, default, scope)
    targets.defaults(reading, defined, scope)
    reading.give(defined, value(reading, node.body, defined.scope))
    return frozenset({Local(defined.number)})


def _comprehension(
    reading: Reading, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope
) -> Value:
    inner = reading.rooms.setdefault(id(node), Scope("function", scope))
    walked = _walk(reading, node.generators, inner, scope)
    results: list[Value] = []
    exact = True
    for certain in walked:
        exact = exact and certain
        if isinstance(node, ast.DictComp):
            value(reading, node.key, inner)
            results.append(value(reading, node.value, inner))
        else:
            results.append(value(reading, node.elt, inner))
    if isinstance(node, ast.DictComp):
        return frozenset({shallow(Box((), union(results), mapping=True))})
    if exact:
        return sequence(results)
    merged = union(results)
    return frozenset({shallow(Box((), merged, mapping=False))}) if merged else EMPTY


def _walk(reading: Reading, generators: Sequence[ast.comprehension], inner: Scope, scope: Scope) -> Iterator[bool]:
    """Bind the names of a comprehension once for each round whose values are certain, else once for all of them."""
    first, *others = generators
    source = value(reading, first.iter, scope)
    for part in ast.walk(first.target):
        if isinstance(part, ast.Name):
            inner.bound.add(part.id)
    rounds = None if others or first.ifs else certain_rounds(source)
    if rounds is not None:
        for one in rounds:
            inner.values = {}
            targets.bind(reading, first.target, known(one), inner)
            yield True
        return
    targets.bind(reading, first.target, elements(source), inner)
    for other in others:
        for part in ast.walk(other.target):
            if isinstance(part, ast.Name):
                inner.bound.add(part.id)
        targets.bind(reading, other.target, elements(value(reading, other.iter, inner)), inner)
    for test in (test for generator in generators for test in generator.ifs):
        value(reading, test, inner)
    yield False


def _awaited(reading: Reading, node: ast.Await, scope: Scope) -> Value:
    return value(reading, node.value, scope)


def _yielded(reading: Reading, node: ast.Yield | ast.YieldFrom, scope: Scope) -> Value:
    found = value(reading, node.value, scope)
    home: Scope | None = scope
    for defined in reading.definitions.values():
        if defined.scope is home:
            inner = elements(found) if isinstance(node, ast.YieldFrom) else found
            reading.give(defined, frozenset({shallow(Box((), inner, mapping=False))}) if inner else EMPTY)
    return ANYTHING


def _starred(reading: Reading, node: ast.Starred, scope: Scope) -> Value:
    return value(reading, node.value, scope)


def _slice(reading: Reading, node: ast.Slice, scope: Scope) -> Value:
    for part in (node.lower, node.upper, node.step):
        value(reading, part, scope)
    return ANYTHING


_READERS: Mapping[type[ast.expr], Callable[[Reading, Any, Scope], Value]] = MappingProxyType(
    {
        ast.Constant: _constant,
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Subscript: _subscript,
        ast.Call: calls.call,
        ast.BinOp: _binary,
        ast.JoinedStr: _joined,
        ast.BoolOp: _either,
        ast.IfExp: _choice,
        ast.UnaryOp: _unary,
        ast.Compare: _compare,
        ast.List: _sequence,
        ast.Tuple: _sequence,
        ast.Set: _sequence,
        ast.Dict: _dictionary,
        ast.NamedExpr: _walrus,
        ast.Lambda: _lambda,
        ast.ListComp: _comprehension,
        ast.SetComp: _comprehension,
        ast.GeneratorExp: _comprehension,
        ast.DictComp: _comprehension,
        ast.Await: _awaited,
        ast.Yield: _yielded,
        ast.YieldFrom: _yielded,
        ast.Starred: _starred,
        ast.Slice: _slice,
    }
)
