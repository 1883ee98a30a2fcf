"""Small languages inside texts (formats, templates, queries, SQL) and what in them reaches too far."""

from __future__ import annotations

import re

_FORMAT = re.compile(r"\{[^{}]*(?:[.\[]_|\._?graph\b|\._vertex\b|[.\[](?:environ|modules|os|sys)\b)")
_TEMPLATE = re.compile(r"\{[{%][^}]*(__\w+__|attr\s*\(|\\x5f|request\.|cycler|lipsum|joiner|namespace\s*\()", re.DOTALL)
_QUERY = re.compile(r"__|@\w+\s*[.(\[]|@pd\b|import\b")
_SQL = re.compile(
    r"\battach\b(?!\s+(?:database\s+)?'(?::memory:)?'\s)|\bvacuum\b[^;]*\binto\b|load_extension\s*\("
    r"|\breadfile\s*\(|\bwritefile\s*\(|\bread_(?:text|csv|blob|parquet|json)\s*\(|\bcopy\b[^;]*\b(?:to|from)\s+'"
    r"|\bfrom\s+'[^'\s]*[/.][^'\s]*'",
    re.IGNORECASE,
)
_LOCAL = re.compile(r"^(?:~|\.\.?/|/(?!/)[\w.~-]+/|/(?:etc|proc|root|dev)\b|[A-Za-z]:[\\/]|file:)")


def format_reach(template: str) -> bool:
    """Whether a `str.format` template reads what no component may."""
    return bool(_FORMAT.search(template))


def template_reach(template: str) -> bool:
    """Whether a Jinja-like template reaches into Python."""
    return bool(_TEMPLATE.search(template))


def query_reach(text: str) -> bool:
    """Whether a `DataFrame.query` or `eval` expression reaches beyond columns."""
    return bool(_QUERY.search(text))


def sql_reach(text: str) -> bool:
    """Whether SQL opens a file or loads code."""
    return bool(_SQL.search(text))


def is_local_path(text: str) -> bool:
    """Whether a text names a file or folder of this machine."""
    return len(text) < 4096 and "\n" not in text and bool(_LOCAL.match(text))


def is_local_database(text: str) -> bool:
    """Whether a database's address names a file."""
    return text.startswith(("sqlite:", "duckdb:")) and "memory" not in text and not text.endswith("://")
