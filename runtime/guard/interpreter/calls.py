"""Reads calls: who is called, with what, what that may do and what it may give."""

from __future__ import annotations

import ast

from runtime.guard.interpreter import derived, targets
from runtime.guard.interpreter.arguments import Arguments
from runtime.guard.interpreter.reading import Definition, Reading
from runtime.guard.interpreter.scopes import Function, Scope, parameters
from runtime.guard.interpreter.texts import as_path, as_text
from runtime.guard.interpreter.values import (
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
    listed,
    outside,
    strings,
    union,
)
from runtime.guard.verdicts import checks, files, judging, methods

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
    "capture_locals": False,
    "eval_str": False,
}
"""Keywords that let a library execute what it reads, with the value that forbids it."""
_RESERVED = {"name": "component_as_tool", "method": "to_toolkit"}
_PASSES_ELEMENTS = ("@map", "@filter", "functools.reduce", "itertools.starmap", "@sorted", "@max", "@min")


def call(reading: Reading, node: ast.Call, scope: Scope) -> Value:
    """What a call may give."""
    func = node.func
    held: Value | None = None
    if isinstance(func, ast.Attribute):
        held = reading.base(func.value, scope)
        judging.attribute(reading, held, func.attr, func)
        callee = derived.attribute(reading, held, func.attr)
    else:
        callee = reading.base(func, scope)
    given = _arguments(reading, node, callee, scope)
    found: list[Value] = []
    if held is not None and isinstance(func, ast.Attribute):
        methods.judge(reading, held, func.attr, given, node)
        known = methods.result(held, func.attr, given)
        if known is not None:
            found.append(known)
            callee = frozenset(atom for atom in callee if isinstance(atom, Ref | Local))
            if isinstance(func.value, ast.Name | ast.Attribute):
                methods.mutate(reading, func, given, scope)
    found.extend(_called(reading, atom, held, given, node, scope) for atom in callee)
    _pass_functions(reading, callee, given)
    _declared(reading, node, callee, given)
    _switches(reading, node, given)
    return union(found) if callee or found else EMPTY


def _arguments(reading: Reading, node: ast.Call, callee: Value, scope: Scope) -> Arguments:
    looked_at = {_LOOKS_AT[atom.path] for atom in callee if isinstance(atom, Ref) and atom.path in _LOOKS_AT}
    given = Arguments()
    changes = any(isinstance(atom, Local) or (isinstance(atom, Ref) and atom.path[0] != "@") for atom in callee)
    for place, part in enumerate(node.args):
        if isinstance(part, ast.Starred):
            given.spread(reading.value(part.value, scope))
        elif place in looked_at and len(callee) == 1:
            given.given.append(reading.base(part, scope))
        else:
            given.given.append(reading.value(part, scope))
            if changes:
                _let_change(reading, part, given.given[-1], scope)
    for keyword in node.keywords:
        found = reading.value(keyword.value, scope)
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
            return _outer(reading, path, given, node, scope)
        case Local(number):
            return enter(reading, reading.definitions[number], held, given)
        case Made(number):
            for value in (reading.definitions[number].scope.values.get("__call__", EMPTY),):
                for one in value:
                    if isinstance(one, Local):
                        return enter(reading, reading.definitions[one.number], frozenset({atom}), given)
            return ANYTHING
        case Unknown("method"):
            what = "A method that is judged by what it is called with is called by another name"
            reading.report("escape", node, what, "Call it where it stands.")
            return ANYTHING
        case _:
            judging.handed_on(reading, "", [*given.every()], node)
            return ANYTHING


def _outer(reading: Reading, path: str, given: Arguments, node: ast.Call, scope: Scope) -> Value:
    """Judge a call of something outside by what it is called with; what it gives."""
    check = reading.rules.check(path)
    judging.handed_on(reading, path, [*given.every()], node)
    if check in checks.FILE_CHECKS:
        return files.called(reading, path, check, given, node)
    if check in checks.CHECKS:
        return checks.CHECKS[check](reading, path, given, node, scope)
    for name in ("verify", "cert"):
        files.certificates(reading, name, given.named.get(name), node)
    if path in ("@str.format", "@str.format_map") and given.given:
        methods.judge(reading, given.given[0], "format", given.after(1), node)
    if path in ("@object.__getattribute__", "@type.__getattribute__", "@type.__subclasses__"):
        reading.report("escape", node, judging.shown(path))
    return _given(path, given)


def _given(path: str, given: Arguments) -> Value:
    """What a function gives that gives back what it was given."""
    first = given.at(0) or EMPTY
    match path:
        case "@str" | "@repr" | "@ascii" | "sys.intern" | "textwrap.dedent":
            return as_text(first) if given.given else ANYTHING
        case "@list" | "@tuple" | "@set" | "@sorted" | "@reversed" | "@iter" | "@frozenset" | "collections.deque":
            return listed(elements(first)) if given.given else frozenset({Box((), EMPTY, mapping=False)})
        case "@next" | "@min" | "@max" | "@sum" | "random.choice":
            return union([elements(first), *given.given[1:]])
        case "@filter":
            return listed(elements(given.at(1) or EMPTY))
        case "@zip" | "itertools.chain" | "itertools.product":
            inner = union([elements(part) for part in given.given])
            return listed(inner if path.endswith("chain") else listed(inner))
        case "@enumerate":
            return listed(frozenset({Box(((0, ANYTHING), (1, elements(first))), EMPTY, mapping=False)}))
        case "copy.copy" | "copy.deepcopy" | "typing.cast":
            return given.at(1) or first if path == "typing.cast" else first
        case _ if path.startswith("@"):
            return ANYTHING
        case _:
            return outside(f"{path}()")


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


def _declared(reading: Reading, node: ast.Call, callee: Value, given: Arguments) -> None:
    """Learn the fields that a component declares, and judge what it declares."""
    kinds = {atom.path.rpartition(".")[2] for atom in callee if isinstance(atom, Ref)}
    if any(kind.endswith("Input") for kind in kinds):
        names = strings(given.named.get("name", EMPTY))
        reading.inputs.update(names)
        if "FileInput" in kinds:
            reading.file_fields.update(names)
            for key in ("value", "file_path"):
                value = given.named.get(key, EMPTY)
                if any(atom not in (Const(""), Const(None), Const(())) for atom in value):
                    reading.report("files", node, "A file field that names a file itself", "Leave its value empty.")
    if "Output" not in kinds:
        return
    for key, reserved in _RESERVED.items():
        value = given.named.get(key)
        if value and any(isinstance(atom, Const) and atom.value == reserved for atom in value):
            kind = "output name" if key == "name" else "output method"
            why = "the engine itself adds it when a component becomes a tool"
            reading.report("reserved", node, f"The {kind} `{reserved}` is reserved: {why}.")
