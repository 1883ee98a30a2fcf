"""Stored provider keys: encrypted, for their owner alone, whole, and seen by every process, on either database."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.models.keys import BadKey, KeysUnreadable, ProviderKeys
from runtime.database.database import Database
from runtime.keychain.master_key import FILE as KEY_FILE
from tests.databases.secrets import opened
from tests.databases.stored import query

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="session")
def factory(tmp_path_factory: pytest.TempPathFactory) -> pytest.TempPathFactory:
    """Makes a folder for each example."""
    return tmp_path_factory


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def environment(keys: ProviderKeys) -> dict[str, str]:
    return dict((await keys.read()).environment({}))


async def test_a_stored_key_is_encrypted_and_comes_before_the_environment(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as database:
        keys = ProviderKeys(database)
        await keys.store("groq", {"GROQ_API_KEY": " gsk_secret "})
        found = await keys.read()
        assert found.environment({"GROQ_API_KEY": "other", "PATH": "p"}) == {"GROQ_API_KEY": "gsk_secret", "PATH": "p"}
        assert found.stored("groq") == {"GROQ_API_KEY"}
        assert "gsk_secret" not in repr(found)
    [row] = query(database_url, "select owner, kind, document from secrets")
    assert row[:2] == ("local", "providers")
    assert row[2].startswith("sealed:")
    held = contents(tmp_path)
    assert all(b"gsk_secret" not in content for content in held.values())
    assert all(path.stat().st_mode & 0o077 == 0 for path in held)


async def test_one_server_reads_at_once_what_another_stored(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as here, opened(database_url, tmp_path) as there:
        first, second = ProviderKeys(here), ProviderKeys(there)
        assert not (await second.read()).stored("groq")
        await first.store("groq", {"GROQ_API_KEY": "a"})
        assert await environment(second) == {"GROQ_API_KEY": "a"}
        await second.store("mistral", {"MISTRAL_API_KEY": "b"})
        assert await environment(first) == {"GROQ_API_KEY": "a", "MISTRAL_API_KEY": "b"}
        assert await first.forget("groq")
        assert not await second.forget("groq")
        assert await environment(second) == {"MISTRAL_API_KEY": "b"}


async def test_keys_of_one_user_are_no_others(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as database:
        await ProviderKeys(database, "ann").store("groq", {"GROQ_API_KEY": "a"})
        assert not (await ProviderKeys(database, "bob").read()).stored("groq")
        assert not await ProviderKeys(database, "bob").forget("groq")
        assert await environment(ProviderKeys(database, "ann")) == {"GROQ_API_KEY": "a"}


async def test_a_lost_key_is_an_error_with_its_remedy_and_restoring_it_helps(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as database:
        keys = ProviderKeys(database)
        await keys.store("groq", {"GROQ_API_KEY": "a"})
    (tmp_path / KEY_FILE).rename(tmp_path / "aside")
    async with opened(database_url, tmp_path) as database:
        keys = ProviderKeys(database)
        with pytest.raises(KeysUnreadable) as refused:
            await keys.read()
        assert KEY_FILE in refused.value.error.fix
        assert str(tmp_path) not in refused.value.error.fix
        with pytest.raises(KeysUnreadable):
            await keys.store("mistral", {"MISTRAL_API_KEY": "b"})
        (tmp_path / "aside").rename(tmp_path / KEY_FILE)
        assert await environment(keys) == {"GROQ_API_KEY": "a"}


async def test_a_key_from_the_environment_takes_over_what_that_of_the_file_encrypted(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(database_url, tmp_path) as database:
        keys = ProviderKeys(database)
        await keys.store("groq", {"GROQ_API_KEY": "a"})
    monkeypatch.setenv("WIREWRIGHT_SECRET_KEY", "k" * 40)
    async with opened(database_url, tmp_path) as database:
        keys = ProviderKeys(database)
        assert await environment(keys) == {"GROQ_API_KEY": "a"}
        await keys.store("mistral", {"MISTRAL_API_KEY": "b"})  # encrypts the document again, with the new key
    (tmp_path / KEY_FILE).unlink()
    async with opened(database_url, tmp_path) as database:
        assert await environment(ProviderKeys(database)) == {"GROQ_API_KEY": "a", "MISTRAL_API_KEY": "b"}


async def test_none_is_lost_when_several_servers_store_at_once(database_url: str, tmp_path: Path) -> None:
    names = {"groq": "GROQ_API_KEY", "mistral": "MISTRAL_API_KEY", "openai": "OPENAI_API_KEY"}
    databases = [Database(database_url, tmp_path) for _ in names]
    storing = [
        ProviderKeys(database).store(provider, {key: provider})
        for database, (provider, key) in zip(databases, names.items(), strict=True)
    ]
    await asyncio.gather(*storing)
    assert await environment(ProviderKeys(databases[0])) == {key: provider for provider, key in names.items()}
    for database in databases:
        await database.aclose()


async def test_reading_creates_nothing_when_there_is_nothing(tmp_path: Path) -> None:
    async with opened(f"sqlite+aiosqlite:///{tmp_path / 'w.db'}", tmp_path) as database:
        assert await environment(ProviderKeys(database)) == {}
    assert contents(tmp_path) == {}


@settings(max_examples=10)
@given(value=st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=30))
async def test_every_value_that_can_be_a_key_is_kept_as_it_is(factory: pytest.TempPathFactory, value: str) -> None:
    folder = factory.mktemp("keys")
    async with opened(f"sqlite+aiosqlite:///{folder / 'w.db'}", folder) as database:
        await ProviderKeys(database).store("groq", {"GROQ_API_KEY": f" {value}\n"})
        assert (await environment(ProviderKeys(database)))["GROQ_API_KEY"] == value


@given(value=st.text(alphabet=st.characters(min_codepoint=128), min_size=8, max_size=30))
async def test_an_invalid_value_is_refused_without_being_repeated(factory: pytest.TempPathFactory, value: str) -> None:
    folder = factory.mktemp("keys")
    async with opened(f"sqlite+aiosqlite:///{folder / 'w.db'}", folder) as database:
        with pytest.raises(BadKey) as refused:
            await ProviderKeys(database).store("groq", {"GROQ_API_KEY": f"k{value}k"})
    assert value not in f"{refused.value.message}{refused.value.fix}"
