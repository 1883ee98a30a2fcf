"""Insertions that say what happens where a row is there already, as each database writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Dialect
from sqlalchemy.dialects import sqlite

from runtime.database.base import Base

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql


def insert_for(dialect: Dialect, row: type[Base]) -> sqlite.Insert | postgresql.Insert:
    """An insertion into a table; the dialect of Postgres is imported where a database is one.

    Args:
        dialect: the one of the database.
        row: the table.
    """
    if dialect.name == "sqlite":
        return sqlite.insert(row)
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(row)
