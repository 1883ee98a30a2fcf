"""Which names may stand for the same container: what is assigned to one of them is seen through the others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_INNER = frozenset(("get", "setdefault", "values", "items", "pop", "popitem", "popleft", "__getitem__"))
"""Methods that give what stands in a container, and no copy of it."""


def holders(node: ast.AST) -> Iterator[str]:
    """The variables and attributes whose container, or what stands in it, an expression may be."""
    waiting: list[ast.AST | None] = [node]
    while waiting:
        match waiting.pop():
            case ast.Name(id=name):
                yield name
            case ast.Attribute(attr=name):
                yield name
            case ast.Subscript(value=inner) | ast.Starred(value=inner) | ast.Await(value=inner):
                waiting.append(inner)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.BoolOp(values=parts) | ast.Dict(values=parts):
                waiting.extend(parts)
            case ast.IfExp(body=first, orelse=second):
                waiting += [first, second]
            case ast.NamedExpr(target=first, value=second):
                waiting += [first, second]
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _INNER:
                waiting.append(inner)
            case _:
                pass


def shares(tree: ast.AST) -> dict[str, set[str]]:
    """The names that may hold what each name holds, as far as one is assigned to another."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                for name in holders(target):
                    found.setdefault(f"{name}[]", set()).update(holders(value))
                    for other in holders(value):
                        found.setdefault(other, set()).add(name)
                continue
            case ast.Assign(targets=targets, value=value):
                names = {name for part in (*targets, value) for name in holders(part)}
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                names = {*holders(target), *holders(value)}
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                names = {*holders(target), *holders(value)}
            case ast.AsyncFor(target=target, iter=value):
                names = {*holders(target), *holders(value)}
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                names = {*holders(target), *holders(value)}
            case _:
                continue
        for name in names if len(names) > 1 else ():
            found.setdefault(name, set()).update(names)
    return found
