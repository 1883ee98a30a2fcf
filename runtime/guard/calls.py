"""Reads calls: who is called, with what, what that may do and what it may give."""

from __future__ import annotations

import ast

from runtime.guard import derived, expressions, files, functions, judging, methods, targets
from runtime.guard.arguments import Arguments
from runtime.guard.filecalls import FILE_CALLS
from runtime.guard.paths import as_path
from runtime.guard.reading import Definition, Reading
from runtime.guard.scopes import Function, Scope, parameters
from runtime.guard.values import (
    ANYTHING,
    EMPTY,
    Box,
    Const,
    Local,
    Made,
    Ref,
    Unknown,
    Value,
    elements,
    union,
)

_LOOKS_AT = {
    "@getattr": 0,
    "@hasattr": 0,
    "@setattr": 0,
    "@delattr": 0,
    "@vars": 0,
    "@dir": 0,
    "@isinstance": 1,
    "@issubclass": 1,
}
"""Builtins that take a module or class only to look at it, with the argument's position."""
_SWITCHES = {
    "allow_dangerous_deserialization": False,
    "allow_dangerous_code": False,
    "allow_pickle": False,
    "pickle_fallback": False,
    "trust_remote_code": False,
    "weights_only": True,
}
"""Keywords that let a library execute what it reads, with the value that forbids it."""
_RESERVED = {"name": "component_as_tool", "method": "to_toolkit"}
_PASSES_ELEMENTS = ("@map", "@filter", "functools.reduce", "itertools.starmap", "@sorted", "@max", "@min")


def call(reading: Reading, node: ast.Call, scope: Scope) -> Value:
    """What a call may give."""
    func = node.func
    held: Value | None = None
    if isinstance(func, ast.Attribute):
        held = expressions.base(reading, func.value, scope)
        judging.attribute(reading, held, func.attr, func)
        callee = derived.attribute(reading, held, func.attr)
    else:
        callee = expressions.base(reading, func, scope)
    given = _arguments(reading, node, callee, scope)
    found: list[Value] = []
    if held is not None and isinstance(func, ast.Attribute):
        methods.judge(reading, held, func.attr, given, node)
        known = methods.result(reading, held, func.attr, given, node)
        if known is not None:
            found.append(known)
            callee = frozenset(atom for atom in callee if isinstance(atom, Ref | Local))
            if isinstance(func.value, ast.Name | ast.Attribute):
                methods.mutate(reading, func, given, scope)
    found.extend(_called(reading, atom, held, given, node, scope) for atom in callee)
    _pass_functions(reading, callee, given)
    _reserved(reading, node, callee, given)
    _switches(reading, node, given)
    return union(found) if callee or found else EMPTY


def _arguments(reading: Reading, node: ast.Call, callee: Value, scope: Scope) -> Arguments:
    looked_at = {_LOOKS_AT[atom.path] for atom in callee if isinstance(atom, Ref) and atom.path in _LOOKS_AT}
    given = Arguments()
    changes = any(isinstance(atom, Local) or (isinstance(atom, Ref) and atom.path[0] != "@") for atom in callee)
    for place, part in enumerate(node.args):
        if isinstance(part, ast.Starred):
            given.spread(expressions.value(reading, part.value, scope))
        elif place in looked_at and len(callee) == 1:
            given.given.append(expressions.base(reading, part, scope))
        else:
            given.given.append(expressions.value(reading, part, scope))
            if changes:
                _let_change(reading, part, given.given[-1], scope)
    for keyword in node.keywords:
        found = expressions.value(reading, keyword.value, scope)
        if keyword.arg is None:
            given.spread_names(found)
        else:
            given.named[keyword.arg] = found
    return given


def _let_change(reading: Reading, part: ast.expr, passed: Value, scope: Scope) -> None:
    """A container that is passed on may come back with anything in it."""
    if any(isinstance(atom, Box) or (isinstance(atom, Const) and isinstance(atom.value, tuple)) for atom in passed):
        targets.grow(reading, part, Box((), ANYTHING, mapping=False), scope)


def _called(
    reading: Reading, atom: object, held: Value | None, given: Arguments, node: ast.Call, scope: Scope
) -> Value:
    match atom:
        case Ref(path):
            judging.named(reading, path, node)
            if path in FILE_CALLS:
                return files.called(reading, path, FILE_CALLS[path], given, node)
            return functions.called(reading, path, given, node, scope)
        case Local(number):
            return enter(reading, reading.definitions[number], held, given)
        case Made(number):
            for value in (reading.definitions[number].scope.values.get("__call__", EMPTY),):
                for one in value:
                    if isinstance(one, Local):
                        return enter(reading, reading.definitions[one.number], frozenset({atom}), given)
            return ANYTHING
        case Unknown("drawn"):
            reading.report("escape", node, "Calling what was taken from an attribute named at run time")
            return ANYTHING
        case _:
            return ANYTHING


def enter(reading: Reading, defined: Definition, held: Value | None, given: Arguments) -> Value:
    """Pass arguments to a function or class of the source; what the call gives."""
    node = defined.node
    if isinstance(node, ast.ClassDef):
        return _make(reading, defined, node, given)
    names = _positional(reading, defined, node, held)
    for place, name in enumerate(names):
        if place < len(given.given):
            reading.pass_in(defined, name, given.given[place])
        elif given.more:
            reading.pass_in(defined, name, given.more)
    every = [argument.arg for argument in parameters(node.args)]
    for name, value in given.named.items():
        if name in every:
            reading.pass_in(defined, name, value)
        elif node.args.kwarg is not None:
            reading.pass_in(defined, node.args.kwarg.arg, frozenset({Box(((name, value),), EMPTY, mapping=True)}))
    if node.args.vararg is not None and len(given.given) > len(names):
        for value in given.given[len(names) :]:
            reading.pass_in(defined, node.args.vararg.arg, frozenset({Box((), value, mapping=False)}))
    return reading.given_by(defined)


def _make(reading: Reading, defined: Definition, node: ast.ClassDef, given: Arguments) -> Value:
    """An instance of a class of the source."""
    made: Value = frozenset({Made(defined.number)})
    for atom in defined.scope.values.get("__init__", EMPTY):
        if isinstance(atom, Local):
            enter(reading, reading.definitions[atom.number], made, given)
    if "__init__" not in defined.scope.bound:
        _fill(reading, node, given)
    return union([made, as_path(given.given)]) if Ref("pathlib.Path") in defined.bases else made


def _fill(reading: Reading, node: ast.ClassDef, given: Arguments) -> None:
    """A class without a constructor of its own keeps what it is given under its annotated names."""
    names = [
        part.target.id for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
    ]
    for name, value in [*zip(names, given.given, strict=False), *given.named.items()]:
        reading.store(name, value)


def _positional(reading: Reading, defined: Definition, node: Function, held: Value | None) -> list[str]:
    """The parameters that a call fills by position: without the object that a method is called on."""
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    if held is None or defined.owner is None or defined.static == "static":
        return names
    by_class = any(isinstance(one.node, ast.ClassDef) for one in reading.classes_of(held) if _is_class(one, held))
    return names if by_class and defined.static != "class" else names[1:]


def _is_class(defined: Definition, held: Value) -> bool:
    return Local(defined.number) in held


def _pass_functions(reading: Reading, callee: Value, given: Arguments) -> None:
    """A function of the source that is handed to something else is called with what follows it."""
    outer = [atom.path for atom in callee if isinstance(atom, Ref)]
    if not outer and not any(isinstance(atom, Unknown) for atom in callee):
        return
    over = any(path in _PASSES_ELEMENTS for path in outer)
    for place, value in enumerate(given.given):
        for atom in value:
            if not isinstance(atom, Local):
                continue
            defined = reading.definitions[atom.number]
            if isinstance(defined.node, ast.ClassDef):
                continue
            rest = given.after(place + 1)
            if over:
                rest = Arguments([elements(part) for part in rest.given])
            if rest.given or rest.named:
                enter(reading, defined, frozenset({Unknown()}) if defined.owner else None, rest)
    for name, value in given.named.items():
        for atom in value:
            if isinstance(atom, Local):
                defined = reading.definitions[atom.number]
                passed = [elements(given.given[0])] if name == "key" and given.given else [ANYTHING] * 9
                enter(reading, defined, frozenset({Unknown()}) if defined.owner else None, Arguments(passed))


def _switches(reading: Reading, node: ast.Call, given: Arguments) -> None:
    """Switches by which libraries let data be executed; what else they take does not matter then."""
    for name, harmless in _SWITCHES.items():
        value = given.named.get(name)
        if value is not None and value != frozenset({Const(harmless)}):
            reading.report("deserialiser", node, f"A call with `{name}`")


def _reserved(reading: Reading, node: ast.Call, callee: Value, given: Arguments) -> None:
    if not any(isinstance(atom, Ref) and atom.path.rpartition(".")[2] == "Output" for atom in callee):
        return
    for key, reserved in _RESERVED.items():
        value = given.named.get(key)
        if value and any(isinstance(atom, Const) and atom.value == reserved for atom in value):
            kind = "output name" if key == "name" else "output method"
            why = "the engine itself adds it when a component becomes a tool"
            reading.report("reserved", node, f"The {kind} `{reserved}` is reserved: {why}.")
