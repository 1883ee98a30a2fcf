"""The sources that decide what a run gives: those that the runner reaches, and the engine's own.

A change of any other leaves recorded runs as they are; so do comments and docstrings.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path
from types import CodeType
from typing import cast

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "cassettes" / "runs.jsonl"
"""The digest of the sources that ran the flows, then a line for each run: its key, result and events."""

SOURCES = "sources"
START = Path("runtime/runner.py")
"""What makes a run; the modules of the runtime that it imports, and those that these import, are reached."""
ENGINE = Path("lfx_runner")
"""What the engine's process and its children are made of, packages included."""
SUPERVISING = (
    *("runtime/install", "runtime/web", "runtime/telemetry.py", "runtime/failures.py", "runtime/processes.py"),
    *("runtime/files/lock.py", "runtime/database", "runtime/engine/control.py", "runtime/engine/isolation.py"),
    *("runtime/engine/process.py", "runtime/engine/queue.py", "runtime/engine/spares.py"),
    "runtime/engine/supervisor.py",
)
"""What is reached and decides whether and when a run is made, but not what it gives."""


@cache
def sources_digest(root: Path = ROOT) -> str:
    """The digest of the sources that decide what a run gives, without their comments and docstrings."""
    digest = hashlib.sha256()
    for path in deciding_sources(root):
        content = (root / path).read_bytes()
        digest.update(path.as_posix().encode() + (code_of(content.decode()) if path.suffix == ".py" else content))
    return digest.hexdigest()[:16]


def deciding_sources(root: Path = ROOT) -> list[Path]:
    """The files that decide what a run gives, relative to the root of the repository."""
    engine = {path.relative_to(root) for path in (root / ENGINE).rglob("*") if path.suffix in {".py", ".lock"}}
    reached: set[Path] = set()
    pending = [START]
    while pending:
        path = pending.pop()
        if path not in reached and path.parts[0] == START.parts[0] and (root / path).is_file():
            reached.add(path)
            pending += _imported((root / path).read_text(encoding="utf-8"))
    supervising = [Path(name) for name in SUPERVISING]
    deciding = {path for path in reached if not any(path == each or each in path.parents for each in supervising)}
    return sorted(engine | deciding)


@cache
def _imported(source: str) -> tuple[Path, ...]:
    """The files that hold what a source imports, if they are there; a name may be a module or in one."""
    found: list[Path] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                modules = [name.name for name in names]
            case ast.ImportFrom(module=str(module), names=names, level=0):
                modules = [module, *(f"{module}.{name.name}" for name in names)]
            case _:
                continue
        for module in modules:
            place = Path(*module.split("."))
            found += [place.with_suffix(".py"), place / "__init__.py"]
    return tuple(found)


@cache
def code_of(source: str) -> bytes:
    """What a source does: its compiled code without docstrings and the places of its lines."""
    digest = hashlib.sha256()
    tree = ast.parse(source)
    _remove_docstrings(tree)
    pending: list[object] = [compile(tree, "<source>", "exec", dont_inherit=True, optimize=0)]
    while pending:
        part = pending.pop()
        if isinstance(part, CodeType):
            digest.update(part.co_code + repr((part.co_names, part.co_varnames, part.co_name)).encode())
            pending.extend(part.co_consts)
        elif isinstance(part, frozenset):
            digest.update(repr(sorted(map(repr, cast("frozenset[object]", part)))).encode())
        else:
            digest.update(repr(part).encode())
    return digest.digest()


def _remove_docstrings(node: ast.AST) -> None:
    """Remove the docstrings of a module and of what it defines, where statements stand."""
    body: list[ast.stmt] = getattr(node, "body", [])
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and body:
        match body[0]:
            case ast.Expr(value=ast.Constant(value=str())):
                body[:1] = [] if len(body) > 1 else [ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)]
            case _:
                pass
    for statement in body:
        _remove_docstrings(statement)
