"""What methods do and give, by what they are called on: texts, containers, files, or anything at all."""

from __future__ import annotations

import ast

from runtime.guard import derived, files, judging, targets
from runtime.guard.arguments import Arguments
from runtime.guard.embedded import format_reach, query_reach, sql_reach, template_reach
from runtime.guard.filecalls import PATH_READS
from runtime.guard.folding import fold_method
from runtime.guard.paths import below, filled
from runtime.guard.places import outside_files
from runtime.guard.reading import Reading
from runtime.guard.scopes import Scope
from runtime.guard.values import (
    ANYTHING,
    DECODED,
    EMPTY,
    JOINED,
    OUTSIDE,
    Box,
    Const,
    File,
    Made,
    Ref,
    Text,
    Unknown,
    Value,
    contents,
    elements,
    known,
    shallow,
    strings,
    union,
)

_FORMATS = frozenset(["format", "format_map", "vformat", "get_field"])
_QUERIES = frozenset(["query", "eval"])
_SQL = frozenset(["execute", "executescript", "executemany", "sql", "query", "run_sql"])
_TEMPLATES = frozenset(["from_string", "render_template_string", "Template"])
_UNPACKING = frozenset(["decode", "translate", "fromhex", "swapcase"])
_SAME_FILE = frozenset(
    [
        "resolve",
        "absolute",
        "expanduser",
        "with_suffix",
        "with_name",
        "with_stem",
        "relative_to",
        "as_posix",
        "__enter__",
        "open",
        "__str__",
        "__fspath__",
        "fileno",
        "rename",
        "replace",
        "strip",
        "rstrip",
        "lstrip",
    ]
)


def judge(reading: Reading, held: Value, name: str, given: Arguments, node: ast.Call) -> None:
    """Judge a method call by its name and arguments."""
    files.method(reading, held, name, given, node)
    own = any(isinstance(atom, Made) for atom in held) and name in reading.attributes
    if name in _FORMATS:
        _judge_format(reading, held, given, node)
    texts = [text for value in list(given.every())[:2] for text in strings(value)]
    texts += [atom.head for value in given.given[:1] for atom in value if isinstance(atom, Text)]
    if name in _QUERIES and any(query_reach(text) for text in texts):
        reading.report("dynamic_code", node, f"A `.{name}` that reaches beyond columns")
    if name in _SQL and any(sql_reach(text) for text in texts):
        reading.report("files", node, f"A statement in `.{name}`")
    if name in _TEMPLATES and any(template_reach(text) for text in texts):
        reading.report("dynamic_code", node, "A template that reaches into Python")
    if name == "variables" and given.given and not own and "variables" not in reading.stored:
        reading.report("secrets", node, "`self.variables`")
    if name in ("__setattr__", "__delattr__"):
        outer = frozenset(atom for atom in held if isinstance(atom, Ref) and not atom.path.startswith("@"))
        judging.changed(reading, outer, "", given.at(1) or EMPTY, node)
    if name == "load_verify_locations":
        _judge_certificates(reading, given, node)
    if name == "addHandler":
        _judge_logger(reading, held, node)


def _judge_format(reading: Reading, held: Value, given: Arguments, node: ast.AST) -> None:
    templates = strings(held) + [text for value in given.given[:1] for text in strings(value)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get_field":
        templates = [f"{{{text}}}" for text in templates]
    for text in templates:
        reached = format_reach(text)
        if reached is not None:
            reading.report("escape", node, f"A format template that reads `{reached}`")
    for atom in held:
        if isinstance(atom, Text) and (atom.decoded or format_reach(atom.head) or format_reach(atom.tail)):
            reading.report("escape", node, "A format template that is unpacked or joined at run time")


def _judge_certificates(reading: Reading, given: Arguments, node: ast.AST) -> None:
    for value in (given.at(0, "cafile"), given.at(1, "capath")):
        if value is not None and outside_files(value, "absent"):
            reading.report("files", node, "`.load_verify_locations` of a path")


def _judge_logger(reading: Reading, held: Value, node: ast.AST) -> None:
    if any(isinstance(atom, Ref) and atom.path.startswith("logging.root") for atom in held):
        reading.report("tampering", node, "A handler for everyone's log")


def result(reading: Reading, held: Value, name: str, given: Arguments, node: ast.AST) -> Value | None:
    """What a method of a known text, container or file gives; None when `held` is none of these."""
    if not held:
        return EMPTY
    found: list[Value] = []
    for atom in held:
        match atom:
            case Const():
                found.append(_of_constant(atom, name, given))
            case Text():
                found.append(_of_text(atom, name, given))
            case Box():
                found.append(_of_box(atom, name, given))
            case File(depth):
                found.append(_of_file(depth, name, given))
            case Unknown("plain") if name == "decode":
                found.append(DECODED)
            case Unknown("table") if name in ("get", "pop", "__getitem__"):
                index = given.at(0) or EMPTY
                judging.key(reading, held, index, node)
                found.append(derived.item(reading, frozenset({atom}), index))
            case Ref(path) if path == "pathlib.Path" and name in PATH_READS:
                found.append(ANYTHING)
            case _:
                return None
    return union(found)


def _of_constant(atom: Const, name: str, given: Arguments) -> Value:
    folded = None
    if not given.named and not given.more:
        folded = fold_method(atom.value, name, given.given)
    if folded is not None:
        return folded
    if any(not part for part in given.given):
        return EMPTY
    if name in _FORMATS:
        return filled(frozenset({atom}))
    if name == "join":
        return _joined(given)
    if name in _UNPACKING:
        return DECODED
    if isinstance(atom.value, str | bytes):
        first = given.at(0) or EMPTY
        unpacked = any(isinstance(part, Text) and part.decoded for part in first)
        return DECODED if unpacked else ANYTHING
    return ANYTHING


def _joined(given: Arguments) -> Value:
    parts = elements(given.at(0) or EMPTY)
    if not parts:
        return EMPTY
    files_in = [atom for atom in parts if isinstance(atom, File)]
    if files_in:
        return OUTSIDE if any(atom.depth < 0 for atom in files_in) else frozenset(files_in)
    return DECODED if any(isinstance(atom, Text) and atom.decoded for atom in parts) else JOINED


def _of_text(atom: Text, name: str, given: Arguments) -> Value:
    if name == "join":
        return _joined(given)
    if name in _FORMATS:
        return filled(frozenset({atom}))
    if name in ("split", "rsplit", "splitlines", "partition", "rpartition"):
        return frozenset({Box((), frozenset({Text("", "", decoded=atom.decoded)}), mapping=False)})
    if name in ("startswith", "endswith", "find", "index", "count", "isdigit", "isalpha", "isidentifier"):
        return ANYTHING
    if name in ("strip", "rstrip", "lstrip", "lower", "upper", "encode", "replace", "title", "casefold"):
        kept = name in ("rstrip", "encode", "lower")
        return frozenset({Text(atom.head if kept else "", "", decoded=atom.decoded)})
    return DECODED if name in _UNPACKING or atom.decoded else ANYTHING


def _of_box(atom: Box, name: str, given: Arguments) -> Value:
    inside = contents(atom)
    match name:
        case "get" | "pop" | "setdefault" | "__getitem__":
            index = given.at(0)
            if index is None:
                return inside or ANYTHING
            found = derived.item_of(atom, index)
            return union([found, given.at(1) or (known(None) if name == "get" and not atom.items else EMPTY)])
        case "values" | "copy" | "__iter__":
            return frozenset({shallow(Box((), inside, mapping=False))}) if name != "copy" else frozenset({atom})
        case "items":
            keys = frozenset(Const(key) for key, _ in atom.items) | (ANYTHING if atom.rest else EMPTY)
            pair = Box(((0, keys), (1, inside)), EMPTY, mapping=False)
            return frozenset({shallow(Box((), frozenset({pair}), mapping=False))})
        case "keys":
            return frozenset({shallow(Box((), elements(frozenset({atom})), mapping=False))})
        case "popleft" | "popitem":
            return inside or ANYTHING
        case _:
            return ANYTHING


def _of_file(depth: int, name: str, given: Arguments) -> Value:
    if depth < 0:
        if name in ("joinpath", *_SAME_FILE):
            return OUTSIDE
        return frozenset({Text("file://", "", decoded=False)}) if name == "as_uri" else ANYTHING
    start: Value = frozenset({File(depth)})
    if name == "joinpath":
        return below(start, given.given)
    if name in ("with_name", "relative_to", "expanduser"):
        return below(frozenset({File(max(depth - 1, 0))}), given.given) if name == "with_name" else start
    if name in ("iterdir", "glob", "rglob", "walk"):
        return frozenset({Box((), frozenset({File(depth + 1)}), mapping=False)})
    if name in _SAME_FILE:
        return start
    if name in ("split", "rsplit", "partition"):
        return OUTSIDE
    if name == "as_uri":
        return frozenset({Text("file://", "", decoded=False)})
    return ANYTHING


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
