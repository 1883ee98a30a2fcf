"""Reads type annotations: named types are free there, but what is called or written in quotes is code."""

from __future__ import annotations

import ast

from runtime.guard.interpreter.reading import Reading
from runtime.guard.interpreter.scopes import Scope
from runtime.guard.parsing import expression_of
from runtime.guard.sets import paths, strings
from runtime.guard.values import Text
from runtime.guard.verdicts import judging


def annotation(reading: Reading, node: ast.expr | None, scope: Scope) -> None:
    """Read an annotation; frameworks evaluate them, those in quotes too."""
    match node:
        case None:
            return
        case ast.Constant(value=str() as text):
            quoted(reading, text, node, scope)
        case ast.Name():
            _held(reading, node, scope)
        case ast.Attribute():
            for path in paths(reading.base(node, scope)):
                if not path.startswith(("types.", "os.")):
                    judging.named(reading, path, node)
        case ast.Subscript():
            _subscript(reading, node, scope)
        case ast.BinOp(left=left, right=right):
            annotation(reading, left, scope)
            annotation(reading, right, scope)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                annotation(reading, part, scope)
        case _:
            reading.value(node, scope)


def _held(reading: Reading, node: ast.Name, scope: Scope) -> None:
    """Judge a type that a name stands for: texts are evaluated like those in quotes."""
    value = reading.base(node, scope)
    for text in strings(value):
        quoted(reading, text, node, scope)
    if any(isinstance(atom, Text) for atom in value):
        reading.report("dynamic_code", node, "An annotation that is made at run time")


def _subscript(reading: Reading, node: ast.Subscript, scope: Scope) -> None:
    names = {path.rpartition(".")[2] for path in paths(reading.base(node.value, scope))}
    annotation(reading, node.value, scope)
    if "Literal" in names:
        return
    for place, part in enumerate(node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]):
        if "Annotated" in names and place:
            reading.value(part, scope)
        else:
            annotation(reading, part, scope)


def quoted(reading: Reading, text: str, node: ast.expr, scope: Scope) -> None:
    """Read a type that is written as text, which frameworks evaluate."""
    if len(text) > 2000:
        reading.report("dynamic_code", node, "A long annotation in quotes")
        return
    known = (id(node), text)
    if known not in reading.quoted:
        reading.quoted[known] = _parsed(text, node)
    inner = reading.quoted[known]
    if inner is not None and not isinstance(inner, ast.Constant):
        annotation(reading, inner, scope)


def _parsed(text: str, node: ast.expr) -> ast.expr | None:
    try:
        inner = expression_of(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for part in ast.walk(inner):
        ast.copy_location(part, node)
    return inner
