"""Rules for the source of a component: it defines one component class, whose name can be a file name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from flows.faults import Fault
from runtime.guard.parsing import module_of
from runtime.guard.trust import is_trusted
from runtime.guard.violations import Violation

MAX_CLASS_NAME: Final = 64
"""Characters of the longest class name, so that the path of its file is short enough for Windows."""
MAX_SOURCE: Final = 1024 * 1024
"""Bytes of the longest source that is stored."""
_NAME = re.compile(r"[A-Z][A-Za-z0-9_]*")
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))})
_SHAPE = """\
Define one class that inherits from Component by that name:
from lfx.custom import Component
class WordCounter(Component): ..."""


class ClassNameError(ValueError):
    """A class name that is refused; `reason` is the kind of error, `message` and `fix` may be shown to anyone."""

    def __init__(self, message: str, fix: str, reason: str = "unsafe_class_name") -> None:
        self.reason = reason
        self.message = message
        self.fix = fix
        super().__init__(f"{message} {fix}")


@dataclass(frozen=True)
class Outline:
    """The component in a source that was not executed.

    Attributes:
        name: the component's class.
        line: the line where the class begins.
        tree: the syntax tree of the source.
    """

    name: str
    line: int
    tree: ast.Module

    def line_of(self, call: str, **arguments: object) -> int | None:
        """The line of the first call of `call` (such as `Output`) with these arguments."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and _called(node) == call:
                given = {word.arg: word.value for word in node.keywords}
                if all(
                    isinstance(value := given.get(name), ast.Constant) and value.value == wanted
                    for name, wanted in arguments.items()
                ):
                    return node.lineno
        return None

    def sets(self, name: str) -> bool:
        """Whether a class of the source sets this attribute in its body."""
        return any(
            isinstance(target, ast.Name) and target.id == name
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ClassDef)
            for line in node.body
            if isinstance(line, ast.Assign | ast.AnnAssign)
            for target in (line.targets if isinstance(line, ast.Assign) else [line.target])
        )

    def line_of_method(self, name: str) -> int | None:
        """The line of a method of the component."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
                return node.lineno
        return None

    def line_of_import(self, message: str) -> int | None:
        """The line of the import of a module or name that a message quotes."""
        quoted = set(re.findall(r"'([\w.]+)'", message)) | set(re.findall(r"Module ([\w.]+) not found", message))
        for node in ast.walk(self.tree):
            match node:
                case ast.Import(names=names):
                    named = {part for alias in names for part in (alias.name, alias.name.partition(".")[0])}
                case ast.ImportFrom(module=str(module), names=names):
                    named = {module, module.partition(".")[0], *(alias.name for alias in names)}
                case _:
                    continue
            if named & quoted:
                return node.lineno
        return None


def read_outline(source: str) -> tuple[Outline | None, list[Fault]]:
    """Read a source without executing it: its outline, and every reason to refuse it."""
    if len(source.encode("utf-8", "surrogatepass")) > MAX_SOURCE:
        message = f"The source is longer than {MAX_SOURCE // 1024:,} kB."
        return None, [Fault(code="too_large", message=message, fix="Split the component into smaller parts.", line=1)]
    from runtime.guard.source import scan  # what reads sources is imported when one has to be read

    faults = [] if is_trusted(source) else [_of(violation) for violation in scan(source)]
    try:
        tree = module_of(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None, faults or [_of(violation) for violation in scan(source)]
    outline = _component(tree, faults)
    if outline is not None:
        try:
            check_class_name(outline.name)
        except ClassNameError as error:
            faults.append(Fault(code="class_name", message=error.message, fix=error.fix, line=outline.line))
    return outline, faults


def check_class_name(name: str) -> str:
    """Return a class name that can name a file and a component type.

    Raises:
        ClassNameError: it is empty, too long, not in CamelCase, or the name of a device on Windows.
    """
    camel = "Name the class in CamelCase with letters and digits, such as WordCounter."
    if not name:
        raise ClassNameError("The class name is empty.", camel, "empty_class_name")
    if len(name) > MAX_CLASS_NAME:
        message = f"The class name's length {len(name)} exceeds max {MAX_CLASS_NAME}."
        raise ClassNameError(message, "Shorten it.", "length_exceeded")
    if _NAME.fullmatch(name) is None:
        raise ClassNameError(f"{name!r} is not a valid name for a component class.", camel)
    if name.casefold() in _DEVICES:
        raise ClassNameError(f"{name!r} is the name of a device on Windows.", "Choose another class name.")
    return name


def _component(tree: ast.Module, faults: list[Fault]) -> Outline | None:
    found = list(_component_classes(tree))
    inherited = {base for one in found for base in _bases(one)}
    ends = [one for one in found if one.name not in inherited]
    if not ends:
        dotted = next((one for one in tree.body if isinstance(one, ast.ClassDef) and _dotted(one)), None)
        message = "No component class was found in the source."
        faults.append(Fault(code="no_component", message=message, fix=_SHAPE, line=dotted.lineno if dotted else 1))
        return None
    if len(ends) > 1:
        names = ", ".join(one.name for one in ends)
        message = f"The source defines {len(ends)} components: {names}."
        fix = "Put one component in a source; let other classes not inherit from Component."
        faults.append(Fault(code="several_components", message=message, fix=fix, line=ends[1].lineno))
    return Outline(ends[0].name, ends[0].lineno, tree)


def _component_classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    """The classes that the engine takes for components, by the names of their bases."""
    known: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(
            "Component" in base or "LC" in base or base in known for base in _bases(node)
        ):
            known.add(node.name)
            yield node


def _bases(node: ast.ClassDef) -> list[str]:
    return [base.id for base in node.bases if isinstance(base, ast.Name)]


def _dotted(node: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Attribute) and "Component" in base.attr for base in node.bases)


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _of(violation: Violation) -> Fault:
    return Fault(code=violation.rule, message=violation.message, fix=violation.fix, line=violation.line)
