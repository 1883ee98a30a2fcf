"""The rows of a database, read in one snapshot and written in one transaction, on SQLite and on Postgres."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import IO, Any

from sqlalchemy import BigInteger, Connection, Integer, MetaData, Select, Table, func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from flows.document import Json
from runtime.archive.values import from_json, to_json
from runtime.database.secrets import key_check

BATCH = 500
"""Rows that are in memory at a time."""

REVISION_TABLE = "alembic_version"

INSTALLATION = (REVISION_TABLE, key_check.TABLE)
"""Tables that are about the database itself."""


@asynccontextmanager
async def snapshot(engine: AsyncEngine) -> AsyncGenerator[AsyncConnection]:
    """A connection that sees the database as it is now, whatever is written meanwhile."""
    async with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            await connection.exec_driver_sql("BEGIN")
        else:
            await connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            await connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            await connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
        yield connection


def reflected(connection: Connection) -> dict[str, Table]:
    """The tables of a database as they are, by name, without those of the schema's revision and of the key."""
    metadata = MetaData()
    metadata.reflect(connection)
    return {name: table for name, table in sorted(metadata.tables.items()) if name not in INSTALLATION}


async def write_rows(
    connection: AsyncConnection,
    rows: Select[Any],
    file: IO[bytes],
    encode: Callable[[str, Any], Json] = lambda _, value: to_json(value),
) -> int:
    """Write rows as lines of JSON objects; returns how many.

    Args:
        connection: where they are read.
        rows: the rows.
        file: where they are written.
        encode: gives the JSON of a column's value.
    """
    count = 0
    async with connection.stream(rows) as result:
        async for part in result.mappings().partitions(BATCH):
            for row in part:
                line = {str(column): encode(str(column), value) for column, value in row.items()}
                file.write(json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n")
                count += 1
    return count


def in_order(table: Table) -> Select[Any]:
    """All rows of a table in the order of its key."""
    return select(table).order_by(*table.primary_key.columns)


def read_rows(file: Iterable[bytes]) -> Iterable[dict[str, Any]]:
    """The rows that `write_rows` wrote."""
    for line in file:
        yield {column: from_json(value) for column, value in json.loads(line).items()}


def add_rows(connection: Connection, table: Table, rows: Iterable[dict[str, Any]]) -> int:
    """Add rows to a table; returns how many.

    Raises:
        ValueError: a row has other columns than the table.
    """
    part: list[dict[str, Any]] = []
    count, columns = 0, table.columns.keys()
    for row in rows:
        if sorted(row) != sorted(columns):
            raise ValueError(f"The rows are not those of {table.name}.")
        part.append(row)
        if len(part) == BATCH:
            connection.execute(insert(table), part)
            count, part = count + len(part), []
    if part:
        connection.execute(insert(table), part)
    return count + len(part)


def continue_numbers(connection: Connection, table: Table) -> None:
    """Let the numbers that Postgres gives to new rows go on after those that are there."""
    column = numbered_by(table)
    if connection.dialect.name != "postgresql" or column is None:
        return
    last = connection.execute(select(func.max(table.c[column]))).scalar_one()
    sequence = text("SELECT setval(pg_get_serial_sequence(:name, :number), :last, :used)")
    values = {"name": f'"{table.name}"', "number": column, "last": last or 1, "used": last is not None}
    connection.execute(sequence, values)


def numbered_by(table: Table) -> str | None:
    """The column whose numbers the database gives; None in a table with another key."""
    keys = list(table.primary_key.columns)
    if len(keys) != 1 or not isinstance(keys[0].type, Integer | BigInteger):
        return None
    return keys[0].name
