"""Judges calls that reach files: what names them must come from a temporary folder or a file field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from runtime.guard.interpreter.arguments import Arguments, Call
from runtime.guard.interpreter.texts import is_step
from runtime.guard.origins import is_anything
from runtime.guard.sets import contents, elements, one, outside, strings
from runtime.guard.values import (
    ANYTHING,
    EMPTY,
    OUTSIDE,
    STEP,
    Atom,
    Box,
    Const,
    File,
    Local,
    Ref,
    Text,
    Unknown,
    Value,
)
from runtime.guard.verdicts import judging

CHECKS = frozenset({"path", "paths", "open", "bufopen", "buffer", "url", "optional", "memory"})
"""Checks of what names files."""
_NAMES = re.compile(
    r"(?:file|path|file_?name|filenames|name|f|fp|fd|src|dst|fname|top|pathname|database|dir_fd|root|io|source|stream|buf|"
    r"fid|filepath_or_buffer|path_or_buf|path_or_buffer|fileobj|clone_from|base_name|excel_writer|filepath|outfile|"
    r"stylesheet|root_dir|base_dir|extract_dir|save_path)"
)
"""Keywords that name a file, whatever is called."""
_BUFFERS = ("io.BytesIO()", "io.StringIO()", "io.TextIOWrapper()", "io.BufferedReader()")
_MAY_BE_ABSENT = ("optional", "mayput", "memory", "folder")
_HTTP = ("http://", "https://")
_MOVES = ("rename", "replace", "copy", "move")
_FOLLOWS = re.compile(
    r"listdir|scandir|f?walk|rmtree|copytree|move|make_archive|unpack_archive|renames?|replace|chmod|add|removedirs|"
    r"rmdir|i?glob|iterdir|rglob|extractall"
)
"""Calls that take a folder, so that a name that may be `..` leads out of where it is looked for."""


def called(call: Call, check: str) -> Value:
    """Judge a call of a function that takes files; what it gives."""
    source = {"open": "path", "bufopen": "buffer", "paths": "path"}.get(check, check)
    bad = reaches(source, call.given, (0, 1) if check == "paths" else (0,)) or climbs(call)
    if bad:
        fix = "Give it a literal http(s) address or io.BytesIO(...)." if check == "url" else None
        call.report("files", judging.source_path(call.path), fix)
    if not all(call.given.every()):
        return EMPTY
    if check in ("open", "bufopen", "paths"):
        return OUTSIDE if bad else one(File(1))
    return ANYTHING if call.path.startswith("os.") else outside(f"{call.path}()")


def reaches(source: str, given: Arguments, positions: Sequence[int] = (0,)) -> bool:
    """Whether a call may reach a file outside the temporary folder; `source` is what else may be passed."""
    found = [value for place in positions if (value := given.at(place)) is not None]
    found += [value for name, value in given.named.items() if _NAMES.fullmatch(name)]
    return any(outside_files(value, source) for value in found) if found else source not in _MAY_BE_ABSENT


def climbs(call: Call) -> bool:
    """Whether a call takes a folder under a name that may be `..`."""
    given = {atom for value in (*call.given.every(), call.held) for atom in value}
    follows = _FOLLOWS.fullmatch(call.path.rpartition(".")[2])
    return bool(follows) and any(isinstance(atom, File) and atom.last for atom in given)


def outside_files(value: Value, source: str) -> bool:
    """Whether what should name a file may name one outside the temporary folder."""
    return not value or any(_outside(atom, source) for atom in value)


def _outside(atom: Atom, source: str) -> bool:
    match atom:
        case File(depth):
            return depth < 0
        case _ if source == "path":
            return True
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
    if source == "memory":
        in_memory = text.startswith("file:") and ("mode=memory" in text or text.startswith("file::memory:"))
        return text not in ("", ":memory:") and not in_memory
    if source == "mayput":
        return "/" in text or "." in text[1:]
    return source != "url" or not text.lower().startswith(_HTTP)


def path_method(call: Call, check: str) -> None:
    """Judge a method that paths have: of a path outside, or of what may be one."""
    name = call.path
    for atom in call.held:
        match atom:
            case File(depth, text):
                leaves = any(_outside(part, "path") for value in call.given.every() for part in value)
                above = climbs(call) or (name in ("glob", "rglob") and not all(map(_is_pattern, call.at(0))))
                if (not text and (depth < 0 or (name in _MOVES and leaves))) or above:
                    call.report("files", f"`.{name}` of a path")
            case Ref(path) if path.startswith("urllib.request."):
                addresses(call, call.at(0, "fullurl"))
            case Ref("pathlib.Path"):
                if outside_files(call.at(0), "path"):
                    call.report("files", f"`Path.{name}`")
            case Ref(path) if check == "pathread" and path.startswith(("pathlib.", "importlib.")):
                call.report("files", f"`.{name}`")
            case Unknown("plain" | "step") | Text() if check == "pathread":
                call.report("files", f"`.{name}` of what may be a path")
            case Unknown("plain" | "step") if check == "pathopen":
                call.report("files", "`.open` of what may be a path")
            case Ref() | Unknown() if is_anything(atom) and _works_like_a_path(call, check):
                call.report("files", f"`.{name}` of what may be a path")
            case _:
                pass


def _works_like_a_path(call: Call, check: str) -> bool:
    """Whether a call is one that other things than paths do not have: a table is renamed with a dictionary."""
    if check != "pathmove":
        return check != "pathmay" or call.path in ("glob", "stat", "walk")
    given = call.given
    one_text = (
        len(given.given) == 1 and not given.named and not all(isinstance(atom, Box | Local) for atom in call.at(0))
    )
    return one_text or bool(given.more)


def _is_pattern(atom: Atom) -> bool:
    """Whether a pattern stays below the folder in which it is looked for."""
    match atom:
        case Const(value=str() as text):
            return ".." not in text
        case Text(head, step=True):
            return head[:1] not in ("", ".")
        case _:
            return False


def extracts(call: Call) -> None:
    """Judge a method that unpacks an archive."""
    makes = not call.reading.mentioned.isdisjoint(("zipfile", "tarfile"))
    archives = any(
        (isinstance(atom, Ref) and atom.path.startswith(("zipfile.", "tarfile."))) or (makes and is_anything(atom))
        for atom in call.held
    )
    if call.path == "extract" and not archives:
        return
    if climbs(call) or outside_files(call.at(1 if call.path == "extract" else 0, "path", "extract_dir"), "folder"):
        call.report("files", f"`.{call.path}` without a temporary folder")


def certificates(call: Call, name: str) -> None:
    """Judge what names certificates."""
    value = call.given.named.get(name, EMPTY)
    if any(isinstance(atom, Text) for atom in value) or [*strings(value), *strings(elements(value))]:
        call.report("files", f"`{name}` with a path of this machine")
    elif name == "cert" and any(isinstance(atom, Unknown) for atom in value):
        call.report("files", "`cert` with what may be a path of this machine")


def connection(call: Call, value: Value) -> None:
    """Judge what a table is read from or written to: the address of a database may name a file."""
    if any(isinstance(atom, Const | Text | Unknown) for atom in value):
        fix = "Pass what sqlalchemy.create_engine(...) or sqlite3.connect(':memory:') gives."
        call.report("files", f"{judging.source_path(call.path)} of a database by its address", fix)


def names_certificates(call: Call, first: int) -> bool:
    """Whether a call names files of certificates, the first of them at a position."""
    found = (call.given.at(first, "cafile"), call.given.at(first + 1, "capath"))
    return any(value is not None and outside_files(value, "optional") for value in found)


def machine_certificates(call: Call) -> Value:
    """Judge a function that reads certificates; what it gives."""
    if names_certificates(call, 1):
        call.report("files", f"{judging.source_path(call.path)} with a path of this machine")
    return outside(f"{call.path}()")


def addresses(call: Call, value: Value) -> None:
    """Judge the address that `urllib` opens, which may be a file: it begins with http(s) in the source."""
    for atom in value:
        match atom:
            case Const(value=str() as text):
                bad = not text.strip().lower().startswith(_HTTP)
            case Text(head):
                bad = not head.strip().lower().startswith(_HTTP)
            case Ref("urllib.request.Request()"):
                bad = False
            case _:
                bad = True
        if bad:
            fix = "Let the address begin with https:// in the source, or use httpx, which opens no files."
            call.report("files", "An address that is not certain to be http(s)", fix)


def archive(call: Call) -> Value:
    """Judge a function that writes an archive; what it gives."""
    if reaches("path", call.given, (0, 2, 3)):
        call.report("files", judging.source_path(call.path))
        return ANYTHING
    return one(File(1, text=True))


def made_temporary(call: Call) -> Value:
    """Judge a call of `tempfile`; what it gives."""
    name = call.path.partition(".")[2]
    folder = call.given.at(2 if name in ("TemporaryDirectory", "mkdtemp", "mkstemp") else 7, "dir")
    if folder is not None and outside_files(folder, "optional"):
        call.report("files", f"`tempfile.{name}` with another `dir`")
        return OUTSIDE
    first, last = (0, 2) if name in ("TemporaryDirectory", "mkdtemp", "mkstemp") else (5, 7)
    for value in (call.given.named.get("prefix"), call.given.named.get("suffix"), *call.given.given[first:last]):
        if not all(is_step(atom) or atom == Const(None) for atom in value or ()):
            call.report("files", f"`tempfile.{name}` with a path in its prefix or suffix")
    match name:
        case "mkstemp":
            file = one(File(1, text=True))
            return one(Box(((0, file), (1, file)), EMPTY))
        case "TemporaryDirectory" | "mkdtemp" | "gettempdir":
            return one(File(0, text=True))
        case _:
            return one(File(1)) if name != "SpooledTemporaryFile" else outside("io.BytesIO()")


def path_function(call: Call) -> Value:
    """What a function of `os` or `os.path` that only computes with a path gives."""
    first = call.at(0)
    files: Value = frozenset(replace(atom, text=True) for atom in first if isinstance(atom, File))
    match call.path.rpartition(".")[2]:
        case "basename":
            return STEP if first else EMPTY
        case "normpath" | "abspath" | "realpath" if files:
            return frozenset(atom.followed for atom in files if isinstance(atom, File))
        case "dirname" if files:
            return frozenset(atom.parent for atom in files if isinstance(atom, File))
        case "splitext" | "split" if first:
            return one(Box(((0, files or ANYTHING), (1, STEP)), EMPTY))
        case "splitdrive" if files:
            return one(Box((), files | ANYTHING))
        case _:
            return files or (ANYTHING if first else EMPTY)
