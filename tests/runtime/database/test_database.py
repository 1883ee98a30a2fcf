"""The database: opened by several at once, at every age of its schema, and when it cannot be used."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

from flows.paths import data_folder
from runtime.database import migrations, schema
from runtime.database.conversations import ConversationRows
from runtime.database.database import Database
from runtime.database.errors import DatabaseTooNew, SchemaOutdated, StoreUnavailable
from runtime.database.migrations import migrate
from runtime.database.schema import HEAD
from runtime.database.sessions import SessionRows
from runtime.database.tables import Base
from runtime.keychain.documents import DocumentSealing
from runtime.sessions.messages import Message, MessageChanges
from tests.databases.stored import query

pytestmark = pytest.mark.anyio

OPEN = """
import asyncio, sys
from runtime.database.conversations import ConversationRows
from runtime.database.database import Database

async def write():
    database = Database(sys.argv[1])
    rows = ConversationRows(database)
    for number in range(20):
        await rows.save("u", f"{sys.argv[2]}-{number}", "{}", 1000)
    await database.aclose()

asyncio.run(write())
print("alembic" in sys.modules)
"""


def url(file: Path) -> str:
    return f"sqlite+aiosqlite:///{file}"


@pytest.fixture
async def stored(database_url: str) -> str:
    """A database of the current schema with one conversation."""
    database = Database(database_url)
    await ConversationRows(database).save("u", "s", "{}", 10)
    await database.aclose()
    return database_url


@contextmanager
def connected(place: str) -> Generator[Connection]:
    """A connection beside the code under test, in a transaction that is committed."""
    engine = create_engine(place.replace("+aiosqlite", ""), poolclass=NullPool)
    with engine.begin() as connection:
        yield connection


def differences(connection: Connection) -> list[object]:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    context = MigrationContext.configure(connection, opts={"compare_server_default": True})
    return list(compare_metadata(context, Base.metadata))


def test_the_migrations_make_the_tables_and_end_at_the_known_revision(database_url: str) -> None:
    with connected(database_url) as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        assert differences(connection)
        migrate(connection, None, DocumentSealing(data_folder()))
        assert differences(connection) == []
        assert schema.revision(connection) == HEAD


async def test_a_new_database_has_the_tables_of_the_migrations(stored: str) -> None:
    with connected(stored) as connection:
        assert differences(connection) == []
        assert schema.revision(connection) == HEAD
        if connection.dialect.name == "sqlite":
            assert connection.execute(text("PRAGMA journal_mode")).all() == [("wal",)]


async def test_an_sqlite_file_has_its_tables_from_the_moment_that_it_is_there(tmp_path: Path) -> None:
    """A process that is killed while it creates the database leaves a whole file, or none."""
    file = tmp_path / "folder" / "w.db"
    engine = schema.create_engine(url(file), schema.new_file)
    with connected(url(file)) as connection:
        assert schema.revision(connection) == HEAD
        assert differences(connection) == []
    assert file.stat().st_mode & 0o777 == 0o600
    assert {each.name for each in file.parent.iterdir()} <= {"w.db", "w.db-wal", "w.db-shm"}
    await engine.dispose()


@pytest.mark.parametrize("place", ["w.db", ":memory:"])
async def test_an_empty_sqlite_database_gets_the_tables(tmp_path: Path, place: str) -> None:
    if place != ":memory:":
        (tmp_path / place).touch()
        place = str(tmp_path / place)
    database = Database(f"sqlite+aiosqlite:///{place}")
    rows = ConversationRows(database)
    await rows.save("u", "s", "{}", 10)
    assert await rows.load("u", "s") == "{}"
    async with database.reading() as connection:
        assert await connection.run_sync(schema.revision) == HEAD
        assert await connection.run_sync(differences) == []
    await database.aclose()


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version of Wirewright with one migration more."""
    folder = Path(shutil.copytree(migrations.FOLDER, tmp_path / "migrations"))
    (folder / "versions" / "9999_teams.py").write_text(
        '"""Teams."""\n'
        "from alembic import op\n"
        "import sqlalchemy as sa\n"
        f"revision, down_revision = 'later', {HEAD!r}\n"
        "def upgrade():\n"
        "    op.create_table('teams', sa.Column('name', sa.String()))\n"
    )
    monkeypatch.setattr(migrations, "FOLDER", folder)
    monkeypatch.setattr(schema, "HEAD", "later")


async def test_a_database_of_an_earlier_schema_is_migrated_once(stored: str, later: None) -> None:
    first, second = (Database(stored, migrates=True) for _ in range(2))
    await asyncio.gather(first.open(), second.open())
    assert await ConversationRows(first).load("u", "s") == "{}"
    await first.aclose()
    await second.aclose()
    assert query(stored, "select count(*) from teams") == [(0,)]
    assert query(stored, "select version_num from alembic_version") == [("later",)]


async def test_an_earlier_schema_is_refused_with_the_remedy_where_it_is_not_to_be_migrated(
    stored: str, later: None
) -> None:
    refusing = Database(stored, migrates=None if stored.startswith("postgresql") else False)
    with pytest.raises(SchemaOutdated) as refused:
        await refusing.open()
    assert HEAD in refused.value.message
    assert "wirewright migrate" in refused.value.fix
    assert query(stored, "select version_num from alembic_version") == [(HEAD,)]


def test_every_row_has_an_owner() -> None:
    for table in Base.metadata.tables.values():
        if table.name not in ("servers", "users", "key_checks"):  # each row of `users` is an owner
            assert not table.c.owner.nullable, table.name


async def test_messages_of_an_earlier_schema_get_the_owner_of_their_session(database_url: str) -> None:
    with connected(database_url) as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        migrate(connection, None, DocumentSealing(data_folder()), to="0004")
        for number, owner in enumerate(("ada", "bob"), 1):
            connection.execute(
                text("INSERT INTO flow_sessions VALUES (:n, :owner, 'f', 's', :n, '2026-01-01', 1, 2)"),
                {"n": number, "owner": owner},
            )
        for number, session in enumerate((2, 1, 3), 1):  # no session has the number 3
            connection.execute(
                text("INSERT INTO messages VALUES (:n, :session, 'm', 'User', 'U', 'hi', '', '2026-01-01', 2)"),
                {"n": number, "session": session},
            )
    database = Database(database_url, migrates=True)
    rows = SessionRows(database)
    assert [message.text for message in await rows.load("bob", "f", "s")] == ["hi"]
    assert query(database_url, "select number, owner from messages order by number") == [(1, "bob"), (2, "ada")]
    assert await rows.remove("bob") == 1
    assert query(database_url, "select owner from messages") == [("ada",)]
    await database.aclose()
    with connected(database_url) as connection:
        assert differences(connection) == []


async def test_a_database_of_a_later_schema_is_refused_and_stays_as_it_is(stored: str) -> None:
    query(stored, "update alembic_version set version_num = '9999'")
    with pytest.raises(DatabaseTooNew) as refused:
        await Database(stored).open()
    assert "9999" in refused.value.message
    assert "WIREWRIGHT_DATABASE" in refused.value.fix
    [(document,)] = query(stored, "select document from conversations")
    assert DocumentSealing(data_folder()).unseal_text(str(document)) == "{}"


def test_processes_that_start_at_once_share_one_database(database_url: str) -> None:
    process_command = [sys.executable, "-c", OPEN, database_url]
    running = [
        subprocess.Popen([*process_command, str(number)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for number in range(3)
    ]
    assert [process.communicate(timeout=60) for process in running] == [("False\n", "")] * 3
    assert query(database_url, "select count(*) from conversations") == [(60,)]


async def test_many_writers_at_once_meet_no_lock(database_url: str) -> None:
    databases = [Database(database_url) for _ in range(2)]

    async def turn(number: int) -> None:
        rows = ConversationRows(databases[number % 2])
        for _ in range(5):
            await rows.load("u", str(number))
            await rows.save("u", str(number), "{}" * 10_000, 100)

    await asyncio.gather(*(turn(number) for number in range(32)))
    for database in databases:
        await database.aclose()
    assert query(database_url, "select count(*) from conversations") == [(32,)]


async def test_a_closed_database_opens_again(stored: str) -> None:
    database = Database(stored)
    for _ in range(2):
        assert await ConversationRows(database).load("u", "s") == "{}"
        await database.aclose()


@pytest.mark.parametrize(
    "place",
    [
        lambda folder: url(folder / "file" / "w.db"),
        lambda folder: url(folder / "broken.db"),
        lambda _: "sqlite+nothing:///x",
        lambda _: "what",
        lambda _: "postgresql+asyncpg://user:password@127.0.0.1:1/nothing",
        lambda _: "postgresql+psycopg://user:password@127.0.0.1:1/nothing",
    ],
)
async def test_a_database_that_cannot_be_used_is_a_typed_error(tmp_path: Path, place: Callable[[Path], str]) -> None:
    (tmp_path / "file").write_text("not a directory")
    (tmp_path / "broken.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreUnavailable):
        await Database(place(tmp_path)).open()


async def test_opening_a_database_again_keeps_the_locks_of_what_is_open(tmp_path: Path) -> None:
    """Otherwise another process takes itself for the last, and removes the log that this one still writes."""
    url = f"sqlite+aiosqlite:///{tmp_path / 'w.db'}"
    first, second = Database(url, tmp_path), Database(url, tmp_path)
    await first.open()
    await second.open()
    script = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('select * from sqlite_master'); c.close()"
    )
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", script, tmp_path / "w.db"], check=True)
    assert (tmp_path / "w.db-wal").exists()
    await second.aclose()
    await first.aclose()


async def test_servers_that_drop_the_oldest_of_one_user_at_once_neither_fail_nor_leave_anything(
    database_url: str,
) -> None:
    """Each keeps three conversations and three sessions, and all write six."""
    databases = [Database(database_url) for _ in range(3)]

    async def serve(number: int) -> None:
        conversations = ConversationRows(databases[number])
        sessions = SessionRows(databases[number], max_sessions=3)
        for part in range(60):
            name = f"s{(part * 5 + number) % 6}"
            message = Message(id=f"{number}-{part}", sender="User", sender_name="U", text="hi", timestamp="t")
            await conversations.save("u", name, "{}", 3)
            await sessions.save("u", "f", name, MessageChanges(added=(message,)))

    await asyncio.gather(*(serve(number) for number in range(3)))
    for database in databases:
        await database.aclose()
    assert query(database_url, "select count(*) from conversations") == [(3,)]
    orphans = "select count(*) from messages where session not in (select number from flow_sessions)"
    assert query(database_url, orphans) == [(0,)]
    counted = "select sum(messages) from flow_sessions"
    assert query(database_url, counted) == query(database_url, "select count(*) from messages")
