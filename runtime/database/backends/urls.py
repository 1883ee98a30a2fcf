"""URLs of databases, in the forms that people and hosting services write them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

FILE: Final = "wirewright.db"
"""The SQLite file of the data folder."""

_DRIVERS: Final = {"sqlite": "sqlite+aiosqlite", "postgres": "postgresql+psycopg", "postgresql": "postgresql+psycopg"}
"""The driver for each scheme that names none."""


def database_url(given: str | None, data: Path) -> str:
    """The URL with its driver.

    Args:
        given: such as `postgres://user@host/name`; None is the SQLite file of the data folder.
        data: the data folder.
    """
    if given is None:
        return sqlite_url(data / FILE)
    scheme, separator, rest = given.strip().partition("://")
    return f"{_DRIVERS.get(scheme.lower(), scheme)}{separator}{rest}"


def sqlite_url(file: Path) -> str:
    """The URL of an SQLite file."""
    return f"{_DRIVERS['sqlite']}:///{file}"


def is_sqlite(url: str) -> bool:
    """Whether a URL names an SQLite database."""
    return url.partition("://")[0].partition("+")[0] == "sqlite"


def sqlite_file(url: str) -> Path | None:
    """The file of an SQLite database; None for one in memory, or of another kind."""
    found = re.fullmatch(r"sqlite(?:\+\w+)?:///([^?]+)(?:\?.*)?", url)
    return None if found is None or found[1] == ":memory:" else Path(found[1])


def search_path(url: str) -> str | None:
    """The schema that the search path of a Postgres URL begins with; None without one."""
    options = parse_qs(urlsplit(url).query).get("options", [])
    found = re.search(r"search_path=(\w+)", " ".join(options))
    return None if found is None else found[1]
