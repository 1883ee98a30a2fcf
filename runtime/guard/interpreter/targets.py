"""What assignments, loops, parameters and patterns bind."""

from __future__ import annotations

import ast

from runtime.guard.interpreter.reading import Definition, Reading
from runtime.guard.interpreter.scopes import Scope, parameters
from runtime.guard.interpreter.values import (
    ANYTHING,
    ASKED,
    EMPTY,
    Box,
    Const,
    File,
    Made,
    Ref,
    Value,
    constants,
    contents,
    elements,
    part_of,
    shallow,
    union,
)
from runtime.guard.verdicts import judging

_ASKED = ("__getattr__", "__setattr__")
_DECLARES = ("__slots__", "__all__", "__match_args__", "__test__", "__author__", "__hash__", "__tablename__")


def bind(reading: Reading, target: ast.expr, value: Value, scope: Scope) -> None:
    """Assign a value to a target."""
    match target:
        case ast.Name(id=name):
            dunder = name.startswith("__") and name.endswith("__") and scope.kind != "function"
            if dunder and name not in reading.rules.private and name not in _DECLARES:
                reading.report("tampering", target, f"Assigning to `{name}`")
            reading.bind(name, value, scope)
        case ast.Attribute(attr=name):
            held = reading.base(target.value, scope)
            judging.changed(reading, held, name, target)
            _check_address(reading, held, name, value, target)
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
            grow(reading, target.value, Box(items, EMPTY if names else value, mapping=True), scope)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for place, part in enumerate(parts):
                if isinstance(part, ast.Starred):
                    bind(reading, part.value, frozenset({shallow(Box((), elements(value), mapping=False))}), scope)
                else:
                    bind(reading, part, part_of(value, place), scope)
        case ast.Starred():
            bind(reading, target.value, value, scope)
        case _:
            pass


def _check_address(reading: Reading, held: Value, name: str, value: Value, node: ast.AST) -> None:
    if name in ("full_url", "selector") and any(isinstance(atom, Ref) for atom in held):
        for atom in value:
            if isinstance(atom, Const) and not str(atom.value).lower().startswith(("http://", "https://")):
                reading.report("files", node, f"A request to {str(atom.value)[:30]!r}")


def grow(reading: Reading, holder: ast.expr, box: Box, scope: Scope) -> None:
    """Let a container that a name or attribute holds have more in it."""
    more = frozenset({shallow(box)})
    if isinstance(holder, ast.Name):
        reading.bind(holder.id, more, scope) if holder.id in scope.bound else None
    elif isinstance(holder, ast.Attribute) and holder.attr in reading.stored:
        reading.store(holder.attr, more)


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
    if defined.owner is not None and positional and defined.static != "static":
        reading.pass_in(defined, positional[0].arg, frozenset({Made(defined.owner.number)}))
    if name in _ASKED and defined.owner is not None and len(positional) > 1:
        reading.pass_in(defined, positional[1].arg, ASKED)
    open_ended = not isinstance(node, ast.Lambda) and (name not in reading.mentioned or defined.decorated)
    for argument in parameters(arguments):
        if arguments.kwarg is argument:
            reading.pass_in(defined, argument.arg, frozenset({Box((), ANYTHING, mapping=True)}))
        elif arguments.vararg is argument:
            reading.pass_in(defined, argument.arg, frozenset({Box((), ANYTHING, mapping=False)}))
        elif open_ended and not (defined.owner is not None and argument in positional[: 2 if name in _ASKED else 1]):
            reading.pass_in(defined, argument.arg, ANYTHING)


def entered(value: Value) -> Value:
    """What `with value as name` binds."""
    found: list[Value] = []
    for atom in value:
        if isinstance(atom, Box) and not atom.mapping:
            found.append(contents(atom))
        elif isinstance(atom, File | Ref):
            found.append(frozenset({atom}))
        else:
            found.append(frozenset({atom}) | ANYTHING)
    return union(found)
