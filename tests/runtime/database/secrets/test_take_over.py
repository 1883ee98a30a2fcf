"""Variables and keys in the files of earlier versions: taken over once, on either database, with a backup."""

import asyncio
import json
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from agent.models.keys import KeysUnreadable, ProviderKeys
from runtime.accounts.scopes import scopes_of
from runtime.accounts.users import Users
from runtime.archive.folder import contents
from runtime.archive.owned import Places
from runtime.archive.user_data import delete_user
from runtime.database.database import Database
from runtime.files.atomic import write_atomically
from runtime.keychain.sealing import Sealing
from runtime.keychain.user_variables import UserVariables
from tests.databases.secrets import opened
from tests.databases.stored import query

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[4]


def write_earlier(
    data: Path, user: str, variables: Mapping[str, str], groq: str, sealing: Sealing | None = None
) -> Places:
    """Write what an earlier version kept of a user."""
    places, sealing = Places.of(data, user), Sealing(data)
    for path, values in ((places.variables, variables), (places.providers, {"groq": {"GROQ_API_KEY": groq}})):
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_atomically(path, sealing.seal(json.dumps(values)).encode())
    return places


async def groq_of(database: Database, user: str = "local") -> str:
    return (await ProviderKeys(database, user).read()).environment({})["GROQ_API_KEY"]


async def test_what_every_user_had_in_files_is_taken_over_and_the_files_are_backups(
    database_url: str, tmp_path: Path
) -> None:
    async with opened(database_url, tmp_path) as database:
        ada, _ = await Users(database).add("ada", scopes_of(["run"]))
    mine = write_earlier(tmp_path, "local", {"A": "of local"}, "local-groq")
    hers = write_earlier(tmp_path, ada.id, {"A": "of ada"}, "ada-groq")
    held = mine.providers.read_bytes()
    for _ in range(2):
        async with opened(database_url, tmp_path) as database:
            assert await UserVariables(database, "local").values() == {"A": "of local"}
            assert await UserVariables(database, ada.id).values() == {"A": "of ada"}
            assert (await groq_of(database), await groq_of(database, ada.id)) == ("local-groq", "ada-groq")
    assert not any(path.exists() for path in (mine.providers, mine.variables, hers.providers, hers.variables))
    assert (tmp_path / "providers.enc.bak").read_bytes() == held
    assert not [name for name in dict(contents(tmp_path)) if name.endswith(".bak")], "a backup has them in the rows"
    async with opened(database_url, tmp_path) as database:
        await delete_user(database, tmp_path, ada.id)
    assert not list((tmp_path / "providers").iterdir()), "nothing of a deleted user is left, not in backups either"


async def test_what_was_changed_since_is_newer_than_a_file(database_url: str, tmp_path: Path) -> None:
    async with opened(database_url, tmp_path) as database:
        await UserVariables(database, "local").keep({"A": "newer", "B": "kept"})
    write_earlier(tmp_path, "local", {"A": "older", "C": "taken"}, "groq")
    async with opened(database_url, tmp_path) as database:
        assert await UserVariables(database, "local").values() == {"A": "newer", "B": "kept", "C": "taken"}


async def test_files_of_still_earlier_keys_are_read_with_them(database_url: str, tmp_path: Path) -> None:
    key = Fernet.generate_key()
    (tmp_path / "variables.key").write_bytes(key)
    Places.of(tmp_path, "local").variables.parent.mkdir()
    sealed = Fernet(key).encrypt(json.dumps({"A": "old"}).encode())
    Places.of(tmp_path, "local").variables.write_bytes(sealed)
    async with opened(database_url, tmp_path) as database:
        assert await UserVariables(database, "local").values() == {"A": "old"}


async def test_a_file_whose_key_is_lost_is_an_error_until_the_key_is_back(database_url: str, tmp_path: Path) -> None:
    write_earlier(tmp_path, "local", {"A": "value"}, "groq")
    for name in ("secret.key", "secret.check"):
        (tmp_path / name).rename(tmp_path / f"{name}.aside")
    async with opened(database_url, tmp_path) as database:
        with pytest.raises(KeysUnreadable):
            await groq_of(database)
    for name in ("secret.key", "secret.check"):
        (tmp_path / f"{name}.aside").replace(tmp_path / name)
    async with opened(database_url, tmp_path) as database:
        assert await groq_of(database) == "groq"
        assert await UserVariables(database, "local").values() == {"A": "value"}


async def test_the_files_of_somebody_unknown_stay(database_url: str, tmp_path: Path) -> None:
    places = write_earlier(tmp_path, "nobody", {"A": "value"}, "groq")
    async with opened(database_url, tmp_path) as database:
        await database.open()
    assert places.variables.exists()
    assert query(database_url, "select * from secrets") == []


async def test_several_processes_that_start_at_once_take_each_value_over_once(
    database_url: str, tmp_path: Path
) -> None:
    write_earlier(tmp_path, "local", {"A": "value"}, "groq")
    databases = [Database(database_url, tmp_path) for _ in range(4)]
    await asyncio.gather(*(database.open() for database in databases))
    for database in databases:
        assert await UserVariables(database, "local").values() == {"A": "value"}
        await database.aclose()
    assert len(query(database_url, "select * from secrets")) == 2


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from runtime.database import connections
from runtime.database.database import Database
from runtime.database.secrets import take_over

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[3] == "before the commit":
    real = take_over._merge
    merged = []
    def merge(*given):
        done = real(*given)
        merged.append(done)
        die() if len(merged) == 2 else None
        return done
    take_over._merge = merge
else:
    real = take_over._set_aside
    aside = []
    def set_aside(path):
        die() if len(aside) == int(sys.argv[3]) else aside.append(path)
        real(path)
    take_over._set_aside = set_aside
asyncio.run(Database(sys.argv[1], Path(sys.argv[2])).open())
"""


@pytest.mark.parametrize("moment", ["before the commit", "0", "1"])
async def test_a_process_that_is_killed_meanwhile_loses_nothing(database_url: str, tmp_path: Path, moment: str) -> None:
    write_earlier(tmp_path, "local", {"A": "value"}, "groq")
    killed = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", KILLED, database_url, str(tmp_path), moment), cwd=ROOT
    )
    assert await killed.wait() == -signal.SIGKILL
    async with opened(database_url, tmp_path) as database:
        assert await UserVariables(database, "local").values() == {"A": "value"}
        assert await groq_of(database) == "groq"
    assert len(backups(tmp_path)) == 2


def backups(data: Path) -> list[Path]:
    return [path for path in data.rglob("*.enc*") if path.suffix == ".bak"]
