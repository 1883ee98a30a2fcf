"""Reads calls: who is called, with what, what that may do and what it may give."""

from __future__ import annotations

import ast
import re

from runtime.guard.interpreter import derived
from runtime.guard.interpreter.arguments import Arguments, Call
from runtime.guard.interpreter.reading import Definition, Reading, reads
from runtime.guard.interpreter.scopes import Function, Scope, parameters
from runtime.guard.interpreter.texts import as_path, as_text, cleaned, substituted
from runtime.guard.origins import is_anything
from runtime.guard.sets import elements, inside, listed, one, outside, paths, strings, union
from runtime.guard.values import ANYTHING, EMPTY, JOINED, STEP, Atom, Box, Const, Local, Made, Ref, Unknown, Value
from runtime.guard.verdicts import checks, files, judging, methods, models, protocols, sockets, templates

_LOOKS_AT = {
    **dict.fromkeys(("@getattr", "@hasattr", "@setattr", "@delattr", "@vars", "@dir"), 0),
    **dict.fromkeys(("@isinstance", "@issubclass"), 1),
}
"""Builtins that take a module or class only to look at it, with the argument's position."""
_SWITCHES = {
    **dict.fromkeys(("allow_dangerous_deserialization", "allow_dangerous_code", "allow_pickle"), False),
    **dict.fromkeys(("pickle_fallback", "trust_remote_code", "capture_locals", "eval_str"), False),
    "weights_only": True,
}
"""Keywords that let a library execute what it reads, with the value that forbids it."""
_RESERVED = {"name": "component_as_tool", "method": "to_toolkit"}
_DECLARES = ("Input", "Output")
"""How the names of fields and outputs end, which change nothing that they are declared with."""
_PASSES_ELEMENTS = ("@map", "@filter", "functools.reduce", "itertools.starmap", "@sorted", "@max", "@min")


@reads(ast.Call)
def _call(reading: Reading, node: ast.Call, scope: Scope) -> Value:
    func = node.func
    held, name = EMPTY, ""
    if isinstance(func, ast.Attribute):
        held, name = reading.base(func.value, scope), func.attr
        judging.attribute(reading, held, name, func)
        callee = derived.attribute(reading, held, name)
    else:
        callee = reading.base(func, scope)
    call = Call(reading, node, scope, _arguments(reading, node, callee, scope), name, held)
    found: list[Value] = []
    if isinstance(func, ast.Attribute):
        methods.judge(call)
        methods.mutate(call)
        _may_be_of_a_listed_class(call)
        if name not in reading.stored and _is_step(held, name, call.given):
            return STEP
        known = methods.result(held, name, call.given)
        if known is not None:
            found.append(known)
            callee = frozenset(atom for atom in callee if isinstance(atom, Ref | Local))
    models.reads(call)
    found.extend([_called(call, atom) for atom in callee])
    _pass_functions(call, callee)
    _declared(call, callee)
    for keyword in call.given.named.keys() & _SWITCHES.keys():  # what else is passed does not matter then
        if call.given.named[keyword] != one(Const(_SWITCHES[keyword])):
            call.report("deserialiser", f"A call with `{keyword}`")
    return union(found)


def _may_be_of_a_listed_class(call: Call) -> None:
    """Judge a method of what may be anything as that of each class that the source has at hand and that is judged."""
    if any(map(is_anything, call.held)) and call.path not in call.reading.stored:
        for path in call.reading.rules.of_instances.get(call.path, ()):
            if path.partition(".")[0] in call.reading.tops:
                judging.named(call.reading, path, call.node)
                _outer(Call(call.reading, call.node, call.scope, call.given, path, call.held))


_DATE = re.compile(r"(?:%[YmdHMSfjyBbAaUWVGIps]|[^%/])*")
"""A format of dates without a slash."""


def _is_date(form: Value) -> bool:
    found = strings(form)
    return bool(found) and len(found) == len(form) and all(map(_DATE.fullmatch, found))


def _is_step(held: Value, name: str, given: Arguments) -> bool:
    """Whether a method gives a text that is one step of a path."""
    if given.named or given.more or not held:
        return False
    dates = all(isinstance(atom, Ref) and atom.path.startswith("datetime.") for atom in held)
    if name == "strftime" and dates and given.given:
        return _is_date(given.given[0])
    return all(cleaned(atom, name, given.given) for atom in held)


def _arguments(reading: Reading, node: ast.Call, callee: Value, scope: Scope) -> Arguments:
    looked_at = _LOOKS_AT.get(next(iter(paths(callee)), "")) if len(callee) == 1 else None
    changes = any(isinstance(atom, Ref) and ("." in atom.path or atom.path[0] != "@") for atom in callee)
    declares = all(path.endswith(_DECLARES) for path in paths(callee))
    given = Arguments()
    for place, part in enumerate(node.args):
        if isinstance(part, ast.Starred):
            given.spread(spread := reading.value(part.value, scope))
            reading.heap.spoil(elements(spread) if changes else EMPTY)
            continue
        found = reading.base(part, scope) if place == looked_at else reading.value(part, scope)
        given.given.append(found)
        if changes:
            reading.heap.spoil(found)
    for keyword in node.keywords:
        protocols.keyword(reading, keyword.arg, node)
        found = reading.value(keyword.value, scope)
        if changes and not declares:
            reading.heap.spoil(found if keyword.arg else inside(found))
        if keyword.arg is None:
            given.spread_names(found)
            for name in given.named:
                protocols.keyword(reading, name, node)
        else:
            given.named[keyword.arg] = found
    return given


def _called(call: Call, atom: Atom) -> Value:
    definitions = call.reading.definitions
    match atom:
        case Ref(path):
            judging.named(call.reading, path, call.node)
            call.path = path
            return _outer(call)
        case Local(number):
            return _enter(call.reading, definitions[number], call.held, call.given)
        case Made(number):
            own = [part for part in definitions[number].scope.values.get("__call__", EMPTY) if isinstance(part, Local)]
            return _enter(call.reading, definitions[own[0].number], one(atom), call.given) if own else ANYTHING
        case Unknown("reader" | "picked") if call.given.open:
            what = "A call, with keywords that do not stand in the source, of what was taken by a name or as a value"
            call.report("escape", what, "Call it directly, and write the keywords out.")
        case Unknown("method"):
            what = "A method that is judged by what it is called with is called by another name"
            call.report("escape", what, "Call it directly.")
        case _:
            judging.handed_on(call.reading, "", call.given.every(), call.node)
    return ANYTHING


def _outer(call: Call) -> Value:
    """Judge a call of something outside by what it is called with; what it gives."""
    path, given = call.path, call.given
    judging.handed_on(call.reading, path, given.every(), call.node)
    models.reads(call)
    templates.logged(call)
    sockets.encryption(call)
    check = call.reading.rules.check(path)
    if check in checks.CHECKS:
        return checks.CHECKS[check](call)
    if check in files.CHECKS:
        return files.called(call, check)
    for name in ("verify", "cert"):
        files.certificates(call, name)
    if path in ("@str.format", "@str.format_map") and given.given:
        methods.judge(Call(call.reading, call.node, call.scope, given.after(1), "format", given.given[0]))
    if path in ("@object.__getattribute__", "@type.__getattribute__", "@type.__subclasses__"):
        call.report("escape", judging.source_path(path))
    return _given(path, given)


_NUMBERS = ("@len", "@int", "@float", "@abs", "@round", "@id", "@hash", "@ord", "@hex", "@bin")


def _given(path: str, given: Arguments) -> Value:
    """What a function gives that gives back what it was given, or a number."""
    first = given.at(0) or EMPTY
    if path in _NUMBERS or (path == "re.sub" and substituted(given.given)):
        return STEP
    match path:
        case "@str" if len(given.given) > 1 or "encoding" in given.named:
            return JOINED  # it decodes bytes
        case "@str" | "@repr" | "@ascii" | "sys.intern" | "textwrap.dedent":
            return as_text(first) if given.given else ANYTHING
        case "@list" | "@tuple" | "@set" | "@sorted" | "@reversed" | "@iter" | "@frozenset" | "collections.deque":
            return listed(elements(first)) if given.given else one(Box((), EMPTY))
        case "@next" | "@min" | "@max" | "@sum" | "random.choice":
            return union([elements(first), *given.given[1:]])
        case "@range":
            return listed(STEP)
        case "@filter":
            return listed(elements(given.at(1) or EMPTY))
        case "@zip" | "itertools.chain" | "itertools.product":
            inner = union(map(elements, given.given))
            return listed(inner if path.endswith("chain") else listed(inner))
        case "@enumerate":
            return listed(one(Box(((0, STEP), (1, elements(first))), EMPTY)))
        case "copy.copy" | "copy.deepcopy" | "contextlib.closing" | "contextlib.nullcontext":
            return first
        case "typing.cast":
            return given.at(1) or first
        case _:
            return ANYTHING if path.startswith("@") else outside(f"{path}()")


def _enter(reading: Reading, defined: Definition, held: Value, given: Arguments) -> Value:
    """Pass arguments to a function or class of the source; what the call gives."""
    node = defined.node
    if isinstance(node, ast.ClassDef):
        return _make(reading, defined, node, given)
    names = _positional(reading, defined, node, held)
    for place, name in enumerate(names):
        value = given.given[place] if place < len(given.given) else given.more
        if place < len(given.given) or value:
            reading.pass_in(defined, name, value)
    every = [argument.arg for argument in parameters(node.args)]
    for name, value in given.named.items():
        if name in every:
            reading.pass_in(defined, name, value)
        elif node.args.kwarg is not None:
            reading.pass_in(defined, node.args.kwarg.arg, one(Box(((name, value),), EMPTY, mapping=True)))
    if node.args.vararg is not None:
        for value in given.given[len(names) :]:
            reading.pass_in(defined, node.args.vararg.arg, one(Box((), value)))
    return reading.given_by(defined)


def _make(reading: Reading, defined: Definition, node: ast.ClassDef, given: Arguments) -> Value:
    """An instance of a class of the source; one without a constructor keeps what it gets under annotated names."""
    made = one(Made(defined.number))
    for atom in defined.scope.values.get("__init__", EMPTY):
        if isinstance(atom, Local):
            _enter(reading, reading.definitions[atom.number], made, given)
    if "__init__" not in defined.scope.bound:
        annotated = [part.target for part in node.body if isinstance(part, ast.AnnAssign)]
        names = [target.id for target in annotated if isinstance(target, ast.Name)]
        converted = ANYTHING if _converts(reading, defined) else EMPTY
        for name, value in [*zip(names, given.given, strict=False), *given.named.items()]:
            reading.store(name, value | converted)
    return union([made, as_path(given.given)]) if Ref("pathlib.Path") in defined.bases else made


def _converts(reading: Reading, defined: Definition) -> bool:
    """Whether a class may keep something else than what it is given: one of outside converts it to the type."""
    outer = any(not path.startswith(("@", "typing.", "abc.")) for path in paths(defined.bases))
    inner = (reading.definitions[atom.number] for atom in defined.bases if isinstance(atom, Local))
    return outer or any(parent is not defined and _converts(reading, parent) for parent in inner)


def _positional(reading: Reading, defined: Definition, node: Function, held: Value) -> list[str]:
    """The parameters that a call fills by position: without the object that a method is called on."""
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    if not held or defined.owner is None or defined.static == "static":
        return names
    classes = (reading.definitions[atom.number].node for atom in held if isinstance(atom, Local))
    by_class = any(isinstance(node, ast.ClassDef) for node in classes)
    return names if by_class and defined.static != "class" else names[1:]


def _pass_functions(call: Call, callee: Value) -> None:
    """A function of the source that is handed to something else is called with what follows it."""
    outer, given = paths(callee), call.given
    if not outer and not any(isinstance(atom, Unknown) for atom in callee):
        return
    over = any(path in _PASSES_ELEMENTS for path in outer)
    for place, value in enumerate(given.given):
        rest = given.after(place + 1)
        if over:
            rest = Arguments([elements(part) for part in rest.given])
        if "functools.reduce" in outer and rest.given:
            rest = Arguments([ANYTHING, rest.given[0] | ANYTHING])
        if rest.given or rest.named:
            _handed(call.reading, value, rest, classes=False)
    for name, value in given.named.items():
        passed = [elements(given.given[0])] if name == "key" and given.given else [ANYTHING] * 9
        _handed(call.reading, value, Arguments(passed), classes=True)


def _handed(reading: Reading, value: Value, given: Arguments, *, classes: bool) -> None:
    for atom in value:
        if isinstance(atom, Local):
            defined = reading.definitions[atom.number]
            if classes or not isinstance(defined.node, ast.ClassDef):
                _enter(reading, defined, ANYTHING if defined.owner else EMPTY, given)


def _declared(call: Call, callee: Value) -> None:
    """Learn the fields that a component declares, and judge what it declares."""
    kinds, given = {path.rpartition(".")[2] for path in paths(callee)}, call.given.named
    for name in strings(given.get("name")):
        call.reading.declare(name, given.get("value", EMPTY))
    if any(kind.endswith("Input") for kind in kinds):
        names = strings(given.get("name"))
        call.reading.inputs.update(names)
        if "FileInput" in kinds:
            call.reading.file_fields.update(names)
            for value in (given.get("value", EMPTY), given.get("file_path", EMPTY)):
                if call.given.more or any(atom not in (Const(""), Const(None), Const(())) for atom in value):
                    call.report("files", "A file field that names a file itself", "Leave its value empty.")
    for key, reserved in _RESERVED.items() if "Output" in kinds else ():
        if Const(reserved) in given.get(key, EMPTY):
            kind = "output name" if key == "name" else "output method"
            why = "the engine itself adds it when a component becomes a tool"
            call.report("reserved", f"The {kind} `{reserved}` is reserved: {why}.")
