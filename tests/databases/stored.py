"""Reads and changes a database beside the code under test."""

from typing import Any

from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool


def query(url: str, statement: str, **values: object) -> list[tuple[Any, ...]]:
    """Execute one statement, committed; returns its rows."""
    engine = create_engine(url.replace("+aiosqlite", ""), poolclass=NullPool)
    with engine.begin() as connection:
        done = connection.execute(text(statement), values)
        return [tuple(row) for row in done] if done.returns_rows else []
