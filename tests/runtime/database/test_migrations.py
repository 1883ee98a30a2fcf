"""Each migration, whichever there are: it keeps what is stored, and one that is interrupted has done nothing."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.pool import NullPool

from runtime.archive.rows import reflected
from runtime.database import schema
from runtime.database.database import Database
from runtime.database.migrations import migrate, revisions
from runtime.keychain.documents import DocumentSealing
from tests.databases.earlier import at_revision
from tests.databases.full_house import add_row, rows_of
from tests.databases.stored import query

pytestmark = pytest.mark.anyio
LATEST = [*revisions()][-6:]
"""The newest ones; what comes between the others is covered by `test_killed.py`."""


async def filled(url: str, revision: str, data: Path) -> dict[str, list[dict[str, Any]]]:
    """A database of an earlier schema with rows in every table; what it holds."""
    await at_revision(url, revision, data)
    with create_engine(url.replace("+aiosqlite", ""), poolclass=NullPool).begin() as connection:
        for table in reflected(connection).values():
            for number in (1, 2):
                add_row(connection, table, "ada", number, DocumentSealing(data))
    return rows_of(url)


async def opened(url: str, data: Path) -> None:
    database = Database(url, data, migrates=True)
    await database.open()
    await database.aclose()


def kept(before: Mapping[str, list[dict[str, Any]]], after: Mapping[str, list[dict[str, Any]]]) -> bool:
    """Whether every row is there with what it had."""
    for table, rows in before.items():
        names = set(rows[0]) if rows else set[str]()
        found = [{name: value for name, value in row.items() if name in names} for row in after[table]]
        assert sorted(found, key=repr) == sorted(rows, key=repr), table
    return True


@pytest.mark.parametrize("revision", [*revisions()][8:-1])
async def test_what_an_earlier_schema_held_is_kept(revision: str, database_url: str, tmp_path: Path) -> None:
    before = await filled(database_url, revision, tmp_path)
    assert any(before.values())
    await opened(database_url, tmp_path)
    assert kept(before, rows_of(database_url))
    assert query(database_url, "select version_num from alembic_version") == [(schema.HEAD,)]


def killed(url: str, revision: str, data: Path) -> int:
    """Migrate in a process that is killed when a migration has done its work, and is about to be noted as done."""
    child = os.fork()
    if child == 0:
        try:
            engine = create_engine(url.replace("+aiosqlite", ""), poolclass=NullPool)

            def die(_: Connection, __: object, statement: str, parameters: object, *___: object) -> None:
                if "alembic_version" in statement and revision in f"{statement} {parameters}":
                    os.kill(os.getpid(), signal.SIGKILL)

            event.listen(engine, "before_cursor_execute", die)
            with engine.connect() as connection:
                if engine.dialect.name == "sqlite":
                    connection.exec_driver_sql("BEGIN IMMEDIATE")
                migrate(connection, schema.revision(connection), DocumentSealing(data))
                connection.commit()
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


async def test_a_migration_that_is_killed_at_its_end_has_done_nothing(database_url: str, tmp_path: Path) -> None:
    first, *later = LATEST
    before = await filled(database_url, first, tmp_path)
    for revision in later:
        assert killed(database_url, revision, tmp_path) == -signal.SIGKILL, revision
        assert query(database_url, "select version_num from alembic_version") == [(first,)], revision
        assert rows_of(database_url) == before, "and no table is left of it"
    await opened(database_url, tmp_path)
    assert kept(before, rows_of(database_url))
