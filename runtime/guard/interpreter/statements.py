"""Reads statements: walks a source once, learning what is bound and reporting what no component may do."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from runtime.guard.interpreter import derived, targets
from runtime.guard.interpreter.hints import annotation
from runtime.guard.interpreter.reading import READERS, Definition, Reading, reads
from runtime.guard.interpreter.scopes import Scope, parameters
from runtime.guard.ruleset import UNLISTED, canonical
from runtime.guard.sets import elements, inside, one, outside, union
from runtime.guard.values import ANYTHING, EMPTY, Box, Local, Ref, Value
from runtime.guard.verdicts import judging, models, protocols
from runtime.guard.violations import Rule

_CAUGHT = ANYTHING | {Ref("@BaseException()")}
"""What an `except` names: its traceback leads to the frames of whoever called."""


def read(reading: Reading) -> None:
    """Walk the whole source once, functions after what stands outside of them."""
    reading.waiting.clear()
    _body(reading, reading.tree.body, reading.module)
    for defined in reading.waiting:  # which grows while it is walked
        if isinstance(defined.node, ast.FunctionDef | ast.AsyncFunctionDef):
            _body(reading, defined.node.body, defined.scope)


def _body(reading: Reading, statements: Sequence[ast.stmt], scope: Scope) -> None:
    for statement in statements:
        reading.spend()
        READERS.get(type(statement), _other)(reading, statement, scope)


def _other(reading: Reading, node: ast.stmt, scope: Scope) -> None:
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.expr):
            reading.value(part, scope)


@reads(ast.Expr)
def _expression(reading: Reading, node: ast.Expr, scope: Scope) -> None:
    if not isinstance(node.value, ast.Constant):
        reading.value(node.value, scope)


@reads(ast.Assign)
def _assigned(reading: Reading, node: ast.Assign, scope: Scope) -> None:
    fresh = any(models.is_fresh(target, node.value, scope) for target in node.targets)
    found = READERS[type(node.value)](reading, node.value, scope) if fresh else reading.value(node.value, scope)
    for target in node.targets:
        targets.bind(reading, target, found, scope)


@reads(ast.AnnAssign)
def _annotated(reading: Reading, node: ast.AnnAssign, scope: Scope) -> None:
    annotation(reading, node.annotation, scope)
    if node.value is not None:
        fresh = models.is_fresh(node.target, node.value, scope)
        found = READERS[type(node.value)](reading, node.value, scope) if fresh else reading.value(node.value, scope)
        targets.bind(reading, node.target, found, scope)


@reads(ast.AugAssign)
def _augmented(reading: Reading, node: ast.AugAssign, scope: Scope) -> None:
    target: ast.expr = node.target
    match target:
        case ast.Name(id=name):
            target = ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Attribute(value=value, attr=attr):
            target = ast.copy_location(ast.Attribute(value, attr, ast.Load()), target)
        case _:
            pass
    before, added = reading.base(target, scope), reading.value(node.value, scope)
    found = derived.operate(node.op, before, added)
    if isinstance(node.op, ast.Add):
        loose = derived.loosened(found)
        found = found | loose if reading.passes < 2 else loose
    if isinstance(node.op, ast.Add | ast.BitOr | ast.BitXor):  # a list, a dictionary or a set is changed in place
        reading.heap.put(before, Box((), inside(added) | elements(added)))
        judging.changed(reading, judging.shared(reading, before), "", node)
    targets.bind(reading, node.target, found, scope)


@reads(ast.Delete)
def _deleted(reading: Reading, node: ast.Delete, scope: Scope) -> None:
    for target in node.targets:
        if isinstance(target, ast.Attribute | ast.Subscript):
            held = reading.base(target.value, scope)
            judging.changed(reading, held, target.attr if isinstance(target, ast.Attribute) else "", node)


@reads(ast.Return)
def _returned(reading: Reading, node: ast.Return, scope: Scope) -> None:
    found = reading.value(node.value, scope)
    if scope.number >= 0:
        reading.give(reading.definitions[scope.number], found)


@reads(ast.If, ast.While)
def _branches(reading: Reading, node: ast.If | ast.While, scope: Scope) -> None:
    """A chain of `elif` is read as a list, however long it is."""
    while True:
        reading.base(node.test, scope)
        _body(reading, node.body, scope)
        if len(node.orelse) != 1 or not isinstance(node.orelse[0], ast.If):
            return _body(reading, node.orelse, scope)
        node = node.orelse[0]


@reads(ast.For, ast.AsyncFor)
def _loop(reading: Reading, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
    targets.bind(reading, node.target, elements(reading.value(node.iter, scope)), scope)
    _body(reading, [*node.body, *node.orelse], scope)


@reads(ast.With, ast.AsyncWith)
def _with(reading: Reading, node: ast.With | ast.AsyncWith, scope: Scope) -> None:
    for entry in node.items:
        found = reading.value(entry.context_expr, scope)
        if entry.optional_vars is not None:
            targets.bind(reading, entry.optional_vars, targets.entered(found), scope)
    _body(reading, node.body, scope)


@reads(ast.Try, ast.TryStar)
def _try(reading: Reading, node: ast.Try | ast.TryStar, scope: Scope) -> None:
    _body(reading, node.body, scope)
    for handler in node.handlers:
        if handler.type is not None:
            reading.value(handler.type, scope)
        if handler.name is not None:
            reading.bind(handler.name, _CAUGHT, scope)
        _body(reading, handler.body, scope)
    _body(reading, [*node.orelse, *node.finalbody], scope)


@reads(ast.Match)
def _match(reading: Reading, node: ast.Match, scope: Scope) -> None:
    found = reading.value(node.subject, scope)
    for case in node.cases:
        targets.match(reading, case.pattern, found, scope)
        if case.guard is not None:
            reading.value(case.guard, scope)
        _body(reading, case.body, scope)


@reads(ast.FunctionDef, ast.AsyncFunctionDef)
def _function(reading: Reading, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
    defined = reading.define(node, scope)
    named: list[Value] = [one(Local(defined.number))]
    for decorator in node.decorator_list:
        defined.decorated = True
        named += [_decorated(reading, defined, atom) for atom in reading.value(decorator, scope)]
    if scope.kind == "class":
        defined.owner = reading.definitions[scope.number]
    if node.name in ("__reduce__", "__reduce_ex__"):
        reading.report("deserialiser", node, f"`{node.name}` tells unpickling what to call, and so")
    protocols.defined(reading, node.name, node)
    targets.defaults(reading, defined, scope)
    for argument in parameters(node.args):
        annotation(reading, argument.annotation, scope)
    annotation(reading, node.returns, scope)
    models.bound(reading, node.name, union(named), node, scope)
    reading.bind(node.name, union(named), scope)
    reading.waiting.append(defined)


def _decorated(reading: Reading, defined: Definition, decorator: object) -> Value:
    """What a decorator may give instead of a function."""
    match decorator:
        case Ref("@staticmethod" | "@classmethod" as path):
            defined.static = path.removeprefix("@").removesuffix("method")
        case Ref("@property" | "functools.cached_property"):
            defined.static = "property"
        case Ref(path) if not path.startswith("@"):
            pass  # it wraps the function
        case Local(number):
            decorating = reading.definitions[number]
            for name in decorating.parameters[:1]:
                reading.pass_in(decorating, name, one(Local(defined.number)))
            return reading.given_by(decorating)
        case _:
            return ANYTHING
    return EMPTY


@reads(ast.ClassDef)
def _class(reading: Reading, node: ast.ClassDef, scope: Scope) -> None:
    defined = reading.define(node, scope)
    bases: list[Value] = []
    for base in node.bases:
        bases.append(reading.base(base, scope))
        for atom in bases[-1]:
            if isinstance(atom, Ref):
                judging.named(reading, atom.path, base)
                judging.inherited(reading, atom.path, base)
    for keyword in node.keywords:
        models.subclass(reading, keyword, reading.value(keyword.value, scope), node)
    named: list[Value] = [one(Local(defined.number))]
    for decorator in node.decorator_list:
        named += [_decorated(reading, defined, atom) for atom in reading.value(decorator, scope)]
    defined.bases = union(bases)
    _body(reading, node.body, defined.scope)
    models.bound(reading, node.name, union(named), node, scope)
    reading.bind(node.name, union(named), scope)


@reads(ast.Import)
def _import(reading: Reading, node: ast.Import, scope: Scope) -> None:
    for alias in node.names:
        path = canonical(alias.name)
        rule = _imported(reading, path, f"Importing `{alias.name}`", node)
        name = alias.asname or alias.name.partition(".")[0]
        whole = path if alias.asname else canonical(name)
        reading.bind(name, ANYTHING if rule == UNLISTED else outside(whole), scope)


def _imported(reading: Reading, path: str, what: str, node: ast.AST) -> Rule | None:
    rule = reading.rules.refusal(path)
    if rule is None and any(part.startswith("_") for part in path.split(".")) and path != "__future__.annotations":
        rule = None if path.rpartition(".")[2] in ("__version__", "__future__") else "escape"
    if rule is not None:
        reading.report(rule, node, what, reading.rules.fix(path))
    return rule


@reads(ast.ImportFrom)
def _import_from(reading: Reading, node: ast.ImportFrom, scope: Scope) -> None:
    module = canonical(node.module or "") if not node.level else ""
    for alias in node.names:
        name = alias.asname or alias.name
        if not module:
            reading.report("unlisted", node, "Importing from the package of the source itself")
            reading.bind(name, ANYTHING, scope)
        elif name == "*":
            _import_all(reading, module, node, scope)
        else:
            path = f"{module}.{alias.name}"
            rule = _imported(reading, path, f"Importing `{alias.name}` from `{node.module}`", node)
            reading.bind(name, ANYTHING if rule == UNLISTED else outside(path), scope)


def _import_all(reading: Reading, module: str, node: ast.ImportFrom, scope: Scope) -> None:
    what = f"Importing everything from `{module}`"
    if not module.startswith("lfx."):
        reading.report("escape", node, f"{what} hides what is used.", "Import names.")
    elif _imported(reading, module, what, node) is None:
        for public in reading.rules.names(module):
            reading.bind(public, outside(f"{module}.{public}"), scope)
            scope.home(public).bound.add(public)
