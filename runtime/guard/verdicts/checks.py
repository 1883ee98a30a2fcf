"""Functions that find, make or call other things by name or by value, each judged in its own way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType

from runtime.guard.interpreter import derived, hints
from runtime.guard.interpreter.arguments import Arguments
from runtime.guard.interpreter.reading import Reading
from runtime.guard.interpreter.scopes import Scope
from runtime.guard.interpreter.texts import as_path, below
from runtime.guard.interpreter.values import (
    ANYTHING,
    EMPTY,
    PICKED,
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
    every,
    known,
    listed,
    outside,
    parts_of,
    shallow,
    strings,
    union,
)
from runtime.guard.ruleset import canonical
from runtime.guard.verdicts import files, judging
from runtime.guard.verdicts.embedded import is_local_database, template_reach
from runtime.guard.verdicts.running import steps_into_run

Check = Callable[[Reading, str, Arguments, ast.Call, Scope], Value]


def _getattr(reading: Reading, _: str, given: Arguments, node: ast.Call, __: Scope) -> Value:
    held, name = given.at(0), given.at(1)
    if not held or not name:
        return EMPTY
    fallback = given.at(2) or EMPTY
    if not judging.by_name(reading, held, name, node, "`getattr`"):
        return (ANYTHING if all(isinstance(atom, Text | Const) for atom in name) else PICKED) | fallback
    found: list[Value] = [fallback]
    for one in strings(name):
        special = judging.taken(reading, held, one, node)
        found.append(derived.attribute(reading, held, one) if special is None else special)
    if any(atom == Unknown("asked") for atom in name):
        found.append(ANYTHING)
    return union(found)


def _setattr(reading: Reading, _: str, given: Arguments, node: ast.Call, __: Scope) -> Value:
    held, name, value = given.at(0) or EMPTY, given.at(1) or EMPTY, given.at(2) or EMPTY
    fixed = constants(name) is not None
    if not fixed and not all(isinstance(atom, Made) for atom in held) and name != frozenset({Unknown("asked")}):
        reading.report("escape", node, "`setattr` with a name made at run time", judging.ESCAPE_FIX)
    for one in strings(name) if fixed else [""]:
        judging.changed(reading, held, one, node)
    for one in strings(name) if fixed else [*reading.stored, *reading.file_fields]:
        reading.store(one, value)
    return known(None)


def _delattr(reading: Reading, _: str, given: Arguments, node: ast.Call, __: Scope) -> Value:
    judging.changed(reading, given.at(0) or EMPTY, "", node)
    return known(None)


def _vars(reading: Reading, _: str, given: Arguments, node: ast.Call, __: Scope) -> Value:
    held = given.at(0)
    if held is None or not judging.plain_instances(reading, held):
        reading.report("escape", node, "The attribute table of something else", "Name the attributes one by one.")
    return derived.attribute(reading, held or EMPTY, "__dict__")


def _locals(reading: Reading, _: str, __: Arguments, node: ast.Call, scope: Scope) -> Value:
    if scope.kind != "function":
        reading.report("escape", node, "`locals()` outside of a function")
    return frozenset({Box(tuple(scope.values.items()), EMPTY, mapping=True)})


def _dir(_: Reading, __: str, ___: Arguments, ____: ast.Call, _____: Scope) -> Value:
    return listed(ANYTHING)


def _type(reading: Reading, _: str, given: Arguments, node: ast.Call, __: Scope) -> Value:
    if len(given.given) > 1:
        bases = every(given.given[1])
        if any(isinstance(atom, Ref | Unknown) and atom not in (Ref("@object"), Ref("@Exception")) for atom in bases):
            reading.report("dynamic_code", node, "A class of outside classes that is made at run time", "Write it out.")
        return ANYTHING
    found: list[Value] = []
    for atom in given.at(0) or EMPTY:
        match atom:
            case Ref(path) if path.endswith("()"):
                found.append(outside(path.removesuffix("()")))
            case Made(number):
                found.append(frozenset({Local(number)}))
            case File():
                found.append(outside("pathlib.Path"))
            case Const(value=value):
                found.append(outside(f"@{type(value).__name__}") if value is not None else ANYTHING)
            case Local() | Ref() if not (isinstance(atom, Ref) and atom.is_instance):
                found.append(outside("types.FunctionType"))
            case _:
                found.append(ANYTHING)
    return union(found)


def _path(_: Reading, __: str, given: Arguments, ___: ast.Call, ____: Scope) -> Value:
    return as_path([*given.given, *([given.more] if given.more else [])])


def _join(_: Reading, __: str, given: Arguments, ___: ast.Call, ____: Scope) -> Value:
    parts = [*given.given, *([given.more] if given.more else [])]
    if not all(parts):
        return EMPTY
    if not any(isinstance(atom, File) for part in parts for atom in part):
        return ANYTHING
    found = below(parts[0], parts[1:])
    return frozenset(File(atom.depth, text=True) if isinstance(atom, File) else atom for atom in found)


def _import(reading: Reading, _: str, given: Arguments, node: ast.Call, __: Scope) -> Value:
    name = given.at(0, "name") or EMPTY
    names = strings(name)
    if not name or len(names) < len(name):
        reading.report("dynamic_code", node, "Importing a module whose name is made at run time")
        return ANYTHING
    for one in names:
        rule = reading.rules.refusal(canonical(one))
        if rule is not None:
            reading.report(rule, node, f"Importing `{one}`", reading.rules.fix(canonical(one)))
    return frozenset(Ref(canonical(one)) for one in names)


def _attrgetter(reading: Reading, path: str, given: Arguments, node: ast.Call, _: Scope) -> Value:
    for value in given.every():
        if constants(value) is None:
            reading.report("escape", node, "`attrgetter` with a name made at run time", judging.ESCAPE_FIX)
        for text in strings(value):
            if steps_into_run(text):
                reading.report("secrets", node, f"`attrgetter` with {text}")
            for part in text.split("."):
                judging.attribute(reading, ANYTHING, part, node)
                if part in reading.rules.methods or part.startswith("_"):
                    reading.report("escape", node, f"`attrgetter` with {part}")
    return outside(f"{path}()")


def _methodcaller(reading: Reading, path: str, given: Arguments, node: ast.Call, _: Scope) -> Value:
    name = given.at(0) or EMPTY
    if not name or constants(name) is None:
        reading.report("escape", node, "`methodcaller` with a name made at run time", judging.ESCAPE_FIX)
    for text in strings(name):
        judging.attribute(reading, ANYTHING, text, node)
        if text in reading.rules.methods or text.startswith("_"):
            reading.report("escape", node, f"`methodcaller` with {text}", f"Write lambda value: value.{text}(...).")
    return outside(f"{path}()")


def _getitem(reading: Reading, _: str, given: Arguments, node: ast.Call, __: Scope) -> Value:
    held, index = given.at(0) or EMPTY, given.at(1) or EMPTY
    judging.key(reading, held, index, node)
    if any(isinstance(atom, Ref) and not atom.is_instance for atom in held):
        reading.report("escape", node, "`getitem` of a class")
    return derived.item(held, index)


def _itemgetter(reading: Reading, path: str, given: Arguments, node: ast.Call, _: Scope) -> Value:
    for value in given.every():
        judging.key(reading, EMPTY, value, node)
    return outside(f"{path}()")


def _partial(_: Reading, __: str, given: Arguments, ___: ast.Call, ____: Scope) -> Value:
    return given.at(0) or EMPTY


def _map(reading: Reading, _: str, given: Arguments, __: ast.Call, ___: Scope) -> Value:
    found = [
        reading.given_by(reading.definitions[atom.number]) if isinstance(atom, Local) else ANYTHING
        for atom in given.at(0) or EMPTY
    ]
    return listed(union(found))


def _dict(_: Reading, __: str, given: Arguments, ___: ast.Call, ____: Scope) -> Value:
    rest = [contents(atom) for part in given.given for atom in part if isinstance(atom, Box)]
    rest += [ANYTHING for part in given.given if not all(isinstance(atom, Box) for atom in part)]
    return frozenset({shallow(Box(tuple(given.named.items()), union(rest), mapping=True))})


def _super(_: Reading, __: str, given: Arguments, ___: ast.Call, ____: Scope) -> Value:
    return frozenset(atom for atom in given.at(1) or EMPTY if isinstance(atom, Ref)) or ANYTHING


def _address(_: Reading, __: str, given: Arguments, ___: ast.Call, ____: Scope) -> Value:
    """An address put together from its parts begins with the first of them."""
    schemes = derived.item(given.at(0) or EMPTY, known(0))
    return frozenset(Text(f"{one}:" if one else "") for one in strings(schemes) or [""])


def _namespace(reading: Reading, _: str, given: Arguments, __: ast.Call, ___: Scope) -> Value:
    for name, value in given.named.items():
        reading.store(name, value | ANYTHING)
    return ANYTHING


def _types(reading: Reading, path: str, given: Arguments, node: ast.Call, scope: Scope) -> Value:
    """Types that are passed as text, alone or before a default, are evaluated: each must be certain to be a type."""
    model = "create_model" in path
    values = [value for name, value in given.named.items() if not (model and name.startswith("__"))]
    values += given.given[1:] if model or "TypeAdapter" not in path else given.given
    for atom in {atom for value in [*values, given.more] for atom in value}:
        match atom:
            case Const(value=whole):
                for text in parts_of(whole) or (whole,):
                    if isinstance(text, str):
                        hints.quoted(reading, text, node, scope)
            case Box():
                first = derived.item_of(atom, known(0)) if model and not atom.rest else contents(atom)
                _certain(reading, path, first, node, scope)
            case _:
                _certain(reading, path, frozenset({atom}), node, scope)
    return ANYTHING


def _certain(reading: Reading, path: str, value: Value, node: ast.Call, scope: Scope) -> None:
    for atom in every(value):
        if isinstance(atom, Const) and isinstance(atom.value, str):
            hints.quoted(reading, atom.value, node, scope)
        elif isinstance(atom, Text | Unknown) or (isinstance(atom, Ref) and "json" in atom.path):
            fix = "Name the type, or write the model out as a class."
            reading.report("dynamic_code", node, f"{judging.shown(path)} with a type that is not certain", fix)


def _wraps(reading: Reading, path: str, given: Arguments, node: ast.Call, _: Scope) -> Value:
    if given.named.keys() - {"wrapped"} or given.more or len(given.given) > (1 if path.endswith("wraps") else 2):
        reading.report("escape", node, f"{judging.shown(path)} of attributes by name")
    return ANYTHING


def _memfile(_: Reading, __: str, ___: Arguments, ____: ast.Call, _____: Scope) -> Value:
    return outside("io.BytesIO()")


def _temp(reading: Reading, path: str, given: Arguments, node: ast.Call, _: Scope) -> Value:
    return files.made_temporary(reading, path.partition(".")[2], given, node)


def _pathfn(_: Reading, path: str, given: Arguments, __: ast.Call, ___: Scope) -> Value:
    return files.path_function(path.rpartition(".")[2], given)


def _archive(reading: Reading, path: str, given: Arguments, node: ast.Call, _: Scope) -> Value:
    if files.reaches("path", given, (0, 2, 3)):
        reading.report("files", node, judging.shown(path))
        return ANYTHING
    return frozenset({File(1, text=True)})


def _folder(_: Reading, __: str, ___: Arguments, ____: ast.Call, _____: Scope) -> Value:
    return frozenset({File(1, text=True)})


def _yaml(reading: Reading, path: str, given: Arguments, node: ast.Call, _: Scope) -> Value:
    loader = given.at(1, "Loader") or EMPTY
    safe = ("yaml.SafeLoader", "yaml.CSafeLoader", "yaml.BaseLoader")
    if not loader or not all(
        (isinstance(atom, Ref) and atom.path in safe) or isinstance(atom, Local) for atom in loader
    ):
        reading.report("deserialiser", node, f"`{path}` without a safe loader")
    return ANYTHING


def _request(reading: Reading, path: str, given: Arguments, node: ast.Call, _: Scope) -> Value:
    files.addresses(reading, given.at(0, "url", "fullurl"), node)
    return outside(f"{path}()")


def _feed(reading: Reading, path: str, given: Arguments, node: ast.Call, _: Scope) -> Value:
    for text in strings(given.at(0) or EMPTY):
        if not text.lstrip().startswith(("http://", "https://", "<")):
            reading.report("files", node, f"{judging.shown(path)} of a file")
    return ANYTHING


def _jinja(reading: Reading, path: str, given: Arguments, node: ast.Call, _: Scope) -> Value:
    judge_template(reading, given, node)
    return outside(f"{path}()")


def judge_template(reading: Reading, given: Arguments, node: ast.AST) -> None:
    """Judge a Jinja template outside of a sandbox: it executes what it says, so its text stands in the source."""
    texts = given.at(0, "source", "mapping") or EMPTY
    texts = union([contents(atom) if isinstance(atom, Box) else frozenset({atom}) for atom in texts])
    if any(template_reach(one) for one in strings(texts)):
        reading.report("dynamic_code", node, "A template that reaches into Python")
    elif constants(texts) is None:
        fix = "Use jinja2.sandbox.SandboxedEnvironment, or write the template out."
        reading.report("dynamic_code", node, "A Jinja template that is not written out in the source", fix)


def _entities(reading: Reading, path: str, given: Arguments, node: ast.Call, _: Scope) -> Value:
    for name in ("resolve_entities", "load_dtd", "dtd_validation", "attribute_defaults"):
        value = given.named.get(name)
        if value is not None and not all(atom in (Const(value=False), Const("internal")) for atom in value):
            reading.report("files", node, f"An XML parser with `{name}`")
    return outside(f"{path}()")


def _cafile(reading: Reading, path: str, given: Arguments, node: ast.Call, _: Scope) -> Value:
    for value in (given.at(1, "cafile"), given.at(2, "capath")):
        if value is not None and files.outside_files(value, "optional"):
            reading.report("files", node, f"{judging.shown(path)} with a path of this machine")
    return outside(f"{path}()")


def _logfile(reading: Reading, _: str, given: Arguments, node: ast.Call, __: Scope) -> Value:
    if (value := given.named.get("filename")) is not None and files.outside_files(value, "optional"):
        reading.report("files", node, "A log in a file")
    return known(None)


def _dburl(reading: Reading, path: str, given: Arguments, node: ast.Call, _: Scope) -> Value:
    for value in (given.at(0, "url", "database_uri"), given.named.get("creator")):
        for atom in value or EMPTY:
            text = atom.value if isinstance(atom, Const) else atom.head if isinstance(atom, Text) else None
            if (isinstance(text, str) and is_local_database(text)) or (isinstance(atom, File) and atom.depth < 0):
                reading.report("files", node, f"{judging.shown(path)} with a path of this machine")
    return outside(f"{path}()")


def _transport(reading: Reading, path: str, given: Arguments, node: ast.Call, _: Scope) -> Value:
    if "uds" in given.named:
        reading.report("sockets", node, "A Unix socket")
    return outside(f"{path}()")


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "getattr": _getattr,
        "setattr": _setattr,
        "delattr": _delattr,
        "vars": _vars,
        "locals": _locals,
        "dir": _dir,
        "type": _type,
        "map": _map,
        "dict": _dict,
        "super": _super,
        "pathlib": _path,
        "join": _join,
        "import": _import,
        "attrgetter": _attrgetter,
        "methodcaller": _methodcaller,
        "getitem": _getitem,
        "itemgetter": _itemgetter,
        "partial": _partial,
        "address": _address,
        "namespace": _namespace,
        "types": _types,
        "wraps": _wraps,
        "memfile": _memfile,
        "temp": _temp,
        "pathfn": _pathfn,
        "archive": _archive,
        "folder": _folder,
        "yaml": _yaml,
        "request": _request,
        "feed": _feed,
        "jinja": _jinja,
        "entities": _entities,
        "cafile": _cafile,
        "logfile": _logfile,
        "dburl": _dburl,
        "transport": _transport,
    }
)
"""Each check of a public name: it judges a call, and tells what the call gives."""
FILE_CHECKS = frozenset({"path", "paths", "open", "bufopen", "buffer", "url", "optional", "memory"})
"""Checks of what names files."""
