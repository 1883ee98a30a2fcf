"""What methods do and give, by what they are called on: texts, containers, files, or anything at all."""

from __future__ import annotations

import ast
import re

from runtime.guard.interpreter import derived, targets
from runtime.guard.interpreter.arguments import Arguments
from runtime.guard.interpreter.reading import Reading
from runtime.guard.interpreter.scopes import Scope
from runtime.guard.interpreter.texts import below, changed_text, filled, joined
from runtime.guard.interpreter.values import (
    ANYTHING,
    EMPTY,
    OUTSIDE,
    Box,
    Const,
    File,
    Local,
    Made,
    Ref,
    Text,
    Unknown,
    Value,
    constants,
    contents,
    elements,
    every,
    known,
    listed,
    strings,
    union,
)
from runtime.guard.verdicts import checks, files, judging
from runtime.guard.verdicts.embedded import format_reach, query_reach, sql_reach, template_reach

_SAME_FILE = re.compile(
    r"resolve|absolute|with_suffix|with_stem|relative_to|as_posix|__enter__|open|__str__|fileno|rename"
)
_TABLES = ("pandas.", "lfx.schema")


def judge(reading: Reading, held: Value, name: str, given: Arguments, node: ast.Call) -> None:
    """Judge a method call by its name and arguments."""
    if name in ("__setattr__", "__delattr__"):
        _set(reading, held, given, node)
    if name in ("set", "set_attributes"):
        for field in reading.file_fields:
            value = given.named.get(field, given.more) if name == "set" else ANYTHING
            reading.store(field, value) if value else None
    check = judging.method_check(reading, held, name)
    classes = [atom.path for atom in held if isinstance(atom, Ref) and not atom.is_instance]
    if classes and len(classes) == len(held):
        if all(map(reading.rules.is_module, classes)):
            return  # a public name, judged as such
        if check != "dburl" and not classes[0].startswith("pathlib."):
            given = given.after(1)
    if check and check in ("pathread", "pathopen", "pathmay", "pathmove"):
        files.path_method(reading, held, name, check, given, node)
    elif check in ("writes", "mayput"):
        if not all(isinstance(atom, Ref) and atom.path in ("json", "io.BytesIO()") for atom in held):
            files.writes(reading, name, "optional" if check == "writes" else "mayput", given, node)
    elif check == "extracts":
        files.extracts(reading, held, name, given, node)
    elif check:
        _judge_text(reading, held, name, check, given, node)


def _judge_text(reading: Reading, held: Value, name: str, check: str, given: Arguments, node: ast.Call) -> None:
    texts = [text for value in list(given.every())[:2] for text in strings(value)]
    texts += [atom.head for value in given.given[:1] for atom in value if isinstance(atom, Text)]
    if check == "expression":
        _expression(reading, held, name, given, node)
    elif check == "method":
        _method_name(reading, name, given, node)
    elif check in ("template", "fieldname"):
        _format(reading, held, name, check, given, node)
    elif check == "sql" and any(map(sql_reach, texts)):
        reading.report("files", node, f"A statement in `.{name}`")
    elif check == "mounts" and any(text.startswith("file") for text in texts):
        reading.report("files", node, "An adapter for addresses of files")
    elif check == "dburl":
        checks.CHECKS["dburl"](reading, name, given, node, reading.module)
    else:
        _judge_rest(reading, held, name, check, given, texts, node)


def _judge_rest(
    reading: Reading, held: Value, name: str, check: str, given: Arguments, texts: list[str], node: ast.Call
) -> None:
    paths = [atom.path for atom in held if isinstance(atom, Ref)]
    if check == "jinja" and not (len(paths) == len(held) and all("sandbox" in path for path in paths)):
        if any(path.startswith("jinja2.") for path in paths) or any(map(template_reach, texts)):
            checks.judge_template(reading, given, node)
    elif check == "cafile":
        certificates = [value for value in (given.at(0, "cafile"), given.at(1, "capath")) if value is not None]
        if any(files.outside_files(value, "optional") for value in certificates):
            reading.report("files", node, f"`.{name}` of a path")
    elif check == "handler" and any(path.startswith("logging.root") for path in paths):
        reading.report("tampering", node, "A handler for everyone's log")


def _expression(reading: Reading, held: Value, name: str, given: Arguments, node: ast.Call) -> None:
    """`query` and `eval` of a table execute their text: it stands in the source and names columns only."""
    if all(isinstance(atom, Ref) and not atom.path.startswith(_TABLES) for atom in held) and name == "query":
        return
    text = given.at(0, "expr")
    if name == "query" and text is None:
        return
    known_text = text is not None and constants(text) is not None
    if not known_text or any(map(query_reach, strings(text or EMPTY))):
        fix = "Write the condition out, or compare columns: table[table[column] == value]."
        reading.report("dynamic_code", node, f"`.{name}` with an expression that does not stand in the source", fix)


def _method_name(reading: Reading, name: str, given: Arguments, node: ast.Call) -> None:
    """`apply` and its like call a method by name: one that is known, or that gets nothing to work on."""
    for atom in every(given.at(0, "func") or EMPTY):
        match atom:
            case Const(value=str() as text):
                judging.attribute(reading, ANYTHING, text, node)
                bad = reading.rules.methods.get(text, "") in ("writes", "expression", "mayput")
            case Text():
                bad = True
            case Unknown():
                bad = (
                    len(given.given) > 1 or bool(given.named.keys() - {"axis", "args", "na_action"}) or bool(given.more)
                )
                bad = bad and name != "map" and name != "pipe"
            case _:
                bad = False
        if bad and (len(given.given) > 1 or given.named or given.more or isinstance(atom, Text)):
            reading.report("escape", node, f"`.{name}` of a method by its name", "Pass a function, such as a lambda.")


def _format(reading: Reading, held: Value, name: str, check: str, given: Arguments, node: ast.Call) -> None:
    templates = strings(held) + [text for value in given.given[:1] for text in strings(value)]
    if check == "fieldname":
        templates = [f"{{{text}}}" for text in templates]
    if any(map(format_reach, templates)) or (check == "fieldname" and constants(given.at(0) or EMPTY) is None):
        reading.report("escape", node, "A format template that reads what is behind the values")
    made = any(isinstance(atom, Text | Unknown) for atom in held)
    parts = given.every() if name == "format" else (contents(box) for box in given.at(0) or () if isinstance(box, Box))
    objects = any(isinstance(atom, Made | Local) for value in parts for atom in value)
    if made and objects:
        fix = "Write the template out, or fill it in with string.Template."
        reading.report("escape", node, "A format template made at run time that is given objects", fix)


def _set(reading: Reading, held: Value, given: Arguments, node: ast.AST) -> None:
    outer = frozenset(atom for atom in held if isinstance(atom, Ref) and not atom.path.startswith("@"))
    judging.changed(reading, outer, "", node)
    if any(isinstance(atom, Ref) and atom.path.startswith("@") for atom in held):
        target = given.at(0) or EMPTY
        judging.changed(reading, frozenset(atom for atom in target if isinstance(atom, Ref)), "", node)


def result(held: Value, name: str, given: Arguments) -> Value | None:
    """What a method of a known text, container or file gives; None when `held` is none of these."""
    if not held:
        return EMPTY
    found: list[Value] = []
    for atom in held:
        match atom:
            case Const(value=str() | bytes()) | Text() if name == "join":
                found.append(joined(elements(given.at(0) or EMPTY)))
            case Const(value=str()) | Text() if name in ("format", "format_map"):
                found.append(filled(frozenset({atom})))
            case Const() | Text():
                found.append(changed_text(atom, name))
            case Box():
                found.append(_of_box(atom, name, given))
            case File():
                found.append(_of_file(atom, name, given))
            case _:
                return None
    return union(found)


def _of_box(atom: Box, name: str, given: Arguments) -> Value:
    inside = contents(atom)
    match name:
        case "get" | "pop" | "setdefault" | "__getitem__":
            index = given.at(0)
            if index is None:
                return inside or ANYTHING
            found = derived.item_of(atom, index)
            return union([found, given.at(1) or (known(None) if name == "get" and not atom.items else EMPTY)])
        case "values" | "__iter__":
            return listed(inside)
        case "copy":
            return frozenset({atom})
        case "items":
            keys = frozenset(Const(key) for key, _ in atom.items) | (ANYTHING if atom.rest else EMPTY)
            return listed(frozenset({Box(((0, keys), (1, inside)), EMPTY, mapping=False)}))
        case "keys":
            return listed(elements(frozenset({atom})))
        case "popleft" | "popitem":
            return inside or ANYTHING
        case _:
            return ANYTHING


def _of_file(file: File, name: str, given: Arguments) -> Value:
    start: Value = frozenset({file})
    if file.text:
        kept = {"strip": start, "rstrip": start, "encode": start}
        return kept.get(name, OUTSIDE if name in ("replace", "join", "split", "removesuffix") else ANYTHING)
    if name == "joinpath":
        return below(start, given.given)
    if name == "as_uri":
        return frozenset({Text("file://")})
    if file.depth < 0:
        return OUTSIDE if _SAME_FILE.fullmatch(name) or name in ("with_name", "iterdir", "glob", "rglob") else ANYTHING
    if name == "with_name":
        return below(frozenset({File(max(file.depth - 1, 0))}), given.given)
    if name in ("iterdir", "glob", "rglob", "walk"):
        return listed(frozenset({File(file.depth + 1)}))
    return start if _SAME_FILE.fullmatch(name) or name == "__enter__" else ANYTHING


def mutate(reading: Reading, func: ast.Attribute, given: Arguments, scope: Scope) -> None:
    """Let the container that a method changes have more in it."""
    match func.attr:
        case "append" | "add" | "appendleft" | "insert":
            more = given.given[-1] if given.given else EMPTY
        case "extend" | "update" | "extendleft":
            more = union([contents(atom) for part in given.every() for atom in part if isinstance(atom, Box)])
            more = union([more, *(elements(part) for part in given.given)])
        case "setdefault":
            more = given.at(1) or EMPTY
        case _:
            return
    if more:
        targets.grow(reading, func.value, Box((), more, mapping=False), scope)
