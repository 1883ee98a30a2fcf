"""Processes that share a Postgres have one key: another one is refused before anything is done with it."""

import json
from pathlib import Path

import pytest

from flows.document import JsonObject
from runtime.archive.backup import back_up
from runtime.archive.restore import restore
from runtime.database.database import Database
from runtime.database.secrets.key_check import OtherSecretKey
from runtime.jobs.job import NewJob
from runtime.jobs.rows import Jobs
from runtime.keychain.master_key import FILE, VARIABLE
from tests.databases.postgres import Cluster
from tests.databases.stored import query

pytestmark = pytest.mark.anyio
GIVEN: JsonObject = {"input_value": "hi"}


async def opened(url: str, data: Path, *, adding: str = "") -> None:
    """Open a database as a process does that starts, and queue a job of this id."""
    database = Database(url, data)
    try:
        await database.open()
        if adding:
            await Jobs(database).add([NewJob(id=adding, owner="ada", kind="run", queue="runs", given=GIVEN)])
    finally:
        await database.aclose()


async def read(url: str, data: Path, job: str) -> object:
    """What a job works on, as a process reads it."""
    database = Database(url, data)
    await database.open()
    (document,) = query(url, "select document from jobs where id = :id", id=job)[0]
    await database.aclose()
    return json.loads(database.documents.unseal_text(document))


async def test_a_process_with_another_key_is_refused_and_makes_none(postgres: Cluster, tmp_path: Path) -> None:
    url = postgres.schema()
    await opened(url, tmp_path / "first")
    with pytest.raises(OtherSecretKey, match="another secret key") as refused:
        await opened(url, tmp_path / "other")
    assert FILE in refused.value.fix
    assert VARIABLE in refused.value.fix
    assert not (tmp_path / "other" / FILE).exists()
    await opened(url, tmp_path / "first", adding="one")


async def test_a_process_with_another_key_of_its_own_is_refused(
    postgres: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.schema()
    monkeypatch.setenv(VARIABLE, "a" * 40)
    await opened(url, tmp_path / "first", adding="one")
    await opened(url, tmp_path / "second", adding="two")  # the same key in another folder
    monkeypatch.setenv(VARIABLE, "b" * 40)
    with pytest.raises(OtherSecretKey):
        await opened(url, tmp_path / "third")
    assert query(url, "select id from jobs order by id") == [("one",), ("two",)]


async def test_a_key_that_replaces_that_of_the_file_becomes_the_one_that_all_need(
    postgres: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.schema()
    await opened(url, tmp_path / "first", adding="one")
    monkeypatch.setenv(VARIABLE, "a" * 40)
    await opened(url, tmp_path / "first", adding="two")
    assert await read(url, tmp_path / "first", "one") == GIVEN
    await opened(url, tmp_path / "second")
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(OtherSecretKey):
        await opened(url, tmp_path / "third")


async def test_what_an_earlier_version_has_encrypted_tells_its_key(postgres: Cluster, tmp_path: Path) -> None:
    url = postgres.schema()
    await opened(url, tmp_path / "first", adding="one")
    query(url, "delete from key_checks")
    with pytest.raises(OtherSecretKey):
        await opened(url, tmp_path / "other")
    assert query(url, "select count(*) from key_checks") == [(0,)]
    await opened(url, tmp_path / "first")
    assert query(url, "select count(*) from key_checks") == [(1,)]


async def test_a_backup_is_restored_with_its_key_over_a_database_of_another_one(
    postgres: Cluster, tmp_path: Path
) -> None:
    url, other = postgres.schema(), postgres.schema()
    await opened(url, tmp_path / "first", adding="one")
    await opened(other, tmp_path / "second", adding="two")
    await back_up(url, tmp_path / "first", tmp_path / "archive.zip")
    await restore(tmp_path / "archive.zip", other, tmp_path / "second", overwrite=True)
    assert await read(other, tmp_path / "second", "one") == GIVEN
