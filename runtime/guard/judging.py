"""Verdicts about values: what must not be named, handed around, changed, or reached by a name made at run time."""

from __future__ import annotations

import ast

from runtime.guard import policy
from runtime.guard.closed import CLOSED, attribute_rule
from runtime.guard.filecalls import PATH_READS
from runtime.guard.reading import Reading
from runtime.guard.running import is_shared
from runtime.guard.values import Box, Const, Local, Made, Ref, Text, Unknown, Value, contents
from runtime.guard.violations import Rule

_ESCAPE_FIX = "Name the attribute where it is read, as in `thing.attribute`."


def shown(path: str) -> str:
    """A path as a reader of the source would write it."""
    plain = path.lstrip("@?").replace("lfx.running.", "").replace("()", "").replace("[]", "")
    return f"`{plain}`"


def used(reading: Reading, value: Value, node: ast.AST) -> None:
    """Judge what an expression gives away: to a variable, a call, a container."""
    for atom in value:
        if isinstance(atom, Ref):
            if isinstance(node, ast.Attribute) or atom.path.startswith("@"):
                named(reading, atom.path, node)  # what an import named was judged there
            _handed_around(reading, atom.path, node)


def attribute_used(reading: Reading, atom: object, node: ast.AST) -> None:
    """Judge an attribute that a pattern takes, and so gives away."""
    if isinstance(atom, Ref):
        named(reading, atom.path, node)
        _handed_around(reading, atom.path, node)


def _handed_around(reading: Reading, path: str, node: ast.AST) -> None:
    if policy.is_module_in_part(path):
        what = f"The module {shown(path)} is handed around, which hides what is taken from it."
        reading.report("escape", node, what, f"Use it only by name, as in `{path}.something`.")
    elif policy.only_called(path):
        rule: Rule = "escape" if path in policy.CALLEES and path != "@open" else "files"
        what = f"{shown(path)} is handed around, which hides what it is called with."
        reading.report(rule, node, what, f"Call {shown(path)} where it stands.")
    elif path.startswith("pathlib.Path.") and path.rpartition(".")[2] in PATH_READS:
        reading.report("files", node, shown(path))


def named(reading: Reading, path: str, node: ast.AST) -> None:
    """Judge a dotted path that the source names."""
    rule = policy.forbidden(path)
    if rule is not None:
        reading.report(rule, node, shown(path))


def attribute(reading: Reading, base: Value, name: str, node: ast.AST) -> None:
    """Judge an attribute by its name alone, and the few that depend on what they are read from."""
    rule = attribute_rule(name)
    if rule is not None and not _own(reading, base, name) and not _freed(base, name):
        reading.report(rule, node, f"`.{name}`")
    elif name == "__dict__":
        for atom in base:
            if isinstance(atom, Ref) and "(" not in atom.path:
                reading.report("escape", node, f"The attribute table of {shown(atom.path)}")
    elif name == "create_connection":
        if any(isinstance(atom, Ref) and atom.path.startswith("asyncio.") for atom in base):
            reading.report("sockets", node, "`.create_connection` of an event loop")
    elif name == "sock":
        if any(isinstance(atom, Ref) for atom in base):
            reading.report("sockets", node, "`.sock`")
    elif name == "get_variable" and not _own(reading, base, name) and _of_engine(base, node):
        reading.report("secrets", node, "`.get_variable`")
    elif name == "__getattr__" and not any(isinstance(atom, Unknown | Made) for atom in base):
        reading.report("escape", node, "`.__getattr__`")


def _of_engine(base: Value, node: ast.AST) -> bool:
    """Whether an attribute is read from a component or its base class, `super()` included."""
    if any(isinstance(atom, Made) or (isinstance(atom, Ref) and policy.is_engine(atom.path)) for atom in base):
        return True
    match node:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
            return True
        case _:
            return False


def _freed(base: Value, name: str) -> bool:
    """Whether the tables name this very attribute as free."""
    return bool(base) and all(isinstance(atom, Ref) and policy.is_named_free(atom.path, name) for atom in base)


def _own(reading: Reading, base: Value, name: str) -> bool:
    """Whether the source itself defines the attribute on its own object."""
    if name.startswith("__"):
        return False
    return name in reading.attributes and all(isinstance(atom, Made | Local) for atom in base)


def by_name(reading: Reading, base: Value, name: Value, node: ast.AST, how: str) -> None:
    """Judge an attribute whose name is a value, as for `getattr`."""
    hidden = hidden_name(name)
    if hidden is not None:
        reading.report(hidden[0], node, f"{how} with {hidden[1]}", _ESCAPE_FIX)
        return
    fixed = all(isinstance(atom, Const) for atom in name) and name
    for atom in base:
        match atom:
            case Ref(path) if fixed:
                if policy.is_module_in_part(path) or policy.is_standard(path):
                    for text in name:
                        if isinstance(text, Const):
                            named(reading, policy.step(path, str(text.value)), node)
            case Ref(path) if policy.is_module_in_part(path) or policy.forbidden(path):
                reading.report("escape", node, f"{how} of {shown(path)} with a name made at run time", _ESCAPE_FIX)
            case Ref(path) if path.startswith("@") and "(" not in path and path not in ("@str", "@int", "@float"):
                reading.report("escape", node, f"{how} of {shown(path)} with a name made at run time", _ESCAPE_FIX)
            case Local(number) if not fixed and not isinstance(reading.definitions[number].node, ast.ClassDef):
                reading.report("escape", node, f"{how} of a function with a name made at run time", _ESCAPE_FIX)
            case Unknown("picked" | "drawn" | "table"):
                reading.report("escape", node, f"{how} step by step with names made at run time", _ESCAPE_FIX)
            case _:
                pass


def key(reading: Reading, base: Value, index: Value, node: ast.AST) -> None:
    """Judge a subscript: in a table of attributes a key is an attribute's name."""
    for atom in index:
        if isinstance(atom, Const) and isinstance(atom.value, str) and atom.value.startswith("__"):
            rule = attribute_rule(atom.value)
            if rule is not None:
                reading.report(rule, node, f"The key {atom.value!r}")
    for atom in base:
        match atom:
            case Unknown("table" | "picked"):
                if Const("_vertex") in index:
                    reading.report("secrets", node, "The key '_vertex'")
                hidden = hidden_name(index)
                if hidden is not None:
                    reading.report(hidden[0], node, f"An attribute table with {hidden[1]}", _ESCAPE_FIX)
            case Ref(path):
                named(reading, path, node)
            case _:
                pass


def changed(reading: Reading, base: Value, name: str, value: Value, node: ast.AST) -> None:
    """Judge an assignment to, or deletion of, an attribute or item of something."""
    if name.startswith("__") and name.endswith("__"):
        harmless = ("__name__", "__qualname__", "__doc__", "__wrapped__", "__signature__", "__cause__", "__module__")
        if name not in (*harmless, "__context__", "__suppress_context__", "__slots__"):
            reading.report("tampering", node, f"Assigning to `.{name}`")
    for atom in base:
        if not isinstance(atom, Ref) or ("(" in atom.path and not is_shared(atom.path)):
            continue
        path = atom.path
        named(reading, path, node)
        of_class = path.rpartition(".")[2][:1].isupper() and not path.rpartition(".")[2].isupper()
        if policy.is_standard(path) or of_class or any(_is_code(part) for part in value):
            what = f"Changing `{path.lstrip('@')}.{name}`" if name else f"Changing an item of {shown(path)}"
            reading.report("tampering", node, what)


def _is_code(atom: object) -> bool:
    match atom:
        case Local():
            return True
        case Ref(path):
            return "(" not in path
        case Box() as box:
            return any(_is_code(part) for part in contents(box))
        case _:
            return False


def inherited(reading: Reading, value: Value, node: ast.AST) -> None:
    """Judge a base class."""
    for atom in value:
        if isinstance(atom, Ref):
            named(reading, atom.path, node)


def hidden_name(value: Value) -> tuple[Rule, str] | None:
    """The closed attribute that a name made at run time may be, with its rule; None when it cannot be one.

    A name of which nothing is known but that it comes from elsewhere (an input, a parameter) is not taken for one.
    """
    for atom in value:
        match atom:
            case Const(value=str() as name):
                if (rule := attribute_rule(name)) is not None:
                    return rule, name
                if name.startswith("__") and name in ("__class__", "__dict__", "__getattr__", "__init__"):
                    return "escape", name
            case Text(head, tail):
                if (found := _completed(head, tail)) is not None:
                    return "escape", found
            case Unknown("picked" | "drawn"):
                return "escape", "an attribute of an attribute"
            case _:
                pass
    return None


def _completed(head: str, tail: str) -> str | None:
    for name in (*CLOSED, "__globals__", "system", "eval", "environ", "popen", "modules"):
        if name.startswith(head) and name.endswith(tail):
            return f"a name such as {name}"
    if ("__".startswith(head) or head.startswith("__")) and ("__".endswith(tail) or tail.endswith("__")):
        return "a double-underscore name"
    return None
