"""Reads expressions: what each may be at run time, reporting on the way what no component may do."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

from runtime.guard.interpreter import hints, targets
from runtime.guard.interpreter.derived import attribute, item, operate, sliced
from runtime.guard.interpreter.reading import Reader, Reading
from runtime.guard.interpreter.scopes import Scope
from runtime.guard.interpreter.texts import added, as_text
from runtime.guard.interpreter.values import (
    ANYTHING,
    EMPTY,
    Box,
    Const,
    Local,
    Ref,
    Value,
    constants,
    contents,
    elements,
    known,
    listed,
    sequence,
    shallow,
    union,
)
from runtime.guard.verdicts import judging
from runtime.guard.verdicts.embedded import format_reach, template_reach

_GENERIC = ("typing.", "typing_extensions.", "@list", "@dict", "@tuple", "@set", "@type", "@frozenset")
"""What is subscripted with types; those in quotes are evaluated by whoever asks for them."""


def _constant(reading: Reading, node: ast.Constant, _: Scope) -> Value:
    text = node.value if isinstance(node.value, str) and "__" in node.value else ""
    if format_reach(text) or template_reach(text):
        reading.report("escape", node, "A template that reads what is behind the values")
    return known(node.value)


def _name(reading: Reading, node: ast.Name, scope: Scope) -> Value:
    return reading.lookup(node.id, scope, node.lineno)


def _attribute(reading: Reading, node: ast.Attribute, scope: Scope) -> Value:
    held = reading.base(node.value, scope)
    judging.attribute(reading, held, node.attr, node)
    special = judging.taken(reading, held, node.attr, node)
    return attribute(reading, held, node.attr) if special is None else special


def _subscript(reading: Reading, node: ast.Subscript, scope: Scope) -> Value:
    held = reading.base(node.value, scope)
    if isinstance(node.slice, ast.Slice):
        bounds = [reading.value(part, scope) for part in (node.slice.lower, node.slice.upper, node.slice.step)]
        return union([sliced(atom) for atom in held]) if held and all(bounds) else EMPTY
    if any(isinstance(atom, Ref) and atom.path.startswith(_GENERIC) for atom in held):
        hints.annotation(reading, node, scope)
        return held
    index = reading.value(node.slice, scope)
    judging.key(reading, held, index, node)
    return item(held, index)


def _binary(reading: Reading, node: ast.BinOp, scope: Scope) -> Value:
    parts: list[tuple[ast.operator, ast.expr]] = []
    first: ast.expr = node
    while isinstance(first, ast.BinOp):
        parts.append((first.op, first.right))
        first = first.left
    result = reading.value(first, scope)
    for operation, right in reversed(parts):
        result = operate(operation, result, reading.value(right, scope))
    return result


def _joined(reading: Reading, node: ast.JoinedStr, scope: Scope) -> Value:
    whole: Value = known("")
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            piece = reading.value(part.value, scope)
            if part.format_spec is not None:
                reading.value(part.format_spec, scope)
            piece = as_text(piece)
        else:
            piece = reading.value(part, scope)
        if not piece:
            return EMPTY
        whole = added(whole, piece)
    return whole


def _either(reading: Reading, node: ast.BoolOp, scope: Scope) -> Value:
    return union([reading.value(part, scope) for part in node.values])


def _choice(reading: Reading, node: ast.IfExp, scope: Scope) -> Value:
    reading.base(node.test, scope)
    return union([reading.value(node.body, scope), reading.value(node.orelse, scope)])


def _unary(reading: Reading, node: ast.UnaryOp, scope: Scope) -> Value:
    found = reading.base(node.operand, scope)
    numbers = constants(found)
    if isinstance(node.op, ast.USub) and numbers and all(isinstance(number, int) for number in numbers):
        return frozenset(Const(-number) for number in numbers if isinstance(number, int))
    return ANYTHING if found else EMPTY


def _compare(reading: Reading, node: ast.Compare, scope: Scope) -> Value:
    for part in (node.left, *node.comparators):
        reading.base(part, scope)
    return ANYTHING


def _sequence(reading: Reading, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
    parts: list[Value] = []
    starred: list[Value] = []
    for part in node.elts:
        if isinstance(part, ast.Starred):
            starred.append(elements(reading.value(part.value, scope)))
        else:
            parts.append(reading.value(part, scope))
    if starred:
        return frozenset({shallow(Box((), union(parts + starred), mapping=False))})
    return sequence(parts)


def _dictionary(reading: Reading, node: ast.Dict, scope: Scope) -> Value:
    items: list[tuple[object, Value]] = []
    rest: list[Value] = []
    for name, held in zip(node.keys, node.values, strict=True):
        found = reading.value(held, scope)
        if name is None:
            rest.extend([contents(atom) for atom in found if isinstance(atom, Box)] or [ANYTHING])
            continue
        names = constants(reading.value(name, scope))
        if names is None:
            rest.append(found)
        else:
            items.extend((one, found) for one in names)
    return frozenset({shallow(Box(tuple(items), union(rest), mapping=True))})


def _walrus(reading: Reading, node: ast.NamedExpr, scope: Scope) -> Value:
    found = reading.value(node.value, scope)
    home = scope
    while home.kind == "function" and home.parent is not None and node.target.id not in home.bound:
        home = home.parent
    reading.bind(node.target.id, found, home)
    return found


def _lambda(reading: Reading, node: ast.Lambda, scope: Scope) -> Value:
    defined = reading.define(node, scope)
    for default in (*node.args.defaults, *node.args.kw_defaults):
        reading.value(default, scope)
    targets.defaults(reading, defined, scope)
    reading.give(defined, reading.value(node.body, defined.scope))
    return frozenset({Local(defined.number)})


def _comprehension(
    reading: Reading, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope
) -> Value:
    inner = reading.rooms.setdefault(id(node), Scope("function", scope))
    for place, generator in enumerate(node.generators):
        for part in ast.walk(generator.target):
            if isinstance(part, ast.Name):
                inner.bound.add(part.id)
        source = reading.value(generator.iter, inner if place else scope)
        targets.bind(reading, generator.target, elements(source), inner)
        for test in generator.ifs:
            reading.base(test, inner)
    if isinstance(node, ast.DictComp):
        reading.value(node.key, inner)
        return frozenset({shallow(Box((), reading.value(node.value, inner), mapping=True))})
    return listed(reading.value(node.elt, inner))


def _awaited(reading: Reading, node: ast.Await, scope: Scope) -> Value:
    return reading.value(node.value, scope)


def _yielded(reading: Reading, node: ast.Yield | ast.YieldFrom, scope: Scope) -> Value:
    found = reading.value(node.value, scope)
    home: Scope | None = scope
    for defined in reading.definitions.values():
        if defined.scope is home:
            inner = elements(found) if isinstance(node, ast.YieldFrom) else found
            reading.give(defined, frozenset({shallow(Box((), inner, mapping=False))}) if inner else EMPTY)
    return ANYTHING


def _starred(reading: Reading, node: ast.Starred, scope: Scope) -> Value:
    return reading.value(node.value, scope)


def _slice(reading: Reading, node: ast.Slice, scope: Scope) -> Value:
    for part in (node.lower, node.upper, node.step):
        reading.value(part, scope)
    return ANYTHING


READERS: Mapping[type[ast.expr], Reader] = MappingProxyType(
    {
        ast.Constant: _constant,
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Subscript: _subscript,
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
"""How each kind of expression is read; calls are read elsewhere."""
