"""Small languages inside texts (formats, templates, queries, SQL, paths) and what in them reaches too far."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

from runtime.guard.closed import attribute_rule
from runtime.guard.running import steps_into_run


def format_reach(template: str) -> str | None:
    """What a replacement field of a `str.format` template reaches that it must not, or None."""
    for field in _fields(template, 3):
        _, _, path = field.replace("[", ".").partition(".")
        if steps_into_run(path):
            return path
        for part in path.replace("]", "").split("."):
            if attribute_rule(part) or part in ("__class__", "__dict__", "__init__", "environ", "modules", "os", "sys"):
                return part
    return None


def _fields(template: str, depth: int) -> Iterator[str]:
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError:
        parts = []
        yield from re.findall(r"\{([^{}]*)", template)
    for _, name, spec, _ in parts:
        if name is not None:
            yield name
        if spec and depth:
            yield from _fields(spec, depth - 1)


_TEMPLATE_CODE = re.compile(
    r"\{[{%][^}]*(__\w+__|attr\s*\(|\\x5f|request\.|cycler|lipsum|joiner|namespace\s*\()", re.DOTALL
)


def template_reach(template: str) -> bool:
    """Whether a Jinja-like template reaches into Python."""
    return bool(_TEMPLATE_CODE.search(template))


_QUERY_REACH = re.compile(r"__|@\w+\s*[.(\[]|@pd\b|import\b")
_SQL_REACH = re.compile(
    r"\battach\b(?!\s+(?:database\s+)?'(?::memory:)?'\s)|\bvacuum\b[^;]*\binto\b|load_extension\s*\("
    r"|\breadfile\s*\(|\bwritefile\s*\(|\bread_(?:text|csv|blob|parquet|json)\s*\(|\bcopy\b[^;]*\b(?:to|from)\s+'"
    r"|\bfrom\s+'[^'\s]*[/.][^'\s]*'",
    re.IGNORECASE,
)


def query_reach(text: str) -> bool:
    """Whether a `DataFrame.query` or `eval` expression reaches beyond columns."""
    return bool(_QUERY_REACH.search(text))


def sql_reach(text: str) -> bool:
    """Whether SQL opens a file or loads code."""
    return bool(_SQL_REACH.search(text))


_LOCAL_PATH = re.compile(r"^(?:~|\.\.?/|/(?!/)[\w.~-]+/|/(?:etc|proc|root|dev)\b|[A-Za-z]:[\\/]|file:)")


def is_local_path(text: str) -> bool:
    """Whether a text names a file or folder of this machine."""
    return len(text) < 4096 and "\n" not in text and bool(_LOCAL_PATH.match(text))
