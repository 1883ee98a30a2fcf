"""Names are found and sorted alike, whatever language the database has been made for."""

import asyncio
from pathlib import Path

import pytest

from flows.document import Flow
from runtime.accounts.users import Users
from runtime.database.database import Database
from server.store.sql import SqlFlowStore
from tests.databases.collations import TURKISH, database_of
from tests.databases.postgres import Cluster
from tests.databases.secrets import opened

NAMES = (
    "IMPORT",
    "import",
    "İzmir",
    "ıssız",
    "straße",
    "Zebra",
    "äpfel",
    "Ångström",
    "apfel",
    "a b",
    "a-b",
    "ab",
    "Éclair",
)
USERS = ("x_y", "x1", "xy", "x-y", "Ida", "ib", "IA", "X.z", "x@y")
SEARCHED = ("import", "IMPORT", "I", "i", "İ", "STRASSE", "straße", "ä", "Å", "é", "a-", "%", "_")


@pytest.fixture(params=["sqlite", "C.UTF-8", TURKISH])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database: of SQLite, of Postgres, and of a Postgres that is Turkish."""
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path / 'w.db'}"
    cluster: Cluster = request.getfixturevalue("postgres")
    return database_of(cluster, TURKISH) if request.param == TURKISH else cluster.schema()


def in_database(url: str, data: Path) -> tuple[dict[str, list[str]], list[str]]:
    """The names of flows that each search finds, and those of users in the order of their list."""

    async def ask(database: Database) -> tuple[dict[str, list[str]], list[str]]:
        store, users = SqlFlowStore(database, "ada"), Users(database)
        await store.add_all([Flow.empty(name) for name in NAMES])
        for name in USERS:
            await users.add(name)
        found = {text: sorted(one.name for one in (await store.page(50, 0, text))[0]) for text in SEARCHED}
        stale = {text: sorted(one.name for one, _ in await store.engine_codes(text)) for text in SEARCHED}
        assert stale == found
        return found, [one.name for one in await users.entries()]

    async def work() -> tuple[dict[str, list[str]], list[str]]:
        async with opened(url, data) as database:
            return await ask(database)

    return asyncio.run(work())


def test_a_search_finds_the_same_names_in_any_database(url: str, tmp_path: Path) -> None:
    found, _ = in_database(url, tmp_path)
    assert found == {text: sorted(name for name in NAMES if text.casefold() in name.casefold()) for text in SEARCHED}


def test_users_are_listed_in_the_same_order_in_any_database(url: str, tmp_path: Path) -> None:
    _, listed = in_database(url, tmp_path)
    assert listed == sorted(USERS, key=str.lower)


def test_pages_of_a_search_have_every_flow_once(url: str, tmp_path: Path) -> None:
    async def work() -> tuple[list[str], int]:
        async with opened(url, tmp_path) as database:
            store = SqlFlowStore(database, "ada")
            await store.add_all([Flow.empty(f"Import {number}") for number in range(7)])
            await store.add_all([Flow.empty("Another")])
            pages = [await store.page(3, offset, "IMPORT") for offset in (0, 3, 6)]
            return [one.name for page, _ in pages for one in page], pages[0][1]

    names, total = asyncio.run(work())
    assert (sorted(names), total) == ([f"Import {number}" for number in range(7)], 7)
