"""What one user has: exported, imported elsewhere or again, and deleted without a trace."""

import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agent.models.keys import ProviderKeys
from runtime.accounts.scopes import EVERY_SCOPE
from runtime.accounts.user import User
from runtime.archive.backup import back_up
from runtime.archive.errors import ArchiveError
from runtime.archive.folder import contents
from runtime.archive.owned import Places
from runtime.archive.user_data import delete_user, export_user
from runtime.archive.user_import import import_user, user_in
from runtime.components.store import names
from runtime.database.base import REFERS
from runtime.database.conversations import ConversationRows
from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from runtime.database.tables import Base
from runtime.files.store import UserFiles
from runtime.keychain.user_variables import UserVariables
from tests.databases.full_house import KEY, fill, rows_of
from tests.databases.secrets import opened

pytestmark = pytest.mark.anyio
Place = Callable[[str, str], str]
Rows = dict[str, list[dict[str, Any]]]


def user(name: str) -> User:
    return User(id=name, name=name, scopes=frozenset(EVERY_SCOPE), created_at="2026-11-26T00:00:00+00:00")


async def exported(url: str, data: Path, name: str, path: Path, *, secrets: bool = False) -> None:
    async with opened(url, data) as database:
        providers = await ProviderKeys(database, name).values()
        await export_user(database, data, user(name), path, providers=providers, secrets=secrets)


async def _store(database: Database, name: str, providers: Mapping[str, Mapping[str, str]]) -> None:
    for provider, values in providers.items():
        await ProviderKeys(database, name).store(provider, values)


def bytes_of(folder: Path, names: str) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob(names))


def of(owner: str, rows: Rows) -> Rows:
    """The rows of an owner, without what another installation gives them: numbers, and what is encrypted."""
    found: Rows = {}
    for table, everybodys in rows.items():
        mine = [
            {
                name: value
                for name, value in row.items()
                if name not in ("number", "owner", "document") and not (name == "session" and isinstance(value, int))
            }
            for row in everybodys
            if row.get("owner") == owner
        ]
        if mine:
            found[table] = sorted(mine, key=repr)
    return found


async def test_deletion_leaves_nothing_of_a_user_and_everything_of_others(database_url: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    await fill(database_url, data, "local", "ada", "bob")
    before, files = rows_of(database_url), dict(contents(data))
    places = Places.of(data, "ada")
    owned = [name for name, table in Base.metadata.tables.items() if "owner" in table.columns]
    assert set(owned) == set(before) - {"servers", "users"}
    async with opened(database_url, data) as database:
        deleted = await delete_user(database, data, "ada")
    assert deleted.rows == dict.fromkeys(sorted(owned), 2), "the test has rows in every table"
    after = rows_of(database_url)
    assert after == {
        table: [row for row in rows if row.get("owner", row.get("id")) != "ada"] for table, rows in before.items()
    }
    assert re.search(r"\bada\b", repr(after)) is None, "three letters alone may be part of what is encrypted"
    left = dict(contents(data))
    gone = {name for name in files if name not in left}
    assert {files[name] for name in gone} == {
        places.files / "notes" / "plan.txt",
        places.files / ".components" / "Louder.py",
    }
    assert not places.files.exists()
    if database_url.startswith("sqlite"):
        held = bytes_of(tmp_path, "w.db*")
        assert b"of ada" not in held, "not in free pages either"
        assert b"of bob" in held


async def test_the_first_user_can_be_emptied_as_well(database_url: str, tmp_path: Path) -> None:
    await fill(database_url, tmp_path, "local", "ada")
    async with opened(database_url, tmp_path) as database:
        await delete_user(database, tmp_path, "local")
    assert of("local", rows_of(database_url)) == {}
    assert UserFiles(tmp_path, "ada").read("notes/plan.txt") == "of ada"


@pytest.mark.parametrize("secrets", [False, True])
async def test_an_export_has_no_secret_in_the_clear_unless_asked(
    database_url: str, tmp_path: Path, *, secrets: bool
) -> None:
    await fill(database_url, tmp_path, "ada", "bob")
    await exported(database_url, tmp_path, "ada", tmp_path / "ada.zip", secrets=secrets)
    with zipfile.ZipFile(tmp_path / "ada.zip") as archive:
        text = "\n".join(archive.read(name).decode() for name in archive.namelist())
        kept = json.loads(archive.read("secrets.json"))
    assert (KEY in text, "variable of ada" in text) == (secrets, secrets)
    assert "of bob" not in text
    assert "bob" not in text
    assert "sealed:" not in text
    assert set(kept["variables"]) == {"A_KEY"}
    assert set(kept["providers"]["openai"]) == {"OPENAI_API_KEY"}
    assert (tmp_path / "ada.zip").stat().st_mode & 0o077 == 0
    assert user_in(tmp_path / "ada.zip")[0] == "ada"


@pytest.mark.parametrize(("source", "target"), [("sqlite", "postgres"), ("postgres", "sqlite")])
async def test_what_was_exported_is_imported_into_another_installation(
    tmp_path: Path, place: Place, source: str, target: str
) -> None:
    here, there, path = tmp_path / "here", tmp_path / "there", tmp_path / "ada.zip"
    before, after = place(source, "here"), place(target, "there")
    await fill(before, here, "ada")
    await fill(after, there, "bob")
    await exported(before, here, "ada", path, secrets=True)
    others = of("bob", rows_of(after))
    async with opened(after, there) as database:
        stored, providers = await import_user(database, there, "carol", path)
        assert await UserVariables(database, "carol").values() == {"A_KEY": "variable of ada"}
        await _store(database, "carol", providers)
        assert providers == {"openai": {"OPENAI_API_KEY": f"{KEY}-ada"}}
        assert (stored.files, stored.secrets) == (2, True)
        rows = rows_of(after)
        conversation = await ConversationRows(database).load("carol", "session 1 of ada: é\u2028")
        assert conversation is not None
        assert KEY in conversation
    assert of("carol", rows) == of("ada", rows_of(before))
    assert of("bob", rows_of(after)) == others
    assert KEY not in repr(rows_of(after)), "it is encrypted again"
    assert UserFiles(there, "carol").read("notes/plan.txt") == "of ada"
    assert names(there, "carol") == ["Louder"]


async def test_a_copy_beside_the_original_has_ids_of_its_own(database_url: str, tmp_path: Path) -> None:
    await fill(database_url, tmp_path, "ada")
    await exported(database_url, tmp_path, "ada", tmp_path / "ada.zip")
    before = of("ada", rows_of(database_url))
    async with opened(database_url, tmp_path) as database:
        await import_user(database, tmp_path, "copy", tmp_path / "ada.zip")
        with pytest.raises(ArchiveError) as refused:
            await import_user(database, tmp_path, "copy", tmp_path / "ada.zip")
        assert refused.value.code == "not_empty"
    rows = rows_of(database_url)
    assert of("ada", rows) == before
    mine = {table: [row for row in found if row.get("owner") == "copy"] for table, found in rows.items()}
    assert {table: len(found) for table, found in mine.items() if table not in ("servers", "users", "secrets")} == {
        table: len(found) for table, found in before.items() if table != "secrets"
    }
    assert mine["secrets"] == [], "an export without secrets has none"
    assert {row["id"] for row in mine["flows"]}.isdisjoint(row["id"] for row in before["flows"])


@pytest.mark.parametrize("damage", ["backup", "cut", "less"])
async def test_what_is_not_an_export_is_refused_and_nothing_is_stored(
    database_url: str, tmp_path: Path, damage: str
) -> None:
    archive = tmp_path / "ada.zip"
    await fill(database_url, tmp_path, "ada")
    await exported(database_url, tmp_path, "ada", archive)
    rows, whole = rows_of(database_url), archive.read_bytes()
    match damage:
        case "backup":
            await back_up(database_url, tmp_path, archive)
        case "cut":
            archive.write_bytes(whole[:-100])
        case _:
            with zipfile.ZipFile(io.BytesIO(whole)) as read, zipfile.ZipFile(archive, "w") as made:
                for name in read.namelist():
                    if name != "tables/flows.jsonl":
                        made.writestr(name, read.read(name))
    async with opened(database_url, tmp_path) as database:
        with pytest.raises(ArchiveError) as refused:
            await import_user(database, tmp_path, "copy", archive)
    assert refused.value.code == "bad_archive"
    assert rows_of(database_url) == rows


async def test_what_refers_to_rows_refers_to_the_imported_ones(database_url: str, tmp_path: Path) -> None:
    from runtime.database.sessions import SessionRows
    from runtime.sessions.messages import Message, MessageChanges

    await fill(database_url, tmp_path, "bob", "ada")
    hi = Message(id="hi", sender="User", sender_name="U", text="hi", timestamp="t")
    async with opened(database_url, tmp_path) as database:
        await SessionRows(database).save("ada", "f", "s", MessageChanges(added=(hi,)))
    await exported(database_url, tmp_path, "ada", tmp_path / "ada.zip")
    async with opened(database_url, tmp_path) as database:
        await import_user(database, tmp_path, "copy", tmp_path / "ada.zip")
        assert await SessionRows(database).load("copy", "f", "s") == [hi]


def test_every_column_that_must_refer_says_so() -> None:
    """A whole number beside the key that has the name of something stored refers to it."""
    tables = Base.metadata.tables
    for table in tables.values():
        for column in table.columns:
            if column.name == "flow" or (column.name == "session" and "INT" in str(column.type)):
                assert column.info.get(REFERS) in tables, f"{table.name}.{column.name}: refers_to(...)"


async def test_data_without_its_key_is_not_exported_as_if_it_were_empty(database_url: str, tmp_path: Path) -> None:
    await fill(database_url, tmp_path, "ada")
    for name in ("secret.key", "secret.check"):
        (tmp_path / name).unlink()
    async with opened(database_url, tmp_path) as database:
        with pytest.raises(StoreUnavailable):
            await export_user(database, tmp_path, user("ada"), tmp_path / "ada.zip", providers={})
    assert not (tmp_path / "ada.zip").exists()
    assert bytes_of(tmp_path, ".wirewright-*") == b""
