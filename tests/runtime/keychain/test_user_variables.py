"""The variables that a user keeps: encrypted, for each user alone, whole, and seen by every process."""

import asyncio
from pathlib import Path

import pytest

from runtime.database.database import Database
from runtime.keychain.master_key import FILE as KEY_FILE
from runtime.keychain.user_variables import MOST, BadVariable, UserVariables, VariablesUnavailable
from tests.databases.secrets import opened
from tests.databases.stored import query

pytestmark = pytest.mark.anyio


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_a_kept_value_is_encrypted_and_readable_only_by_its_owner(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as database:
        mine = UserVariables(database, "ann")
        await mine.keep({"SERPER_API_KEY": "s3cret-value", "B": "other"})
        assert await mine.names() == ["B", "SERPER_API_KEY"]
        assert (await mine.get("SERPER_API_KEY"), await mine.get("C")) == ("s3cret-value", None)
    assert "s3cret-value" not in repr(query(database_url, "select * from secrets"))
    held = contents(tmp_path)
    assert all(b"s3cret-value" not in content for content in held.values())
    assert all(path.stat().st_mode & 0o077 == 0 for path in held)


async def test_users_do_not_see_the_variables_of_others(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as database:
        await UserVariables(database, "ann").keep({"A": "value-of-ann"})
        assert await UserVariables(database, "bob").names() == []
        assert not await UserVariables(database, "bob").forget("A")
        assert await UserVariables(database, "ann").forget("A")
    assert query(database_url, "select * from secrets") == []


async def test_nothing_is_created_when_there_is_nothing_to_read(tmp_path: Path) -> None:
    async with opened(f"sqlite+aiosqlite:///{tmp_path / 'w.db'}", tmp_path) as database:
        assert await UserVariables(database, "ann").values() == {}
    assert contents(tmp_path) == {}


async def test_none_is_lost_when_several_servers_keep_some_at_once(database_url: str, tmp_path: Path) -> None:
    databases = [Database(database_url, tmp_path) for _ in range(3)]
    await asyncio.gather(
        *(
            UserVariables(database, "ann").keep({f"V{number}_{at}": f"value {number}"})
            for at, database in enumerate(databases)
            for number in range(4)
        )
    )
    for database in databases:
        assert len(await UserVariables(database, "ann").names()) == 12
        await database.aclose()


@pytest.mark.parametrize(
    ("name", "value"), [("1A", "x"), ("A B", "x"), ("", "x"), ("A", ""), ("A", "x" * 9000), ("A", "a\nb")]
)
async def test_a_bad_name_or_value_is_refused_without_quoting_the_value(tmp_path: Path, name: str, value: str) -> None:
    async with opened(f"sqlite+aiosqlite:///{tmp_path / 'w.db'}", tmp_path) as database:
        with pytest.raises(BadVariable) as refused:
            await UserVariables(database, "ann").keep({name: value})
        assert value not in refused.value.message.split() or not value
        assert await UserVariables(database, "ann").names() == []


async def test_one_more_than_there_may_be_is_refused_and_changes_nothing(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as database:
        kept = UserVariables(database, "ann")
        await kept.keep({f"V{number}": "value" for number in range(MOST)})
        with pytest.raises(BadVariable):
            await kept.keep({"ONE_MORE": "value"})
        await kept.keep({"V0": "another"})
        assert (len(await kept.names()), await kept.get("V0")) == (MOST, "another")


async def test_a_lost_key_file_is_an_error_with_its_remedy(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as database:
        await UserVariables(database, "ann").keep({"A": "value"})
    (tmp_path / KEY_FILE).unlink()
    async with opened(database_url, tmp_path) as database:
        with pytest.raises(VariablesUnavailable) as refused:
            await UserVariables(database, "ann").names()
    assert KEY_FILE in refused.value.fix
    assert str(tmp_path) not in refused.value.fix
