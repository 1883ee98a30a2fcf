"""Small languages inside texts (formats, templates, queries, SQL) and what in them reaches too far."""

from __future__ import annotations

import re

format_reach = re.compile(r"\{[^{}]*(?:[.\[]_|\._?graph\b|\._vertex\b|[.\[](?:environ|modules|os|sys)\b)").search
"""Whether a `str.format` template reads what no component may."""
field_reach = re.compile(r"\{[^{}:!]*[.\[]|^[^{}]*[.\[]\w+\]?$").search
"""Whether a format reads an attribute or item of what it is given."""
template_reach = re.compile(
    r"\{[{%][^}]*(__\w+__|attr\s*\(|\\x5f|request\.|cycler|lipsum|joiner|namespace\s*\()", re.DOTALL
).search
"""Whether a Jinja-like template reaches into Python."""
query_reach = re.compile(
    r"__|@\w+\s*[.(\[]|@pd\b|import\b|\.\s*(?!(?:str|dt|cat|contains|startswith|endswith|match|fullmatch|lower|upper|"
    r"strip|len|isin|isnull|isna|notnull|notna|between|abs|mean|sum|min|max|median|std|quantile|fillna|astype|round|eq|"
    r"ne|gt|lt|ge|le|duplicated|isdigit|isnumeric|isalpha|shift|diff|cumsum|rank|any|all)\s*\()[A-Za-z]\w*\s*\("
).search
"""Whether a `DataFrame.query` or `eval` expression reaches beyond columns."""
sql_reach = re.compile(
    r"\battach\b(?!\s+(?:database\s+)?'(?::memory:)?'\s)|\bvacuum\b[^;]*\binto\b|load_extension\s*\("
    r"|\breadfile\s*\(|\bwritefile\s*\(|\bread_(?:text|csv|blob|parquet|json)\s*\(|\bcopy\b[^;]*\b(?:to|from)\s+'"
    r"|\bfrom\s+'[^'\s]*[/.][^'\s]*'",
    re.IGNORECASE,
).search
"""Whether SQL opens a file or loads code."""
harmless_sql = re.compile(
    r"\s*(?:--[^\n]*\n\s*)*\(?\s*(?:select|insert|update|delete|create|drop|alter|with|values|replace|begin|commit|"
    r"rollback|explain|pragma|savepoint|release|reindex|analyze)\b",
    re.IGNORECASE,
).match
"""Whether a statement begins as one that opens no file does; SQLite executes a single one at a time."""


def is_local_database(text: str) -> bool:
    """Whether a database's address names a file."""
    return text.startswith(("sqlite:", "duckdb:")) and "memory" not in text and not text.endswith("://")
