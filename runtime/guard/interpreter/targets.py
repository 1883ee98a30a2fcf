"""What assignments, loops, parameters and patterns bind."""

from __future__ import annotations

import ast

from runtime.guard.interpreter.derived import attribute, item
from runtime.guard.interpreter.reading import Definition, Reading
from runtime.guard.interpreter.scopes import Scope, parameters
from runtime.guard.sets import boxed, constants, contents, elements, listed, one, part_of, union
from runtime.guard.values import ANYTHING, ASKED, EMPTY, Box, File, Made, Ref, Value
from runtime.guard.verdicts import judging, models, protocols

_ASKED = ("__getattr__", "__setattr__")
_DECLARES = ("__slots__", "__all__", "__match_args__", "__test__", "__author__", "__hash__", "__tablename__")


def bind(reading: Reading, target: ast.expr, value: Value, scope: Scope) -> None:
    """Assign a value to a target."""
    match target:
        case ast.Name(id=name):
            dunder = name.startswith("__") and name.endswith("__") and scope.kind != "function"
            if dunder and name not in reading.rules.private and name not in _DECLARES:
                reading.report("tampering", target, f"Assigning to `{name}`")
            if dunder:
                protocols.declared(reading, name, value, target)
            models.bound(reading, name, value, target, scope)
            reading.bind(name, value, scope)
        case ast.Attribute(attr=name):
            held = reading.base(target.value, scope)
            judging.changed(reading, held, name, target)
            protocols.declared(reading, name, value, target)
            models.stored(reading, held, name, value, target)
            judging.address(reading, held, name, value, target)
            reading.store(name, value)
        case ast.Subscript():
            held = reading.base(target.value, scope)
            index = reading.value(target.slice, scope)
            judging.key(reading, held, index, target)
            judging.changed(reading, held, "", target)
            names = constants(index)
            items = tuple((name, value) for name in names or ())
            if isinstance(target.slice, ast.Slice):
                value = union([value, elements(value)])
            box = Box(items, EMPTY if names else value, mapping=True)
            kinds = (True,) if names and all(isinstance(name, str) for name in names) else (False, True)
            reading.heap.put(held, box, kinds)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for place, part in enumerate(parts):
                if isinstance(part, ast.Starred):
                    bind(reading, part.value, boxed(elements(value)), scope)
                else:
                    bind(reading, part, part_of(value, place), scope)
        case ast.Starred():
            bind(reading, target.value, value, scope)
        case _:
            pass


def match(reading: Reading, node: ast.pattern, value: Value, scope: Scope) -> None:
    """Bind what a `case` pattern captures: a class pattern reads attributes by name, a mapping pattern items."""
    match node:
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None:
                match(reading, inner, value, scope)
            if name is not None:
                reading.bind(name, value, scope)
        case ast.MatchStar(name=str() as name):
            reading.bind(name, listed(elements(value)), scope)
        case ast.MatchOr(patterns=parts):
            for part in parts:
                match(reading, part, value, scope)
        case ast.MatchSequence(patterns=parts):
            starred = any(isinstance(part, ast.MatchStar) for part in parts)
            for place, part in enumerate(parts):
                found = elements(value) if starred else part_of(value, place)
                match(reading, part, value if isinstance(part, ast.MatchStar) else found, scope)
        case ast.MatchMapping():
            _match_items(reading, node, value, scope)
        case ast.MatchClass():
            _match_attributes(reading, node, value, scope)
        case ast.MatchValue(value=inner):
            reading.value(inner, scope)
        case _:
            pass


def _match_items(reading: Reading, node: ast.MatchMapping, value: Value, scope: Scope) -> None:
    for key, part in zip(node.keys, node.patterns, strict=True):
        index = reading.value(key, scope)
        judging.key(reading, value, index, key)
        match(reading, part, item(value, index), scope)
    if node.rest is not None:
        reading.bind(node.rest, value, scope)


def _match_attributes(reading: Reading, node: ast.MatchClass, value: Value, scope: Scope) -> None:
    kinds = reading.base(node.cls, scope)
    if node.patterns:
        models.matched(reading, kinds, node)
    for part in node.patterns:
        match(reading, part, value | ANYTHING, scope)
    for name, part in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
        judging.attribute(reading, value, name, node)
        found = attribute(reading, value, name)
        judging.use(reading, found, ast.copy_location(ast.Attribute(node.cls, name), node))
        match(reading, part, found, scope)


def defaults(reading: Reading, defined: Definition, scope: Scope) -> None:
    """Give parameters their defaults, and those that nothing in the source can pass anything."""
    node = defined.node
    if isinstance(node, ast.ClassDef):
        return
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    pairs += [(arg, part) for arg, part in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if part]
    for argument, default in pairs:
        reading.pass_in(defined, argument.arg, reading.value(default, scope))
    name = "" if isinstance(node, ast.Lambda) else node.name
    asked = name in _ASKED and defined.owner is not None
    if defined.owner is not None and positional and defined.static != "static":
        reading.pass_in(defined, positional[0].arg, one(Made(defined.owner.number)))
    if asked and len(positional) > 1:
        reading.pass_in(defined, positional[1].arg, ASKED)
    open_ended = name and (name not in reading.mentioned or defined.decorated)
    given = positional[: 0 if defined.owner is None else 2 if asked else 1]
    for argument in parameters(arguments):
        if argument in (arguments.vararg, arguments.kwarg):
            reading.pass_in(defined, argument.arg, one(Box((), ANYTHING, mapping=argument is arguments.kwarg)))
        elif open_ended and argument not in given:
            reading.pass_in(defined, argument.arg, ANYTHING)


def entered(value: Value) -> Value:
    """What `with value as name` binds."""
    found: list[Value] = []
    for atom in value:
        if isinstance(atom, Box) and not atom.mapping:
            found.append(contents(atom))
        else:
            found.append(one(atom) | (EMPTY if isinstance(atom, File | Ref) else ANYTHING))
    return union(found)
