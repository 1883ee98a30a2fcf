"""Verdicts about values: what must not be named, handed around, changed, or reached by a name made at run time."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from runtime.guard.interpreter.derived import is_component
from runtime.guard.interpreter.heap import GROWS
from runtime.guard.interpreter.reading import Reading
from runtime.guard.origins import makes_text
from runtime.guard.sets import every, paths, strings
from runtime.guard.values import MODEL_CONFIG, PICKED, Box, Const, File, Local, Made, Ref, Text, Unknown, Value
from runtime.guard.verdicts.running import GRAPH, VERTEX, is_shared, kept_from
from runtime.guard.violations import FIXES, Rule

ESCAPE_FIX = "Name the attribute where it is read, as in `thing.attribute`, or keep functions in a dictionary."
_BROAD = (
    *("memfile", "dict", "map", "super", "type", "pathlib", "pathfn", "join", "dir", "namespace"),
    *("ndarray", "config", "settings", "alias"),
)
"""Checks of what may still be handed around."""
_SOFT = (
    *("expression", "method", "template", "sql", "mayput", "handler", "pathmay", "pathmove", "jinja", "plot"),
    *("copies", "builds"),
)
"""Checks of methods whose names are also those of harmless values."""
READERS = frozenset(
    (
        *("model_validate", "model_validate_json", "model_validate_strings", "parse_obj"),
        *("validate_python", "validate_json", "validate_strings"),
    )
)
"""Methods that make a model of a value, and take settings as keywords."""
FILLS = GROWS | {"pop", "popitem", "popleft", "clear", "remove", "discard"}
"""Methods that change a container."""
CHANGING = frozenset(
    (
        *("__setitem__", "__delitem__", "__iadd__", "__ior__", "__imul__", "__init__", "__setattr__", "__delattr__"),
        "__set__",
    )
)
"""Methods that change their object, which the language calls by itself."""
_LOOKS_LIKE_A_VALUE = ("query", "format", "sql", "save", "open", "glob", "owner", "group", "stat", "map")
_TAKES_PATHS = ("@", "os.", "pathlib.", "mimetypes.")
_TAKES_METHODS = ("urllib.parse.", "@str", "@print", "@len", "@bool")
_LOOKS = ("@getattr", "@hasattr", "@isinstance", "@bool", "@id", "@type", "@callable", "@setattr")
_READS_TABLES = (
    *("@dict", "@print", "@str", "@repr", "@len", "@bool", "@list", "@sorted", "json.dumps", "copy.copy", "@iter"),
)
_LOOKS_AT_TYPES = ("@isinstance", "@issubclass", "@print", "@str", "@repr")
_HARMLESS = (
    *("__name__", "__qualname__", "__doc__", "__wrapped__", "__signature__", "__cause__", "__module__", "__context__"),
    *("__suppress_context__", "__slots__"),
)
"""Names with underscores that may be assigned to."""


def source_path(path: str) -> str:
    """A path as a reader of the source would write it."""
    return f"`{path.lstrip('@').replace('lfx.running.', '').replace('()', '').replace('[]', '')}`"


def named(reading: Reading, path: str, node: ast.AST) -> None:
    """Judge a dotted path that the source names."""
    rules = reading.rules
    rule = (kept_from(path) or rules.refused.get(path)) if "(" in path else rules.refusal(path)
    if rule is not None:
        reading.report(rule, node, source_path(path), rules.fix(path))


def use(reading: Reading, value: Value, node: ast.expr) -> None:
    """Judge what an expression gives away: to a variable, a call, a container."""
    for path in paths(value):
        if isinstance(node, ast.Attribute) or path.startswith("@"):
            named(reading, path, node)  # what an import named was judged there
        if "(" not in path:
            _handed_around(reading, path, node)


def _handed_around(reading: Reading, path: str, node: ast.AST) -> None:
    if reading.rules.is_module(path):
        what = f"The module {source_path(path)} is passed on as a value, which hides what is taken from it."
        reading.report("escape", node, what, f"Use it only by name, as in `{path}.something`.")
    elif (check := reading.rules.check(path)) and check not in _BROAD:
        rule: Rule = "escape" if path.startswith(("@", "operator.", "functools.")) and path != "@open" else "files"
        what = f"{source_path(path)} is passed on as a value, which hides what it is called with."
        reading.report(rule, node, what, f"Call {source_path(path)} directly.")
    elif path.startswith("pathlib.Path.") and path.rpartition(".")[2] in reading.rules.methods:
        reading.report("files", node, source_path(path))


def attribute(reading: Reading, base: Value, name: str, node: ast.AST) -> None:
    """Judge an attribute by its name, whatever it is read from."""
    refused = reading.rules.attributes
    if base >= PICKED:
        reading.report("escape", node, f"`.{name}` of what was taken by a name made at run time", ESCAPE_FIX)
    elif name.startswith("_"):
        if not _open(reading, base, name):
            reading.report("escape", node, f"`.{name}`")
    elif name in refused and not _own(reading, base, name) and not _listed(reading, base, name):
        reading.report(refused[name], node, f"`.{name}`")
    if name == "__dict__" and not plain_instances(reading, base):
        reading.report("escape", node, "The attribute table of something else", "Name the attributes one by one.")


def by_hand(call_of: ast.expr, base: Value, first: Value) -> bool:
    """Whether a method that changes its object is called on another object than the source's own."""
    above = isinstance(call_of, ast.Call) and isinstance(call_of.func, ast.Name) and call_of.func.id == "super"
    classes = bool(base) and all(
        isinstance(atom, Local) or (isinstance(atom, Ref) and "(" not in atom.path) for atom in base
    )
    held = first if classes else base
    own = bool(held) and all(isinstance(atom, Made | Local) for atom in held)
    return not (above or own or not base or (classes and not first))


def shared(reading: Reading, base: Value) -> Value:
    """The tables and lists of outside classes and modules among what something may be."""
    return frozenset(
        atom
        for atom in base
        if isinstance(atom, Ref)
        and not atom.is_instance
        and not atom.path.startswith("@")
        and atom.path.rpartition(".")[2].islower()
        and not reading.rules.is_module(atom.path)
    )


def plain_instances(reading: Reading, base: Value) -> bool:
    """Whether a value can only be an instance of the source's own classes, components left aside."""
    return (
        bool(base)
        and "__getattr__" not in reading.stored
        and all(isinstance(atom, Made) and not is_component(reading, atom.number) for atom in base)
    )


def _open(reading: Reading, base: Value, name: str) -> bool:
    """Whether a name with an underscore may be read: a listed one, or one that the source itself defines."""
    classes = any("(" not in path for path in paths(base))
    if name in reading.rules.private:
        return not (classes and name in ("__wrapped__", "__getitem__", "__class_getitem__", "__call__"))
    dunder = name.startswith("__") and name.endswith("__")
    return not dunder and name in reading.stored and not classes


def _listed(reading: Reading, base: Value, name: str) -> bool:
    """Whether the rules say something about this very attribute of what it is read from."""
    found, rules = paths(base), reading.rules
    if not found or len(found) < len(base) or any("(" in path for path in found):
        return False
    refusals = [rules.refusal(f"{path}.{name}") for path in found]
    return all(refusals) or (not any(refusals) and all(map(rules.is_module, found)))


def _own(reading: Reading, base: Value, name: str) -> bool:
    """Whether the source itself defines the attribute on its own object."""
    known = (name in reading.attributes or name in reading.inputs) and "__getattr__" not in reading.stored
    return known and all(isinstance(atom, Made | Local) for atom in base)


def method_check(reading: Reading, base: Value, name: str) -> str:
    """The check of a method on whatever object, unless the object is the source's own and defines it."""
    check = reading.rules.methods.get(name, "")
    return "" if check and _own(reading, base, name) else check


def taken(reading: Reading, base: Value, name: str, node: ast.AST) -> Value | None:
    """Judge a judged method that is taken without being called; what it is then, None when it is nothing special."""
    if name in CHANGING and (name != "__init__" or any("(" in path for path in paths(base))):
        if not all(isinstance(atom, Made | Local) for atom in base):
            reading.report(
                "tampering", node, f"`.{name}` that is taken to be called", "Use the operator that calls it."
            )
        return None
    if name in FILLS and shared(reading, base):
        reading.report("tampering", node, f"`.{name}` of what all components share", "Make a copy: dict(...).")
    if name in READERS and not _own(reading, base, name):
        return frozenset({Unknown("reader")})
    return _judged(reading, base, name, node)


def _judged(reading: Reading, base: Value, name: str, node: ast.AST) -> Value | None:
    check = method_check(reading, base, name)
    if check == "builds" and not any(path.endswith("Input") for path in paths(base)):
        return None
    if not check or all(
        isinstance(atom, Const | Text | Box) or (isinstance(atom, File) and atom.text) for atom in base
    ):
        return None
    hides = "is passed on as a value, which hides what it is called with."
    classes = [path for path in paths(base) if "(" not in path]
    for path in classes:
        harmless = path.startswith("@") and (check.startswith("path") or path != "@str")
        if not reading.rules.is_module(path) and not harmless and path != "pathlib.Path":
            reading.report("escape", node, f"{source_path(f'{path}.{name}')} {hides}", "Call it directly.")
    if classes:
        return None
    if any(isinstance(atom, File) and atom.depth < 0 for atom in base) and check.startswith("path"):
        reading.report("files", node, f"`.{name}` of a path")
    elif check in _SOFT or name in _LOOKS_LIKE_A_VALUE:
        only_refs = all(isinstance(atom, Ref) and not atom.path.startswith(("pandas.", "lfx.schema")) for atom in base)
        only_refs = only_refs and not (check == "template" and any(map(makes_text, base)))
        return None if only_refs else frozenset({Unknown("method")})
    elif any(isinstance(atom, Unknown) for atom in base):
        reading.report("files", node, f"`.{name}` {hides}", f"Call `.{name}()` directly.")
    elif any(isinstance(atom, Ref) for atom in base):
        return frozenset({Unknown("method")})
    return None


def handed_on(reading: Reading, callee: str, values: Iterable[Value], node: ast.AST) -> None:
    """Judge what is passed to something outside: what is judged by its use must not vanish in it."""
    for atom in {atom for value in values for atom in every(value)}:
        match atom:
            case Ref(path) if path in (GRAPH, VERTEX) and callee not in _LOOKS and not callee.startswith("lfx."):
                reading.report("secrets", node, f"Handing {source_path(path)} on, which holds other nodes' values,")
            case Ref() if atom == MODEL_CONFIG and callee not in _READS_TABLES:
                reading.report("tampering", node, "Handing the settings of a model on, where they may be changed,")
            case Ref("@type") if callee not in _LOOKS_AT_TYPES:
                reading.report("dynamic_code", node, "`type` handed on, which makes classes", "Call it directly.")
            case Ref("numpy.ndarray") if callee not in (*_LOOKS, "@issubclass"):
                reading.report("native", node, "`numpy.ndarray` handed on, which makes arrays over buffers", "Name it.")
            case Unknown("method") if not callee.startswith(_TAKES_METHODS):
                what = "A method is passed on as a value, which hides what it is called with."
                reading.report("escape", node, what, "Call it directly.")
            case File(depth, False) if depth < 0 and callee and not callee.startswith(_TAKES_PATHS):
                reading.report("files", node, f"Handing a path to {source_path(callee)}", "Pass its text: str(path).")
            case _:
                pass


def by_name(reading: Reading, base: Value, name: Value, node: ast.AST, how: str) -> bool:
    """Judge an attribute whose name is a value, as for `getattr`; whether all its names are known."""
    modules = [path for path in paths(base) if "(" not in path]
    free = (
        plain_instances(reading, base)
        or (base and all(isinstance(one, Const) for one in base))
        or (modules and len(modules) == len(base) and reading.rules.by_name.issuperset(modules))
    )
    for atom in name:
        match atom:
            case Const(value=str() as text):
                attribute(reading, base, text, node)
                for path in modules:
                    named(reading, f"{path}.{text}", node)
            case Text(head) if not modules and _closed(reading, head):
                pass
            case Unknown("asked") if not modules:
                pass
            case _ if not free:
                reading.report("escape", node, f"{how} with a name made at run time", ESCAPE_FIX)
            case _:
                pass
    return all(isinstance(atom, Const) or atom == Unknown("asked") for atom in name)


def _closed(reading: Reading, head: str) -> bool:
    """Whether the beginning of a name rules out every name that is refused or judged."""
    if len(head.strip("_")) < 2 or head.startswith("__"):
        return False
    names = (*reading.rules.attributes, *reading.rules.methods, *reading.rules.private, "graph", "vertex")
    return not any(name.startswith(head) for name in names)


def key(reading: Reading, base: Value, index: Value, node: ast.AST) -> None:
    """Judge a subscript: a key with underscores on both ends is an attribute's name in a table of attributes."""
    for text in strings(index):
        if re.fullmatch(r"__\w+__", text) and text not in reading.rules.private:
            reading.report("escape", node, f"The key {text!r}")
    if base >= PICKED:
        reading.report("escape", node, "An item of what was taken by a name made at run time", ESCAPE_FIX)
    for path in paths(base):
        named(reading, path, node)


def inherited(reading: Reading, path: str, node: ast.AST) -> None:
    """Judge a class that the source inherits from: what is judged by its calls must not be called by another name."""
    if path in ("string.Formatter", "numpy.ndarray"):
        reading.report("escape", node, f"Inheriting from {source_path(path)}", "Call it directly.")


def changed(reading: Reading, base: Value, name: str, node: ast.AST) -> None:
    """Judge an assignment to, or deletion of, an attribute or item of something."""
    if name.startswith("__") and name.endswith("__") and name not in _HARMLESS:
        reading.report("tampering", node, f"Assigning to `.{name}`")
    private = name.startswith("_") and name not in reading.rules.private and not name.endswith("__")
    if private and any(isinstance(atom, Ref) and atom.is_instance for atom in base):
        reading.report("tampering", node, f"Assigning to `.{name}`", FIXES["tampering"])
    if any(isinstance(atom, File) for atom in base) and name:
        reading.report("files", node, f"Changing `.{name}` of a temporary file", "Keep it in a variable of its own.")
    for path in paths(base):
        if path.endswith("FileInput()") and name in ("value", "file_path"):
            reading.report("files", node, "A file field that names a file itself", "Leave its value empty.")
        if path.startswith("urllib.request.Request()"):
            reading.report("files", node, "A request that is changed afterwards", "Make it with all that it needs.")
        if is_shared(path) or "(" not in path:
            named(reading, path, node)
            what = f"Changing `{path.lstrip('@')}.{name}`" if name else f"Changing an item of {source_path(path)}"
            reading.report("tampering", node, what, FIXES["tampering"])
    if base >= PICKED:
        reading.report("tampering", node, "Changing what was taken by a name made at run time")


def address(reading: Reading, base: Value, name: str, value: Value, node: ast.AST) -> None:
    """Judge what the address of a request is changed to."""
    own = bool(base) and all(isinstance(atom, Made | Local) for atom in base)
    texts = any(isinstance(atom, Text) or isinstance(getattr(atom, "value", None), str) for atom in every(value))
    unknown = any(path.startswith(("requests.", "httpx.")) for path in paths(base)) and Unknown() in value
    if name in ("cert", "verify") and not own and (texts or unknown):
        reading.report("files", node, f"`{name}` with a path of this machine")
    if name in ("full_url", "selector") and paths(base):
        for atom in value:
            if isinstance(atom, Const) and not str(atom.value).lower().startswith(("http://", "https://")):
                reading.report("files", node, f"A request to {str(atom.value)[:30]!r}")
