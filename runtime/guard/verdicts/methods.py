"""What methods do and give, by what they are called on: texts, containers, files, or anything at all."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from runtime.guard.interpreter import derived
from runtime.guard.interpreter.arguments import Arguments, Call
from runtime.guard.interpreter.texts import below, changed_text, filled, joined
from runtime.guard.origins import is_anything, is_plain, may_be_text
from runtime.guard.sets import (
    constants,
    contents,
    elements,
    every,
    inside,
    known_value,
    listed,
    one,
    paths,
    strings,
    union,
)
from runtime.guard.values import ANYTHING, EMPTY, Atom, Box, Const, File, Local, Made, Ref, Text, Unknown, Value
from runtime.guard.verdicts import checks, files, judging
from runtime.guard.verdicts.embedded import format_reach, harmless_sql, query_reach, sql_reach, template_reach

_SAME_FILE = re.compile(
    r"resolve|absolute|with_suffix|with_stem|relative_to|as_posix|__enter__|open|__str__|fileno|rename"
)
_TABLES = ("pandas.", "lfx.schema")


def judge(call: Call) -> None:
    """Judge a method call by its name and arguments."""
    name, held, reading = call.path, call.held, call.reading
    if name in ("__setattr__", "__delattr__"):
        _set(call)
    judging.changed(reading, judging.shared(reading, held) if name in judging.FILLS else EMPTY, "", call.node)
    func = call.node.func
    if name in judging.CHANGING and isinstance(func, ast.Attribute) and judging.by_hand(func.value, held, call.at(0)):
        call.report("tampering", f"Calling `.{name}` of something else", "Use the operator or function that calls it.")
    if name in ("set", "set_attributes"):
        for field in reading.file_fields:
            value = call.given.named.get(field, call.given.more) if name == "set" else ANYTHING
            reading.store(field, value) if value else None
    check = judging.method_check(reading, held, name)
    classes = [path for path in paths(held) if "(" not in path]
    if not check or (len(classes) == len(held) and all(map(reading.rules.is_module, classes)) and classes):
        return  # a public name of a module is judged as such
    if classes and len(classes) == len(held) and check != "dburl" and not classes[0].startswith("pathlib."):
        call = Call(reading, call.node, call.scope, call.given.after(1), name, held)
    if check.startswith("path"):
        files.path_method(call, check)
    elif check in ("writes", "mayput"):
        buffers = all(atom in (Ref("json"), Ref("io.BytesIO()")) for atom in held)
        if not buffers and files.reaches("optional" if check == "writes" else "mayput", call.given):
            call.report("files", f"`.{name}`")
    elif check in _JUDGED:
        _JUDGED[check](call)


def _expression(call: Call) -> None:
    """`query` and `eval` of a table execute their text: it stands in the source and names columns only."""
    text, query = call.given.at(0, "expr"), call.path == "query"
    tables = any(not isinstance(atom, Ref) or atom.path.startswith(_TABLES) or is_anything(atom) for atom in call.held)
    if query and (text is None or not tables):
        return
    if constants(text or EMPTY) is None or any(map(query_reach, strings(text))):
        fix = "Write the condition out, or compare columns: table[table[column] == value]."
        call.report("dynamic_code", f"`.{call.path}` with an expression that does not stand in the source", fix)


def _method_name(call: Call) -> None:
    """`apply` and its like call a method by name: one that is known, or that gets nothing to work on."""
    name, given = call.path, call.given
    more = len(given.given) > 1 or bool(given.more)
    for atom in every(call.at(0, "func")):
        match atom:
            case Const(value=str() as text):
                judging.attribute(call.reading, ANYTHING, text, call.node)
                judged = call.reading.rules.methods.get(text, "") in ("writes", "expression", "mayput")
                bad = judged and (more or bool(given.named))
            case Unknown():
                work = more or bool(given.named.keys() - {"axis", "na_action"})
                bad = work and name not in ("map", "pipe")
            case Ref() if atom.is_instance:  # a text that outside code makes, or a function that it gives
                bad = more or bool(given.named.keys() - {"axis", "na_action"})
            case _:
                bad = isinstance(atom, Text)
        if bad:
            call.report("escape", f"`.{name}` of a method by its name", "Pass a function, such as a lambda.")


def _format(call: Call) -> None:
    template = call.reading.rules.methods.get(call.path) == "template"
    texts = [*strings(call.held), *(text for value in call.given.given[:1] for text in strings(value))]
    reaching = any(format_reach(text if template else f"{{{text}}}") for text in texts)
    if reaching or (not template and constants(call.at(0)) is None):
        call.report("escape", "A format template that reads what is behind the values")
    parts = call.given.every() if call.path == "format" else [inside(call.at(0))]
    within = [atom for value in parts for atom in every(value)]
    unsure = any(map(may_be_text, call.held))
    objects = any(isinstance(atom, Made | Local) or (isinstance(atom, Ref) and not is_plain(atom)) for atom in within)
    if unsure and objects:
        fix = "Write the template out, pass texts (str(value)), or fill it in with string.Template."
        call.report("escape", "A format template made at run time that is given objects", fix)


def _texts(call: Call) -> list[str]:
    """The known texts, and the known beginnings, among what a method is given."""
    heads = [atom.head for value in call.given.given[:1] for atom in value if isinstance(atom, Text)]
    return [text for value in list(call.given.every())[:2] for text in strings(value)] + heads


def _sql(call: Call) -> None:
    if any(map(sql_reach, _texts(call))):
        call.report("files", f"A statement in `.{call.path}`")
    elif _is_sqlite(call) and not all(map(_opens_nothing(call), call.at(0))):
        fix = "Begin the statement in the source, and pass values as parameters."
        call.report("files", f"A statement in `.{call.path}` that is made at run time", fix)


def _is_sqlite(call: Call) -> bool:
    """Whether a statement may be one of SQLite: of a connection, or of anything in a source that can make one."""
    makes = "sqlite3" in call.reading.mentioned and call.path != "sql"
    return any(path.startswith("sqlite3.") for path in paths(call.held)) or (makes and any(map(is_anything, call.held)))


def _opens_nothing(call: Call) -> Callable[[Atom], bool]:
    """Whether a statement of SQLite is known to open no file: a script is known as a whole."""
    script = call.path == "executescript"

    def known(atom: Atom) -> bool:
        text = atom.value if isinstance(atom, Const) else atom.head if isinstance(atom, Text) and not script else None
        return isinstance(text, str) and (script or harmless_sql(text) is not None)

    return known


def _table(call: Call) -> None:
    files.connection(call, call.at(1, "con"))


def _copies(call: Call) -> None:
    """A copy of a field may begin with another value."""
    update = call.given.named.get("update", call.given.more)
    if update and any(path.endswith("Input()") for path in paths(call.held)):
        call.report("files", f"A field that `.{call.path}` changes", "Write the field out.")
    elif update and any(isinstance(atom, Unknown | Made) for atom in call.held):
        for atom in update:
            value = derived.item(one(atom), known_value("value")) if isinstance(atom, Box) else ANYTHING
            call.reading.store("value", value)


def _builds(call: Call) -> None:
    if any(path.endswith("Input") for path in paths(call.held)):
        call.report("files", f"A field that is made by `.{call.path}`", "Write the field out.")


def _mounts(call: Call) -> None:
    if any(text.startswith("file") for text in _texts(call)):
        call.report("files", "An adapter for addresses of files")


def _jinja(call: Call) -> None:
    held = paths(call.held)
    if len(held) == len(call.held) and all("sandbox" in path for path in held):
        return
    if any(path.startswith("jinja2.") for path in held) or any(map(template_reach, _texts(call))):
        checks.judge_template(call)


def _cafile(call: Call) -> None:
    if files.names_certificates(call, 0):
        call.report("files", f"`.{call.path}` of a path")


def _plot(call: Call) -> None:
    if call.given.named.get("backend", EMPTY) - {Const("matplotlib"), Const(None)}:
        call.report("dynamic_code", "A plot by a module that is named by a text")


def _handler(call: Call) -> None:
    if any(path.startswith("logging.root") for path in paths(call.held)):
        call.report("tampering", "A handler for everyone's log")


_JUDGED = {
    "expression": _expression,
    "method": _method_name,
    "template": _format,
    "fieldname": _format,
    "sql": _sql,
    "mounts": _mounts,
    "jinja": _jinja,
    "cafile": _cafile,
    "handler": _handler,
    "plot": _plot,
    "sqltable": _table,
    "copies": _copies,
    "builds": _builds,
    "extracts": files.extracts,
    "dburl": checks.judge_database,
}


def _set(call: Call) -> None:
    outer = frozenset(atom for atom in call.held if isinstance(atom, Ref) and not atom.path.startswith("@"))
    judging.changed(call.reading, outer, "", call.node)
    if any(path.startswith("@") for path in paths(call.held)):
        target = frozenset(atom for atom in call.at(0) if isinstance(atom, Ref))
        judging.changed(call.reading, target, "", call.node)


def result(held: Value, name: str, given: Arguments) -> Value | None:
    """What a method of a known text, container or file gives; None when `held` is none of these."""
    if not all(isinstance(atom, Const | Text | Box | File) for atom in held):
        return None
    return union([_result(atom, name, given) for atom in held])


def _result(atom: Atom, name: str, given: Arguments) -> Value:
    match atom:
        case Const(value=str() | bytes()) | Text() if name == "join":
            return joined(elements(given.at(0) or EMPTY))
        case Const(value=str()) | Text() if name in ("format", "format_map"):
            return filled(one(atom), union(given.every()))
        case Const() | Text():
            return changed_text(atom, name)
        case Box():
            return _of_box(atom, name, given)
        case File():
            return _of_file(atom, name, given)
        case _:
            return ANYTHING


def _of_box(atom: Box, name: str, given: Arguments) -> Value:
    within = contents(atom)
    match name:
        case "get" | "pop" | "setdefault" | "__getitem__":
            index = given.at(0)
            if index is None:
                return within or ANYTHING
            found = derived.item_of(atom, index)
            return union([found, given.at(1) or (known_value(None) if name == "get" and not atom.items else EMPTY)])
        case "values" | "__iter__":
            return listed(within)
        case "copy":
            return one(atom)
        case "items":
            keys = frozenset(Const(key) for key, _ in atom.items) | (ANYTHING if atom.rest else EMPTY)
            return listed(one(Box(((0, keys), (1, within)), EMPTY)))
        case "keys":
            return listed(elements(one(atom)))
        case "popleft" | "popitem":
            return within or ANYTHING
        case _:
            return ANYTHING


def _of_file(file: File, name: str, given: Arguments) -> Value:
    start = one(file)
    match name:
        case "strip" | "rstrip" | "encode" if file.text:
            return start
        case _ if file.text:
            return one(File(-1)) if name in ("replace", "join", "split", "removesuffix") else ANYTHING
        case "joinpath":
            return below(start, given.given)
        case "as_uri":
            return one(Text("file://"))
        case "resolve" | "absolute":
            return one(file.followed)
        case "with_name" if file.depth >= 0:
            return below(one(File(max(file.depth - 1, 0))), given.given)
        case "iterdir" | "glob" | "rglob" | "walk" if file.depth >= 0:
            return listed(one(File(-1 if file.last else file.depth + 1)))
        case "with_name" | "iterdir" | "glob" | "rglob":
            return start
        case _:
            return start if _SAME_FILE.fullmatch(name) else ANYTHING


def mutate(call: Call) -> None:
    """Let the container that a method changes have more in it."""
    given, more, kinds = call.given, EMPTY, (False,)
    match call.path:
        case "append" | "add" | "appendleft" | "insert":
            more = union([*given.given[-1:], given.more])
        case "extend" | "extendleft" | "update":
            more = union([*map(inside, given.every()), *map(elements, given.given), *given.named.values(), given.more])
            kinds = (False, True) if call.path == "update" else (False,)
        case "setdefault":
            more, kinds = call.at(1), (True,)
        case _:
            pass
    if more:
        call.reading.heap.put(call.held, Box((), more), kinds)
