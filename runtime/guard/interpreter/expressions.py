"""Reads expressions: what each may be at run time, reporting on the way what no component may do."""

from __future__ import annotations

import ast

from runtime.guard.interpreter import hints, targets
from runtime.guard.interpreter.derived import attribute, item, operate, sliced
from runtime.guard.interpreter.heap import GROWS
from runtime.guard.interpreter.reading import Reading, reads
from runtime.guard.interpreter.scopes import Scope
from runtime.guard.interpreter.texts import added, as_text
from runtime.guard.sets import (
    boxed,
    constants,
    elements,
    inside,
    known_value,
    listed,
    one,
    paths,
    sequence,
    shallow,
    union,
)
from runtime.guard.values import ANYTHING, EMPTY, MODEL_CONFIG, Box, Const, Local, Value
from runtime.guard.verdicts import judging, protocols
from runtime.guard.verdicts.embedded import format_reach, template_reach

_GENERIC = ("typing.", "typing_extensions.", "@list", "@dict", "@tuple", "@set", "@type", "@frozenset")
"""What is subscripted with types; those in quotes are evaluated by whoever asks for them."""


@reads(ast.Constant)
def _constant(reading: Reading, node: ast.Constant, _: Scope) -> Value:
    text = node.value if isinstance(node.value, str) and "__" in node.value else ""
    if format_reach(text) or template_reach(text):
        reading.report("escape", node, "A template that reads what is behind the values")
    if isinstance(node.value, str):
        protocols.quoted(reading, node.value, node)
    return known_value(node.value)


@reads(ast.Name)
def _name(reading: Reading, node: ast.Name, scope: Scope) -> Value:
    return reading.lookup(node.id, scope, node.lineno)


@reads(ast.Attribute)
def _attribute(reading: Reading, node: ast.Attribute, scope: Scope) -> Value:
    held = reading.base(node.value, scope)
    judging.attribute(reading, held, node.attr, node)
    if node.attr in GROWS:
        reading.heap.put(held, Box((), ANYTHING))
    special = judging.taken(reading, held, node.attr, node)
    return attribute(reading, held, node.attr) if special is None else special


@reads(ast.Subscript)
def _subscript(reading: Reading, node: ast.Subscript, scope: Scope) -> Value:
    held = reading.base(node.value, scope)
    if isinstance(node.slice, ast.Slice):
        bounds = [reading.value(part, scope) for part in (node.slice.lower, node.slice.upper, node.slice.step)]
        return union(map(sliced, held)) if all(bounds) else EMPTY
    if any(path.startswith(_GENERIC) for path in paths(held)):
        hints.annotation(reading, node, scope)
        return held
    index = reading.value(node.slice, scope)
    judging.key(reading, held, index, node)
    return item(held, index)


@reads(ast.BinOp)
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


@reads(ast.JoinedStr)
def _joined(reading: Reading, node: ast.JoinedStr, scope: Scope) -> Value:
    whole: Value = known_value("")
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            piece = as_text(reading.value(part.value, scope))
            if part.format_spec is not None:
                reading.value(part.format_spec, scope)
        else:
            piece = reading.value(part, scope)
        if not piece:
            return EMPTY
        whole = added(whole, piece)
    return whole


@reads(ast.BoolOp)
def _either(reading: Reading, node: ast.BoolOp, scope: Scope) -> Value:
    return union([reading.value(part, scope) for part in node.values])


@reads(ast.IfExp)
def _choice(reading: Reading, node: ast.IfExp, scope: Scope) -> Value:
    reading.base(node.test, scope)
    return union([reading.value(node.body, scope), reading.value(node.orelse, scope)])


@reads(ast.UnaryOp)
def _unary(reading: Reading, node: ast.UnaryOp, scope: Scope) -> Value:
    found = reading.base(node.operand, scope)
    numbers = [number for number in constants(found) or () if isinstance(number, int)]
    if isinstance(node.op, ast.USub) and numbers and len(numbers) == len(found):
        return frozenset(Const(-number) for number in numbers)
    return ANYTHING if found else EMPTY


@reads(ast.Compare)
def _compare(reading: Reading, node: ast.Compare, scope: Scope) -> Value:
    for part in (node.left, *node.comparators):
        reading.base(part, scope)
    return ANYTHING


@reads(ast.List, ast.Tuple, ast.Set)
def _sequence(reading: Reading, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
    parts = [reading.value(part, scope) for part in node.elts]
    if not any(isinstance(part, ast.Starred) for part in node.elts):
        return sequence(parts) if isinstance(node, ast.Tuple) else shallow(Box(tuple(enumerate(parts)), EMPTY))
    pairs = zip(node.elts, parts, strict=True)
    return boxed(union([elements(found) if isinstance(part, ast.Starred) else found for part, found in pairs]))


@reads(ast.Dict)
def _dictionary(reading: Reading, node: ast.Dict, scope: Scope) -> Value:
    items: list[tuple[object, Value]] = []
    rest: list[Value] = []
    for name, held in zip(node.keys, node.values, strict=True):
        found = reading.value(held, scope)
        names = None if name is None else constants(reading.value(name, scope))
        if name is None and found == one(MODEL_CONFIG):
            continue
        if name is None:
            rest.append(inside(found) if any(isinstance(atom, Box) for atom in found) else ANYTHING)
        elif names is None:
            rest.append(found)
        else:
            items.extend((name, found) for name in names)
    return shallow(Box(tuple(items), union(rest), mapping=True))


@reads(ast.NamedExpr)
def _walrus(reading: Reading, node: ast.NamedExpr, scope: Scope) -> Value:
    found = reading.value(node.value, scope)
    home = scope
    while home.kind == "function" and home.parent is not None and node.target.id not in home.bound:
        home = home.parent
    reading.bind(node.target.id, found, home)
    return found


@reads(ast.Lambda)
def _lambda(reading: Reading, node: ast.Lambda, scope: Scope) -> Value:
    defined = reading.define(node, scope)
    for default in (*node.args.defaults, *node.args.kw_defaults):
        reading.value(default, scope)
    targets.defaults(reading, defined, scope)
    reading.give(defined, reading.value(node.body, defined.scope))
    return one(Local(defined.number))


@reads(ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
def _comprehension(
    reading: Reading, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope
) -> Value:
    inner = reading.rooms.setdefault(id(node), Scope("function", scope))
    for place, generator in enumerate(node.generators):
        inner.bound.update(part.id for part in ast.walk(generator.target) if isinstance(part, ast.Name))
        source = reading.value(generator.iter, inner if place else scope)
        targets.bind(reading, generator.target, elements(source), inner)
        for test in generator.ifs:
            reading.base(test, inner)
    if isinstance(node, ast.DictComp):
        reading.value(node.key, inner)
        return boxed(reading.value(node.value, inner), mapping=True)
    return listed(reading.value(node.elt, inner))


@reads(ast.Yield, ast.YieldFrom)
def _yielded(reading: Reading, node: ast.Yield | ast.YieldFrom, scope: Scope) -> Value:
    found = reading.value(node.value, scope)
    if scope.number >= 0:
        given = elements(found) if isinstance(node, ast.YieldFrom) else found
        reading.give(reading.definitions[scope.number], listed(given))
    return ANYTHING


@reads(ast.Await, ast.Starred)
def _passed_through(reading: Reading, node: ast.Await | ast.Starred, scope: Scope) -> Value:
    return reading.value(node.value, scope)


@reads(ast.Slice)
def _slice(reading: Reading, node: ast.Slice, scope: Scope) -> Value:
    for part in (node.lower, node.upper, node.step):
        reading.value(part, scope)
    return ANYTHING
