"""Judges calls that reach files: what names them must come from a temporary folder or a file field."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from runtime.guard.interpreter.arguments import Arguments
from runtime.guard.interpreter.reading import Reading
from runtime.guard.interpreter.texts import parent_of
from runtime.guard.interpreter.values import (
    ANYTHING,
    OUTSIDE,
    Atom,
    Box,
    Const,
    File,
    Ref,
    Text,
    Unknown,
    Value,
    contents,
    elements,
    outside,
    strings,
)
from runtime.guard.verdicts import judging
from runtime.guard.verdicts.embedded import is_local_path

_NAMES = re.compile(
    r"(?:file|path|file_?name|filenames|name|f|fp|fd|src|dst|fname|top|pathname|database|dir_fd|root|io|source|stream|buf|"
    r"fid|filepath_or_buffer|path_or_buf|path_or_buffer|fileobj|clone_from|base_name|excel_writer|filepath|outfile|"
    r"root_dir|base_dir|extract_dir|save_path)"
)
"""Keywords that name a file, whatever is called."""
_BUFFERS = ("io.BytesIO()", "io.StringIO()", "io.TextIOWrapper()", "io.BufferedReader()")
_MAY_BE_ABSENT = ("optional", "mayput", "memory", "folder")
_HTTP = ("http://", "https://")
_MOVES = ("rename", "replace", "copy", "move")


def called(reading: Reading, path: str, check: str, given: Arguments, node: ast.AST) -> Value:
    """Judge a call of a function that takes files; what it gives."""
    opens = check in ("open", "bufopen")
    source = {"open": "path", "bufopen": "buffer", "paths": "path"}.get(check, check)
    bad = reaches(source, given, (0, 1) if check == "paths" else (0,))
    if bad:
        reading.report(
            "files",
            node,
            judging.shown(path),
            "Give it a literal http(s) address or io.BytesIO(...)." if check == "url" else None,
        )
    if not all(given.every()):
        return frozenset()
    if opens or check == "paths":
        return OUTSIDE if bad else frozenset({File(1)})
    return ANYTHING if path.startswith("os.") else outside(f"{path}()")


def reaches(source: str, given: Arguments, positions: Sequence[int] = (0,)) -> bool:
    """Whether a call may reach a file outside the temporary folder; `source` is what else may be passed."""
    found = [value for place in positions if (value := given.at(place)) is not None]
    found += [value for name, value in given.named.items() if _NAMES.fullmatch(name)]
    if not found:
        return source not in _MAY_BE_ABSENT
    return any(outside_files(value, source) for value in found)


def outside_files(value: Value, source: str) -> bool:
    """Whether what should name a file may name one outside the temporary folder."""
    return not value or any(_outside(atom, source) for atom in value)


def _outside(atom: Atom, source: str) -> bool:
    if isinstance(atom, File):
        return atom.depth < 0
    if source == "path":
        return True
    match atom:
        case Const(value=str() as text):
            return _text_outside(text, source)
        case Const(value=None):
            return source not in _MAY_BE_ABSENT
        case Const(value=value):
            return source == "folder" and isinstance(value, bytes)
        case Text(head):
            return "/" in head or "." in head if source == "mayput" else _text_outside(head, source)
        case Ref(path):
            buffer = path in _BUFFERS or (path.endswith(")") and not path.startswith("lfx."))
            return source in ("memory", "folder") or not buffer
        case Box():
            return outside_files(contents(atom), source)
        case _:
            return source != "mayput"


def _text_outside(text: str, source: str) -> bool:
    match source:
        case "memory":
            in_memory = text.startswith("file:") and ("mode=memory" in text or text.startswith("file::memory:"))
            return text not in ("", ":memory:") and not in_memory
        case "mayput":
            return "/" in text or "." in text[1:]
        case _:
            return source != "url" or not text.lower().startswith(_HTTP)


def path_method(reading: Reading, held: Value, name: str, check: str, given: Arguments, node: ast.AST) -> None:
    """Judge a method that paths have: of a path outside, or of what may be one."""
    for atom in held:
        match atom:
            case File(depth, text):
                moved = name in _MOVES and not text and any(_leaves(value) for value in given.every())
                climbs = name in ("glob", "rglob") and any(".." in one for one in strings(given.at(0) or frozenset()))
                if (depth < 0 and not text) or moved or climbs:
                    reading.report("files", node, f"`.{name}` of a path")
            case Ref(path) if path.startswith("urllib.request."):
                addresses(reading, given.at(0, "fullurl"), node)
            case Ref("pathlib.Path"):
                first = given.at(0)
                if first is None or outside_files(first, "path"):
                    reading.report("files", node, f"`Path.{name}`")
            case Ref(path) if check == "pathread" and path.startswith(("pathlib.", "importlib.")):
                reading.report("files", node, f"`.{name}`")
            case Unknown("plain") | Text() if check == "pathread":
                reading.report("files", node, f"`.{name}` of what may be a path")
            case Unknown("plain") if check == "pathopen":
                reading.report("files", node, "`.open` of what may be a path")
            case _:
                pass


def _leaves(value: Value) -> bool:
    return any(not isinstance(atom, File) or atom.depth < 0 for atom in value)


def writes(reading: Reading, name: str, source: str, given: Arguments, node: ast.AST) -> None:
    """Judge a method that writes a file when it is given a path, whatever it is called on."""
    if reaches(source, given):
        reading.report("files", node, f"`.{name}`")


def extracts(reading: Reading, held: Value, name: str, given: Arguments, node: ast.AST) -> None:
    """Judge a method that unpacks an archive."""
    archives = any(isinstance(atom, Ref) and atom.path.startswith(("zipfile.", "tarfile.")) for atom in held)
    if name == "extract" and not archives:
        return
    path = given.at(1 if name == "extract" else 0, "path", "extract_dir")
    if path is None or outside_files(path, "folder"):
        reading.report("files", node, f"`.{name}` without a temporary folder")


def certificates(reading: Reading, name: str, value: Value | None, node: ast.AST) -> None:
    """Judge what names certificates."""
    texts = [*strings(value), *strings(elements(value))] if value else []
    if any(is_local_path(text) for text in texts):
        reading.report("files", node, f"`{name}` with a path of this machine")


def addresses(reading: Reading, value: Value | None, node: ast.AST) -> None:
    """Judge the address of a request: it begins with http(s), or comes whole from elsewhere."""
    for atom in value or frozenset():
        match atom:
            case Const(value=str() as text):
                bad = not text.strip().lower().startswith(_HTTP)
            case Text(head):
                start = head.strip().lower()[:8]
                bad = not any(start.startswith(one) or one.startswith(start) for one in _HTTP)
            case File():
                bad = True
            case _:
                bad = False
        if bad:
            reading.report("files", node, "An address that is not http(s)")


def made_temporary(reading: Reading, name: str, given: Arguments, node: ast.AST) -> Value:
    """Judge a call of `tempfile`; what it gives."""
    place = {"TemporaryDirectory": 2, "mkdtemp": 2, "mkstemp": 2}.get(name, 7)
    folder = given.at(place, "dir")
    if folder is not None and outside_files(folder, "optional"):
        reading.report("files", node, f"`tempfile.{name}` with another `dir`")
        return OUTSIDE
    for value in (given.named.get("prefix"), given.named.get("suffix"), *given.given[:2]):
        if any("/" in text or ".." in text for text in strings(value or frozenset())):
            reading.report("files", node, f"`tempfile.{name}` with a path in its prefix or suffix")
    if name == "mkstemp":
        file: Value = frozenset({File(1, text=True)})
        return frozenset({Box(((0, file), (1, file)), frozenset(), mapping=False)})
    if name in ("TemporaryDirectory", "mkdtemp", "gettempdir"):
        return frozenset({File(0, text=True)})
    return frozenset({File(1)}) if name != "SpooledTemporaryFile" else outside("io.BytesIO()")


def path_function(name: str, given: Arguments) -> Value:
    """What a function of `os` or `os.path` that only computes with a path gives."""
    first = given.at(0) or frozenset()
    if not first:
        return first
    files = frozenset(File(atom.depth, text=True) for atom in first if isinstance(atom, File))
    if not files:
        return ANYTHING
    match name:
        case "dirname":
            return frozenset(parent_of(atom) for atom in files)
        case "splitext" | "split" | "splitdrive":
            return frozenset({Box((), frozenset(files) | ANYTHING, mapping=False)})
        case "basename":
            return ANYTHING
        case _:
            return frozenset(files)
