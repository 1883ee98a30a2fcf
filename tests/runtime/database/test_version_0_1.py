"""A data folder of version 0.1: taken over once, whoever starts first, with a backup beside each file."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from runtime.database.database import Database
from runtime.database.tables import Base
from runtime.database.version_0_1 import BACKUP, CONVERSATIONS
from runtime.keychain.documents import DocumentSealing
from tests.databases import stored
from tests.databases.postgres import Cluster

pytestmark = pytest.mark.anyio
WRITTEN = Path(__file__).parents[2] / "compatibility" / "v0_1" / "data"
FLOWS = "select id, name, node_count, edge_count, version, updated_at, document from flows order by id"
SESSIONS = "select user, session, used, kept from sessions order by used"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return Path(shutil.copytree(WRITTEN, tmp_path / "data"))


def query(file: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(statement).fetchall()


async def opened(data: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{data / 'wirewright.db'}", data)
    await database.open()
    await database.aclose()


async def test_flows_and_conversations_become_the_local_users_and_their_files_are_backed_up(data: Path) -> None:
    file, backup = data / "wirewright.db", data / f"wirewright.db{BACKUP}"
    flows, sessions = query(file, FLOWS), query(data / CONVERSATIONS, SESSIONS)
    conversations = (data / CONVERSATIONS).read_bytes()
    assert (len(flows), len(sessions)) == (4, 5)
    await asyncio.gather(*(opened(data) for _ in range(4)))
    await opened(data)
    assert query(file, FLOWS) == query(backup, FLOWS) == flows
    taken = query(file, "select owner, session, used, document from conversations order by used")
    documents = DocumentSealing(data)
    assert [(*names, documents.unseal_text(str(text))) for *names, text in taken] == sessions
    assert not [text for *_, text in taken if "turns" in str(text)], "they are encrypted"
    assert query(file, "select distinct owner, set_aside from flows, conversations using (owner)") == [("local", "")]
    assert (data / f"{CONVERSATIONS}{BACKUP}").read_bytes() == conversations
    assert not (data / CONVERSATIONS).exists()
    assert not (data / f"wirewright.db{BACKUP}.tmp").exists()
    tables = [str(name) for (name,) in query(file, "select name from sqlite_master where type = 'table'")]
    assert sorted(tables) == ["alembic_version", *sorted(Base.metadata.tables)]


async def test_conversations_are_taken_over_into_a_database_that_has_later_ones(data: Path, tmp_path: Path) -> None:
    shutil.copy(data / CONVERSATIONS, tmp_path)
    await opened(data)
    with closing(sqlite3.connect(data / "wirewright.db")) as connection, connection:
        connection.execute("update conversations set document = 'later' where session = 'agentic_undo'")
        connection.execute("delete from conversations where session = 'agentic_plan'")
    shutil.copy(tmp_path / CONVERSATIONS, data)
    await opened(data)
    kept = dict(query(data / "wirewright.db", "select session, document from conversations"))
    assert len(kept) == 5
    assert kept["agentic_undo"] == "later"


async def test_a_file_of_conversations_that_is_broken_stays_and_is_logged(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (data / CONVERSATIONS).write_bytes(b"not a database" * 100)
    await opened(data)
    assert (data / CONVERSATIONS).read_bytes().startswith(b"not a database")
    assert len(query(data / "wirewright.db", FLOWS)) == 4
    assert "database.conversations_not_taken_over" in caplog.messages


async def test_a_database_elsewhere_takes_over_the_flows_and_conversations_of_the_folder(
    data: Path, postgres: Cluster
) -> None:
    file, place = data / "wirewright.db", postgres.schema()
    flows, sessions = query(file, FLOWS), query(data / CONVERSATIONS, SESSIONS)
    for _ in range(2):
        database = Database(place, data)
        await database.open()
        await database.aclose()
    assert stored.query(place, FLOWS) == flows
    assert stored.query(place, "select distinct owner from flows") == [("local",)]
    assert stored.query(place, "select flow, version from flow_revisions order by flow") == [
        (flow[0], flow[4]) for flow in flows
    ]
    documents = DocumentSealing(data)
    taken = stored.query(place, "select owner, session, used, document from conversations order by used")
    assert [(*names, documents.unseal_text(str(text))) for *names, text in taken] == sessions
    assert query(data / f"wirewright.db{BACKUP}", FLOWS) == flows
    assert not file.exists()
    assert (data / f"{CONVERSATIONS}{BACKUP}").exists()


async def test_the_history_of_a_flow_of_version_0_1_begins_with_it(data: Path) -> None:
    await opened(data)
    file = data / "wirewright.db"
    assert query(file, "select flow, version, document from flow_revisions order by flow") == query(
        file, "select id, version, document from flows order by id"
    )
