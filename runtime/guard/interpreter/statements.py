"""Reads statements: walks a source once, learning what is bound and reporting what no component may do."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from runtime.guard.interpreter import derived, patterns, targets
from runtime.guard.interpreter.hints import annotation
from runtime.guard.interpreter.reading import Definition, Reading
from runtime.guard.interpreter.scopes import Scope, parameters
from runtime.guard.interpreter.values import ANYTHING, Local, Ref, Value, elements, outside, union
from runtime.guard.ruleset import UNLISTED, canonical
from runtime.guard.verdicts import judging
from runtime.guard.violations import Rule


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a statement stands: its scope, the function around it, and the functions still to be read."""

    scope: Scope
    waiting: list[Definition]
    inside: Definition | None = None


def read(reading: Reading) -> None:
    """Walk the whole source once, functions after what stands outside of them."""
    waiting: list[Definition] = []
    _body(reading, reading.tree.body, _Place(reading.module, waiting))
    for defined in waiting:  # which grows while it is walked
        if isinstance(defined.node, ast.FunctionDef | ast.AsyncFunctionDef):
            _body(reading, defined.node.body, _Place(defined.scope, waiting, defined))


def _body(reading: Reading, statements: Sequence[ast.stmt], at: _Place) -> None:
    for statement in statements:
        reading.spend()
        _READERS.get(type(statement), _other)(reading, statement, at)


def _other(reading: Reading, node: ast.stmt, at: _Place) -> None:
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.expr):
            reading.value(part, at.scope)


def _expression(reading: Reading, node: ast.Expr, at: _Place) -> None:
    if not isinstance(node.value, ast.Constant):
        reading.value(node.value, at.scope)


def _assigned(reading: Reading, node: ast.Assign, at: _Place) -> None:
    found = reading.value(node.value, at.scope)
    for target in node.targets:
        targets.bind(reading, target, found, at.scope)


def _returned(reading: Reading, node: ast.Return, at: _Place) -> None:
    found = reading.value(node.value, at.scope)
    if at.inside is not None:
        reading.give(at.inside, found)


def _loop(reading: Reading, node: ast.For | ast.AsyncFor, at: _Place) -> None:
    targets.bind(reading, node.target, elements(reading.value(node.iter, at.scope)), at.scope)
    _body(reading, node.body, at)
    _body(reading, node.orelse, at)


def _with(reading: Reading, node: ast.With | ast.AsyncWith, at: _Place) -> None:
    for entry in node.items:
        found = reading.value(entry.context_expr, at.scope)
        if entry.optional_vars is not None:
            targets.bind(reading, entry.optional_vars, targets.entered(found), at.scope)
    _body(reading, node.body, at)


def _match(reading: Reading, node: ast.Match, at: _Place) -> None:
    found = reading.value(node.subject, at.scope)
    for case in node.cases:
        patterns.bind(reading, case.pattern, found, at.scope)
        if case.guard is not None:
            reading.value(case.guard, at.scope)
        _body(reading, case.body, at)


def _deleted(reading: Reading, node: ast.Delete, at: _Place) -> None:
    for target in node.targets:
        if isinstance(target, ast.Attribute | ast.Subscript):
            held = reading.base(target.value, at.scope)
            judging.changed(reading, held, target.attr if isinstance(target, ast.Attribute) else "", node)


def _annotated(reading: Reading, node: ast.AnnAssign, at: _Place) -> None:
    scope = at.scope
    annotation(reading, node.annotation, scope)
    if node.value is not None:
        targets.bind(reading, node.target, reading.value(node.value, scope), scope)


def _augmented(reading: Reading, node: ast.AugAssign, at: _Place) -> None:
    scope = at.scope
    before = reading.base(_loaded(node.target), scope)
    found = derived.operate(node.op, before, reading.value(node.value, scope))
    if isinstance(node.op, ast.Add):
        loose = derived.loosened(found)
        found = found | loose if reading.passes < 2 else loose
    targets.bind(reading, node.target, found, scope)


def _loaded(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name(id=name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Attribute(value=value, attr=attr):
            return ast.copy_location(ast.Attribute(value, attr, ast.Load()), target)
        case _:
            return target


def _function(reading: Reading, node: ast.FunctionDef | ast.AsyncFunctionDef, at: _Place) -> None:
    scope = at.scope
    defined = reading.define(node, scope)
    _decorated(reading, node, defined, scope)
    if scope.kind == "class":
        defined.owner = next((one for one in reading.definitions.values() if one.scope is scope), None)
    if node.name in ("__reduce__", "__reduce_ex__"):
        reading.report("deserialiser", node, f"`{node.name}` tells unpickling what to call, and so")
    targets.defaults(reading, defined, scope)
    for argument in parameters(node.args):
        annotation(reading, argument.annotation, scope)
    annotation(reading, node.returns, scope)
    reading.bind(node.name, frozenset({Local(defined.number)}), scope)
    at.waiting.append(defined)


def _decorated(
    reading: Reading, node: ast.FunctionDef | ast.AsyncFunctionDef, defined: Definition, scope: Scope
) -> None:
    for decorator in node.decorator_list:
        found = reading.value(decorator, scope)
        defined.decorated = True
        for atom in found:
            match atom:
                case Ref("@staticmethod"):
                    defined.static = "static"
                case Ref("@classmethod"):
                    defined.static = "class"
                case Local(number):
                    decorating = reading.definitions[number]
                    for name in decorating.parameters[:1]:
                        reading.pass_in(decorating, name, frozenset({Local(defined.number)}))
                case _:
                    pass


def _class(reading: Reading, node: ast.ClassDef, at: _Place) -> None:
    scope = at.scope
    defined = reading.define(node, scope)
    bases: list[Value] = []
    for base in node.bases:
        found = reading.base(base, scope)
        judging.inherited(reading, found, base)
        bases.append(found)
    for keyword in node.keywords:
        reading.value(keyword.value, scope)
    for decorator in node.decorator_list:
        reading.value(decorator, scope)
    defined.bases = union(bases)
    _body(reading, node.body, _Place(defined.scope, at.waiting))
    reading.bind(node.name, frozenset({Local(defined.number)}), scope)


def _branches(reading: Reading, node: ast.If | ast.While, at: _Place) -> None:
    """A chain of `elif` is read as a list, however long it is."""
    while True:
        reading.base(node.test, at.scope)
        _body(reading, node.body, at)
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            node = node.orelse[0]
            continue
        _body(reading, node.orelse, at)
        return


def _try(reading: Reading, node: ast.Try | ast.TryStar, at: _Place) -> None:
    scope = at.scope
    _body(reading, node.body, at)
    for handler in node.handlers:
        if handler.type is not None:
            reading.value(handler.type, scope)
        if handler.name is not None:
            reading.bind(handler.name, ANYTHING, scope)
        _body(reading, handler.body, at)
    _body(reading, node.orelse, at)
    _body(reading, node.finalbody, at)


def _import(reading: Reading, node: ast.Import, at: _Place) -> None:
    for alias in node.names:
        path = canonical(alias.name)
        rule = _imported(reading, path, f"Importing `{alias.name}`", node)
        name = alias.asname or alias.name.partition(".")[0]
        whole = path if alias.asname else canonical(name)
        reading.bind(name, ANYTHING if rule == UNLISTED else outside(whole), at.scope)


def _imported(reading: Reading, path: str, what: str, node: ast.AST) -> Rule | None:
    rule = reading.rules.refusal(path)
    if rule is None and any(part.startswith("_") for part in path.split(".")) and path != "__future__.annotations":
        rule = None if path.rpartition(".")[2] in ("__version__", "__future__") else "escape"
    if rule is not None:
        reading.report(rule, node, what, reading.rules.fix(path))
    return rule


def _import_from(reading: Reading, node: ast.ImportFrom, at: _Place) -> None:
    module = canonical(node.module or "") if not node.level else ""
    for alias in node.names:
        name = alias.asname or alias.name
        if not module:
            reading.report("unlisted", node, "Importing from the package of the source itself")
            reading.bind(name, ANYTHING, at.scope)
        elif alias.name == "*":
            if not module.startswith("lfx."):
                reading.report(
                    "escape", node, f"Importing everything from `{module}` hides what is used.", "Import names."
                )
            elif _imported(reading, module, f"Importing everything from `{module}`", node) is None:
                for public in reading.rules.names(module):
                    reading.bind(public, outside(f"{module}.{public}"), at.scope)
                    at.scope.home(public).bound.add(public)
        else:
            path = f"{module}.{alias.name}"
            rule = _imported(reading, path, f"Importing `{alias.name}` from `{node.module}`", node)
            reading.bind(name, ANYTHING if rule == UNLISTED else outside(path), at.scope)


_READERS: Mapping[type[ast.stmt], Callable[[Reading, Any, _Place], None]] = MappingProxyType(
    {
        ast.Expr: _expression,
        ast.Assign: _assigned,
        ast.AnnAssign: _annotated,
        ast.AugAssign: _augmented,
        ast.Return: _returned,
        ast.FunctionDef: _function,
        ast.AsyncFunctionDef: _function,
        ast.ClassDef: _class,
        ast.Import: _import,
        ast.ImportFrom: _import_from,
        ast.If: _branches,
        ast.While: _branches,
        ast.For: _loop,
        ast.AsyncFor: _loop,
        ast.With: _with,
        ast.AsyncWith: _with,
        ast.Try: _try,
        ast.TryStar: _try,
        ast.Match: _match,
        ast.Delete: _deleted,
    }
)
