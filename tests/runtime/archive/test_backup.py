"""Backups: of everything, taken while it is written, and restored to either kind of database."""

import asyncio
import io
import json
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from runtime.archive.backup import back_up
from runtime.archive.errors import ArchiveError
from runtime.archive.folder import contents
from runtime.archive.in_use import BeingServed
from runtime.archive.restore import restore
from runtime.database.backends.serving import hold_for_serving, name_connections
from runtime.database.conversations import ConversationRows
from runtime.database.database import Database
from runtime.database.errors import DatabaseTooNew
from runtime.database.schema import HEAD
from runtime.database.sessions import SessionRows
from runtime.sessions.messages import Message, MessageChanges
from tests.databases.full_house import fill, rows_of
from tests.databases.stored import query

pytestmark = pytest.mark.anyio
Place = Callable[[str, str], str]
KINDS = ["sqlite", "postgres"]
CONVERSATION = (
    "insert into conversations (owner, session, set_aside, used, document) values ('u', :name, '', :used, '{}')"
)
RUN = """
insert into runs
(owner, id, flow, name, session, source, milliseconds, input_tokens, output_tokens, at, state, started_at)
values ('u', :name, 'f', 'n', 's', 'http', 1, 1, 1, 'now', 'succeeded', 'now')
"""


def files(data: Path) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in contents(data)}


def open_to_others(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.stat().st_mode & 0o077]


def everything(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.suffix != ".lock"]


@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("source", KINDS)
async def test_everything_comes_back_on_either_database(tmp_path: Path, place: Place, source: str, target: str) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    before, after, archive = place(source, "here"), place(target, "there"), tmp_path / "b.zip"
    await fill(before, here, "local", "ada")
    rows, held = rows_of(before), files(here)
    assert min(len(found) for found in rows.values()) > 0, "every table has rows"
    done = await back_up(before, here, archive)
    assert (done.schema, done.files, done.secret_key) == (HEAD, len(held), "file")
    assert done.rows == {name: len(found) for name, found in rows.items()}
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    assert (await restore(archive, after, there)).rows == done.rows
    assert rows_of(after) == rows
    assert files(there) == held
    assert open_to_others(there) == []
    database = Database(after, there)
    try:
        assert await ConversationRows(database).load("ada", "session 1 of ada: é\u2028") is not None, "its key is there"
        new = Message(id="new", sender="User", sender_name="U", text="new", timestamp="t")
        await SessionRows(database).save("ada", "f", "s", MessageChanges(added=(new,)))  # numbers go on
    finally:
        await database.aclose()


async def test_a_backup_while_it_is_written_is_of_one_moment(database_url: str, tmp_path: Path) -> None:
    """A writer adds a conversation and a message of the same number in one transaction, again and again."""
    database, archive = Database(database_url, tmp_path), tmp_path / "b.zip"
    written, changed = 0, asyncio.Condition()

    async def write() -> None:
        nonlocal written
        while True:
            async with database.writing() as connection:
                await connection.execute(text(CONVERSATION), {"name": f"s{written}", "used": written})
                await connection.execute(text(RUN), {"name": f"s{written}"})
            async with changed:
                written += 1
                changed.notify_all()

    writing = asyncio.create_task(write())
    try:
        for least in (1, 20, 60):
            async with changed:
                await changed.wait_for(lambda: written >= least)  # noqa: B023  (waited for here)
            await back_up(database_url, tmp_path, archive)
            with zipfile.ZipFile(archive) as read:
                conversations, runs = (
                    [json.loads(line) for line in read.read(f"tables/{name}.jsonl").splitlines()]
                    for name in ("conversations", "runs")
                )
            assert len(runs) >= least
            assert sorted(row["session"] for row in conversations) == sorted(row["id"] for row in runs)
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        await database.aclose()


async def test_a_backup_of_an_earlier_schema_is_restored_in_the_current_one(place: Place, tmp_path: Path) -> None:
    from runtime.archive.restore import filled
    from runtime.keychain.documents import DocumentSealing
    from tests.databases.earlier import at_revision

    source, target = place("sqlite", "here"), place("postgres", "there")
    await at_revision(source, "0004", tmp_path / "here")
    query(source, "insert into flow_sessions values (7, 'ada', 'f', 's', 1, '2026-01-01', 1, 2)")
    query(source, "insert into messages values (9, 7, 'm', 'User', 'U', 'hi', '', '2026-01-01', 2)")
    assert (await back_up(source, tmp_path / "here", tmp_path / "b.zip")).schema == "0004"
    assert query(source, "select version_num from alembic_version") == [("0004",)], "it is not migrated"
    await restore(tmp_path / "b.zip", target, tmp_path / "there")
    assert query(target, "select number, owner, session from messages") == [(9, "ada", 7)]
    assert query(target, "select version_num from alembic_version") == [(HEAD,)]
    with pytest.raises(DatabaseTooNew):
        await filled(target, "9999", [], lambda _: [], DocumentSealing(tmp_path))
    assert query(target, "select count(*) from messages") == [(1,)], "nothing was changed"


async def test_what_is_stored_is_only_replaced_when_asked(database_url: str, tmp_path: Path) -> None:
    data, archive = tmp_path / "data", tmp_path / "b.zip"
    await fill(database_url, data, "ada")
    await back_up(database_url, data, archive)
    await fill(database_url, data, "bob")
    rows, held = rows_of(database_url), files(data)
    with pytest.raises(ArchiveError) as refused:
        await restore(archive, database_url, data)
    assert (refused.value.code, "--overwrite" in refused.value.fix) == ("not_empty", True)
    assert (rows_of(database_url), files(data)) == (rows, held)
    await restore(archive, database_url, data, overwrite=True)
    assert {row["owner"] for found in rows_of(database_url).values() for row in found if "owner" in row} == {"ada"}
    assert len(files(data)) < len(held)


async def test_a_damaged_file_is_replaced_by_a_backup(tmp_path: Path, place: Place) -> None:
    url, data = place("sqlite", "data"), tmp_path / "data"
    await fill(url, data, "ada")
    rows = rows_of(url)
    await back_up(url, data, tmp_path / "b.zip")
    (data / "wirewright.db").write_bytes(b"no database at all" * 100)
    await restore(tmp_path / "b.zip", url, data, overwrite=True)
    assert rows_of(url) == rows


async def test_nothing_is_restored_under_a_server(tmp_path: Path, place: Place) -> None:
    url, data = place("sqlite", "data"), tmp_path / "data"
    await fill(url, data, "ada")
    await back_up(url, data, tmp_path / "b.zip")
    lock = hold_for_serving(url)
    assert lock is not None
    with pytest.raises(BeingServed) as refused:
        await restore(tmp_path / "b.zip", url, data, overwrite=True)
    assert "restore again" in refused.value.fix
    lock.release()


async def test_nothing_is_restored_under_a_server_of_a_postgres(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, other, data, archive = place("postgres", "a"), place("postgres", "b"), tmp_path / "data", tmp_path / "b.zip"
    await fill(url, data, "ada")
    await back_up(url, data, archive)
    await fill(url, data, "bob")
    rows, server = rows_of(url), Database(url, data)
    with monkeypatch.context() as environment:
        environment.setenv("PGAPPNAME", "wirewright serving")
        name_connections(url)
        await server.open()
    try:
        with pytest.raises(BeingServed):
            await restore(archive, url, data, overwrite=True)
        assert rows_of(url) == rows
        await restore(archive, other, tmp_path / "other")
    finally:
        await server.aclose()
    await restore(archive, url, data, overwrite=True)
    assert rows_of(url) == rows_of(other)


@pytest.mark.parametrize("name", ["../out", "/etc/out", "users/../../out", "other", "users\\x", "token/x"])
async def test_an_archive_cannot_write_elsewhere(tmp_path: Path, place: Place, name: str) -> None:
    url, data = place("sqlite", "data"), tmp_path / "data"
    await back_up(url, data, tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip", "a") as archive:
        archive.writestr(f"data/{name}", "x")
    before = everything(tmp_path)
    with pytest.raises(ArchiveError):
        await restore(tmp_path / "b.zip", url, data, overwrite=True)
    assert everything(tmp_path) == before


def copied(archive: Path, whole: bytes, changed: dict[str, str | None]) -> None:
    """Write an archive again, with some of its files changed or left out."""
    with zipfile.ZipFile(io.BytesIO(whole)) as read, zipfile.ZipFile(archive, "w") as made:
        for name in read.namelist():
            content = changed.get(name, read.read(name))
            if content is not None:
                made.writestr(name, content)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("damage", ["empty", "text", "cut", "bit", "other", "row", "table", "less", "newer"])
async def test_what_is_not_a_backup_is_refused_and_nothing_changes(
    database_url: str, tmp_path: Path, damage: str
) -> None:
    data, archive = tmp_path / "data", tmp_path / "b.zip"
    await fill(database_url, data, "ada")
    await back_up(database_url, data, archive)
    whole, rows = archive.read_bytes(), rows_of(database_url)
    match damage:
        case "empty":
            archive.write_bytes(b"")
        case "text":
            archive.write_text("no archive")
        case "cut":
            archive.write_bytes(whole[: len(whole) // 2])
        case "bit":
            archive.write_bytes(whole[:200] + bytes([whole[200] ^ 1]) + whole[201:])
        case "less":
            copied(archive, whole, {"tables/runs.jsonl": None})
        case "newer":
            with zipfile.ZipFile(archive) as read:
                manifest = json.loads(read.read("manifest.json"))
            copied(archive, whole, {"manifest.json": json.dumps({**manifest, "schema": "9999"})})
        case "other":
            with zipfile.ZipFile(archive, "w") as made:
                made.writestr("manifest.json", '{"archive": "other", "version": 1}')
        case "row":
            with zipfile.ZipFile(archive, "a") as made:
                made.writestr("tables/flows.jsonl", '{"unknown": 1}\n')
        case _:
            with zipfile.ZipFile(archive, "a") as made:
                made.writestr("tables/unknown.jsonl", "{}\n")
    held = files(data)
    with pytest.raises(DatabaseTooNew if damage == "newer" else ArchiveError):
        await restore(archive, database_url, data, overwrite=True)
    assert (rows_of(database_url), files(data)) == (rows, held)
