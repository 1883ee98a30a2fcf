"""Which names each scope of a source binds, and where: Python's scoping rules, read before anything else."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from runtime.guard.values import Value

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
BUILTINS = frozenset(dir(builtins)) | {"__file__", "__path__", "__cached__", "__builtins__", "__annotations__"}
"""Names that are there without being bound; of a module's own, those that lead out of it."""


@dataclass(eq=False)
class Scope:
    """One scope: the names that it binds with what they may be.

    Attributes:
        settled: the line from which on a name of a module or class is certainly bound.
        number: the number of the function or class whose scope it is.
    """

    kind: Literal["module", "class", "function"]
    parent: Scope | None
    bound: set[str] = field(default_factory=set[str])
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    settled: dict[str, int] = field(default_factory=dict[str, int])
    deleted: set[str] = field(default_factory=set[str])
    of_module: set[str] = field(default_factory=set[str])
    of_outer: set[str] = field(default_factory=set[str])
    number: int = -1

    def home(self, name: str) -> Scope:
        """The scope in which an assignment here binds the name."""
        scope = self
        if name in self.of_module:
            while scope.parent is not None:
                scope = scope.parent
        elif name in self.of_outer:
            while scope.parent is not None:
                scope = scope.parent
                if scope.kind == "function" and name in scope.bound:
                    break
        return scope


def open_scope(node: ast.Module | ast.ClassDef | Function, parent: Scope | None) -> Scope:
    """The scope of a module, class or function, with the names bound in it."""
    if isinstance(node, ast.Module | ast.ClassDef):
        scope = Scope("class" if isinstance(node, ast.ClassDef) else "module", parent)
        _bound_in(node.body, scope)
        _settle(node.body, scope)
    else:
        scope = Scope("function", parent)
        _bound_in([node.body] if isinstance(node, ast.Lambda) else node.body, scope)
        scope.bound.update(argument.arg for argument in parameters(node.args))
    scope.bound -= scope.of_module | scope.of_outer
    return scope


def inside(node: ast.AST) -> Iterator[ast.AST]:
    """What stands directly in a node, but for whether a name is read or bound."""
    for name in node._fields:
        part: object = getattr(node, name, None)
        if isinstance(part, list):
            for one in part:  # pyright: ignore[reportUnknownVariableType] nodes or names
                if isinstance(one, ast.AST):
                    yield one
        elif isinstance(part, ast.AST) and name != "ctx":
            yield part


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """Every parameter, in order of position, the starred ones last."""
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return named + [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]


def bound_by(statement: ast.AST) -> set[str]:
    """The names that a statement binds whatever happens."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {alias.asname or alias.name.partition(".")[0] for alias in names}
        case ast.Assign(targets=targets):
            return {target.id for target in targets if isinstance(target, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return {name}
        case _:
            return set()


def _bound_in(body: list[ast.stmt] | list[ast.expr], scope: Scope) -> None:
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Lambda() | ast.Name(ctx=ast.Load()) | ast.Constant():
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                scope.bound.add(node.name)
                waiting.extend(node.decorator_list)
                continue
            case ast.Name():
                scope.bound.add(node.id)
                if isinstance(node.ctx, ast.Del):
                    scope.deleted.add(node.id)
            case ast.Import() | ast.ImportFrom():
                scope.bound.update(bound_by(node))
            case ast.Global():
                scope.of_module.update(node.names)
            case ast.Nonlocal():
                scope.of_outer.update(node.names)
            case ast.ExceptHandler(name=str() as name):
                scope.bound.add(name)
                scope.deleted.add(name)
            case ast.MatchStar(name=str() as name):
                scope.bound.add(name)
            case ast.MatchAs(name=str() as name) | ast.MatchMapping(rest=str() as name):
                scope.bound.add(name)
            case _:
                pass
        waiting.extend(inside(node))


def _settle(body: list[ast.stmt], scope: Scope) -> None:
    """Where names are bound whatever happens; a name that is deleted here, or as one handles an error, never is."""
    for statement in body:
        for name in bound_by(statement):
            scope.settled.setdefault(name, statement.end_lineno or statement.lineno)
    for name in scope.deleted:
        scope.settled.pop(name, None)
