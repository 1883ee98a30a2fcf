"""Judges calls that reach files: what names them must come from a temporary folder."""

from __future__ import annotations

import ast
import re

from runtime.guard import judging
from runtime.guard.arguments import Arguments
from runtime.guard.filecalls import PATH_READS, TELLING, WRITERS, FileCall
from runtime.guard.paths import parent_of
from runtime.guard.places import outside_files
from runtime.guard.reading import Reading
from runtime.guard.values import (
    ANYTHING,
    OUTSIDE,
    Atom,
    Box,
    Const,
    File,
    Made,
    Ref,
    Text,
    Unknown,
    Value,
    outside,
)

_MODE = re.compile(r"[rwax][bt+]*")
_OPTIONAL = ("absent", "unless known", "memory", "folder")


def called(reading: Reading, path: str, spec: FileCall, given: Arguments, node: ast.AST) -> Value:
    """Judge a call of a function that takes files; what it gives."""
    bad = reaches(spec, given)
    if bad:
        reading.report("files", node, judging.shown(path))
    if spec.gives_file:
        return OUTSIDE if bad else frozenset({File(1)})
    return ANYTHING if path.startswith(("os.", "shutil.")) else outside(f"{path}()")


def reaches(spec: FileCall, given: Arguments) -> bool:
    """Whether a call may reach a file outside the temporary folder."""
    checked = False
    for place in spec.positions:
        value = given.at(place)
        if value is not None:
            checked = True
            if outside_files(value, spec.source):
                return True
    for name in spec.names:
        if name in given.named:
            checked = True
            if outside_files(given.named[name], spec.source):
                return True
    return not checked and spec.source not in _OPTIONAL


def method(reading: Reading, held: Value, name: str, given: Arguments, node: ast.AST) -> None:
    """Judge a method that may reach a file."""
    own = any(isinstance(atom, Made) for atom in held) and name in reading.attributes
    if name in PATH_READS:
        for atom in held:
            if isinstance(atom, File) and atom.depth < 0:
                reading.report("files", node, f"`.{name}` of a path")
            elif isinstance(atom, File) and any(_leaves(value, name) for value in given.every()):
                reading.report("files", node, f"`.{name}` with a path outside the folder")
            elif isinstance(atom, Ref) and atom.path == "pathlib.Path":
                first = given.at(0)
                if first is None or outside_files(first, ""):
                    reading.report("files", node, f"`Path.{name}`")
            elif name in TELLING and not own and _may_be_path(atom):
                reading.report("files", node, f"`.{name}`")
            elif name == "open" and _opens(reading, atom, given):
                reading.report("files", node, "`.open` of what may be a path")
    if name in WRITERS and not own and not any(isinstance(atom, Ref) and atom.path == "json" for atom in held):
        _writes(reading, WRITERS[name], held, name, given, node)


def taken(reading: Reading, held: Value, name: str, node: ast.AST) -> None:
    """Judge a method that is taken from a path without being called."""
    if name in PATH_READS and any(isinstance(atom, File) and atom.depth < 0 for atom in held):
        reading.report("files", node, f"`.{name}` of a path")
    elif name in TELLING and name not in reading.attributes and any(isinstance(atom, Unknown | Text) for atom in held):
        reading.report("files", node, f"`.{name}`")


def _opens(reading: Reading, atom: Atom, given: Arguments) -> bool:
    """Whether `.open()` is called as that of a path is, where the source uses paths at all."""
    if not isinstance(atom, Unknown | Ref) or "pathlib" not in reading.mentioned or "open" in reading.attributes:
        return False
    first = given.at(0)
    modes = all(isinstance(part, Const) and _MODE.fullmatch(str(part.value)) for part in first or ())
    return modes and not (isinstance(atom, Ref) and not atom.path.endswith(")"))


def _may_be_path(atom: Atom) -> bool:
    return isinstance(atom, Unknown | Text) or (isinstance(atom, Ref) and not atom.path.startswith("zipfile."))


def _writes(reading: Reading, spec: FileCall, held: Value, name: str, given: Arguments, node: ast.AST) -> None:
    if name in ("extractall", "unpack_archive"):
        path = given.at(0, *spec.names)
        if path is None or outside_files(path, "folder"):
            reading.report("files", node, f"`.{name}` without a temporary folder")
        return
    if name == "extract":
        archives = any(isinstance(atom, Ref) and atom.path.startswith(("zipfile.", "tarfile.")) for atom in held)
        path = given.at(1, *spec.names)
        if archives and (path is None or outside_files(path, "folder")):
            reading.report("files", node, "`.extract` without a temporary folder")
        return
    if any(_names_file(value, spec) for value in _places(spec, given)):
        reading.report("files", node, f"`.{name}`")


def _places(spec: FileCall, given: Arguments) -> list[Value]:
    found = [value for place in spec.positions if (value := given.at(place)) is not None]
    return found + [given.named[name] for name in spec.names if name in given.named]


def _names_file(value: Value, spec: FileCall) -> bool:
    if spec.source != "unless known":
        return outside_files(value, spec.source)
    for atom in value:
        match atom:
            case Const(value=str() as text):
                if "/" in text or "." in text[1:]:
                    return True
            case File(depth):
                if depth < 0:
                    return True
            case Text(head, tail):
                if "/" in head or (tail.rpartition(".")[2].isalnum() and "." in tail):
                    return True
            case _:
                pass
    return False


def _leaves(value: Value, method: str) -> bool:
    """Whether an argument of a method of a temporary path leads out of it."""
    for atom in value:
        match atom:
            case Const(value=str() as text):
                if method in ("rename", "replace", "symlink_to", "hardlink_to", "link_to", "copy", "move"):
                    return True
                if method in ("glob", "rglob") and (".." in text or text.startswith("/")):
                    return True
            case File(depth):
                if depth < 0:
                    return True
            case Unknown() | Text() | Ref():
                if method in ("rename", "replace", "symlink_to", "hardlink_to", "link_to", "copy", "move"):
                    return True
            case _:
                pass
    return False


def made_temporary(reading: Reading, name: str, given: Arguments, node: ast.AST) -> Value:
    """Judge a call of `tempfile`; what it gives."""
    place = {"TemporaryDirectory": 2, "mkdtemp": 2, "mkstemp": 2, "mktemp": 2}.get(name, 7)
    folder = given.at(place, "dir")
    if folder is not None and outside_files(folder, "absent"):
        reading.report("files", node, f"`tempfile.{name}` with another `dir`")
        return OUTSIDE
    for value in (given.named.get("prefix"), given.named.get("suffix"), *given.given[:2]):
        if value is not None and any(_has_step(atom) for atom in value):
            reading.report("files", node, f"`tempfile.{name}` with a path in its prefix or suffix")
    if name == "mkstemp":
        file: Value = frozenset({File(1)})
        return frozenset({Box(((0, file), (1, file)), frozenset(), mapping=False)})
    if name in ("TemporaryDirectory", "mkdtemp", "gettempdir", "gettempdirb"):
        return frozenset({File(0)})
    return frozenset({File(1)}) if name != "SpooledTemporaryFile" else outside("tempfile.SpooledTemporaryFile()")


def _has_step(atom: object) -> bool:
    match atom:
        case Const(value=str() as text):
            return "/" in text or ".." in text
        case Text(decoded=decoded):
            return decoded
        case _:
            return False


def path_function(name: str, given: Arguments) -> Value | None:
    """What a function of `os.path` gives for a file; None when no file is passed."""
    first = given.at(0)
    if not first or not any(isinstance(atom, File) for atom in first):
        return None
    if name == "dirname":
        return frozenset(parent_of(atom.depth) if isinstance(atom, File) else atom for atom in first)
    if name in ("abspath", "realpath", "normpath", "normcase", "fspath", "fsencode", "fsdecode"):
        return first
    if name in ("splitext", "split", "splitdrive"):
        return frozenset({Box((), first, mapping=False)})
    return None
