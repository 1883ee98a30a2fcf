"""A database that is locked, gone, full or slow: typed answers with a remedy, and a server that is not ready."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractContextManager, asynccontextmanager, closing, contextmanager

import httpx
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from agent.assistant import Assistant
from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.database import connections, database
from server import readiness
from server.settings import ServerSettings
from tests.databases.postgres import Cluster
from tests.databases.stored import query
from tests.server.access.test_users import METHODS, fill, routes
from tests.server.live import ASSIST, FLOWS, Live, serving
from tests.server.openapi.description import described
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long, and what is known about the database is asked each time."""
    monkeypatch.setattr(connections, "BUSY_MILLISECONDS", 100)
    monkeypatch.setattr(connections, "STATEMENT_MILLISECONDS", 300)
    monkeypatch.setattr(database, "TURN_SECONDS", 0.5)
    monkeypatch.setattr(readiness, "KNOWN_SECONDS", 0.0)


@asynccontextmanager
async def server(catalogue: Catalogue) -> AsyncGenerator[tuple[Live, Assistant]]:
    model = ScriptedModel(*["off_topic", "Hello."] * 500)
    taking = assistant(catalogue, model, StandInRunner(results=[ran("output")] * 500))
    async with serving(taking) as live:
        yield live, taking


def is_typed(reply: httpx.Response, message: str) -> bool:
    """Whether a response is a 503 that says what is wrong and what to do, and nothing of this machine."""
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (503, "store_unavailable"), reply.text
    assert error["fix"]
    assert int(reply.headers["retry-after"]) > 0
    assert not any(word in reply.text for word in ("Traceback", "sqlite", "psycopg", "SELECT", "INSERT", "pytest"))
    assert message in error["message"], error
    return True


async def check(live: Live, echo: JsonObject, message: str) -> None:
    """What clients see while the database cannot be written, and that it is alive all the same."""
    assert is_typed(await live.client.post(FLOWS, json=echo), message)
    ready = await live.client.get("/readyz")
    assert (ready.status_code, ready.json()["database"]) == (503, "failed")
    assert message in ready.json()["message"]
    assert ready.json()["fix"]
    assert (await live.client.get("/healthz")).status_code == 200


async def works(live: Live, echo: JsonObject) -> None:
    assert (await live.client.post(FLOWS, json=echo)).status_code == 201
    ready = await live.client.get("/readyz")
    assert (ready.status_code, ready.json()["database"]) == (200, "ready")


@contextmanager
def locked(url: str) -> Generator[None]:
    """Another process keeps everything locked."""
    engine = create_engine(url.replace("+aiosqlite", ""), poolclass=NullPool)
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.execute(text("LOCK TABLE flows, alembic_version IN ACCESS EXCLUSIVE MODE"))
        yield


@pytest.mark.both_databases
async def test_a_locked_database_is_answered_with_503_until_it_is_free(catalogue: Catalogue, echo: JsonObject) -> None:
    async with server(catalogue) as (live, _):
        await works(live, echo)
        with locked(ServerSettings().database_url):
            await check(live, echo, "locked")
        await works(live, echo)


@contextmanager
def slow_inserts(url: str) -> Generator[None]:
    """Adding a flow takes longer than anybody waits."""
    body = "BEGIN PERFORM pg_sleep(30); RETURN NEW; END"
    query(url, f"CREATE FUNCTION sleeps() RETURNS trigger LANGUAGE plpgsql AS '{body}'")
    query(url, "CREATE TRIGGER slow BEFORE INSERT ON flows FOR EACH ROW EXECUTE FUNCTION sleeps()")
    yield
    query(url, "DROP FUNCTION sleeps CASCADE")


async def test_a_statement_that_takes_too_long_is_given_up(
    catalogue: Catalogue, echo: JsonObject, postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_DATABASE", postgres.schema())
    async with server(catalogue) as (live, _):
        await works(live, echo)
        with slow_inserts(ServerSettings().database_url):
            assert is_typed(await live.client.post(FLOWS, json=echo), "in time")
            assert (await live.client.get(FLOWS)).status_code == 200, "others are served meanwhile"
        await works(live, echo)


@pytest.mark.both_databases
async def test_writers_do_not_wait_for_ever_for_one_before_them(catalogue: Catalogue, echo: JsonObject) -> None:
    async with server(catalogue) as (live, taking):
        await works(live, echo)
        async with taking.database.writing():
            await check(live, echo, "in time")
            assert (await live.client.get(FLOWS)).status_code == 200, "readers are served"
        await works(live, echo)


async def test_a_full_disk_is_answered_with_503_and_nothing_of_the_change_is_stored(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    async with server(catalogue) as (live, taking):
        await works(live, echo)
        async with taking.database.reading() as connection:
            pages = (await connection.exec_driver_sql("PRAGMA page_count")).scalar_one()
            await connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        many = {**echo, "description": "x" * 500_000}
        assert is_typed(await live.client.post(FLOWS, json=many), "no room")
        assert (await live.client.get(FLOWS)).json()["total"] == 1
        async with taking.database.reading() as connection:
            await connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
        assert (await live.client.post(FLOWS, json=many)).status_code == 201


FULL = "BEGIN RAISE EXCEPTION ''could not extend file: No space left on device'' USING ERRCODE = ''53100''; END"


async def test_a_full_disk_of_postgres_is_answered_with_503(
    catalogue: Catalogue, echo: JsonObject, postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_DATABASE", postgres.schema())
    async with server(catalogue) as (live, _):
        await works(live, echo)
        url = ServerSettings().database_url
        query(url, f"CREATE FUNCTION full_() RETURNS trigger LANGUAGE plpgsql AS '{FULL}'")
        for table, event in (("flows", "INSERT"), ("alembic_version", "UPDATE")):
            query(url, f"CREATE TRIGGER full_ BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION full_()")
        await check(live, echo, "no room")
        query(url, "DROP FUNCTION full_ CASCADE")
        await works(live, echo)


async def test_a_postgres_that_goes_down_is_used_again_when_it_is_back(
    catalogue: Catalogue, echo: JsonObject, own_postgres: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_DATABASE", own_postgres.schema())
    async with server(catalogue) as (live, _):
        await works(live, echo)
        await asyncio.to_thread(own_postgres.stop)
        await check(live, echo, "not reachable")
        await asyncio.to_thread(own_postgres.start)
        await works(live, echo)
        assert (await live.client.get(FLOWS)).json()["total"] == 2, "what was acknowledged is there"


@pytest.mark.parametrize("change", ["removed", "replaced"])
async def test_nothing_is_written_to_a_file_that_is_not_the_database_any_more(
    change: str, catalogue: Catalogue, echo: JsonObject
) -> None:
    file = ServerSettings().data / "wirewright.db"
    async with server(catalogue) as (live, _):
        await works(live, echo)
        aside = file.rename(file.with_name("aside"))
        if change == "replaced":
            with closing(sqlite3.connect(file)) as other:
                other.execute("VACUUM")
        await check(live, echo, "not reachable")
        aside.replace(file)
        await works(live, echo)


async def test_a_damaged_file_says_how_it_is_restored(catalogue: Catalogue, echo: JsonObject) -> None:
    folder = ServerSettings().data
    folder.mkdir()
    (folder / "wirewright.db").write_bytes(b"no database at all" * 1_000)
    async with server(catalogue) as (live, _):
        await check(live, echo, "damaged")
        reply = await live.client.post(FLOWS, json=echo)
        assert "wirewright restore" in reply.json()["error"]["fix"]


def _moved(url: str) -> AbstractContextManager[None]:
    """Every table is gone, as with another database behind the same address."""

    @contextmanager
    def moving() -> Generator[None]:
        tables = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
        listing = tables if url.startswith("postgres") else "SELECT name FROM sqlite_master WHERE type = 'table'"
        names = [name for (name,) in query(url, listing) if not name.startswith("sqlite")]
        for name in names:
            query(url, f"ALTER TABLE {name} RENAME TO moved_{name}")
        yield
        for name in names:
            query(url, f"ALTER TABLE moved_{name} RENAME TO {name}")

    return moving()


@pytest.mark.both_databases
@pytest.mark.parametrize("fault", [locked, _moved])
async def test_no_route_fails_in_another_way(
    fault: Callable[[str], AbstractContextManager[None]], catalogue: Catalogue, echo: JsonObject
) -> None:
    """Every route of the table, whichever it has."""
    async with server(catalogue) as (live, _):
        has = await fill(live.client, echo)
        undescribed: set[tuple[str, str, int]] = set()
        with fault(ServerSettings().database_url):
            for route in routes():
                for method in METHODS:
                    for body in ({}, {"flow": echo, "version": 1}, {"input_value": "hi", "session_id": "s"}):
                        headers = {"If-Match": '"1"'}
                        reply = await live.client.request(method, has.path(route), json=body, headers=headers)
                        assert reply.status_code not in (500, 502), (method, route.path, reply.text)
                        if method in (route.methods or METHODS) and reply.status_code not in described(method, route):
                            undescribed.add((method, route.path, reply.status_code))
                        if reply.status_code == 503 and "error" in reply.json():
                            assert reply.json()["error"]["fix"], (method, route.path)
                        if method == "DELETE" and reply.status_code < 300:
                            break
        assert undescribed == set(), "a failure that the description does not have"
        assert (await live.client.get(FLOWS)).status_code == 200


@pytest.mark.both_databases
async def test_a_turn_without_the_database_ends_with_a_typed_error(catalogue: Catalogue, echo: JsonObject) -> None:
    async with server(catalogue) as (live, _):
        stored = (await live.client.post(FLOWS, json=echo)).json()
        with locked(ServerSettings().database_url):
            reply = await live.client.post(ASSIST, json={"input_value": "Explain it", "flow_id": stored["id"]})
        assert reply.status_code in (200, 503), reply.text
