"""Stored sessions: kept apart, within their limits, erased, and shared by processes that write at once."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from runtime.database.database import Database
from runtime.database.errors import StoreUnavailable
from runtime.database.sessions import SessionRows
from runtime.sessions.keys import clean_key
from runtime.sessions.memory import ProcessSessions
from runtime.sessions.messages import Message, MessageChanges
from runtime.sessions.store import FlowSessions

pytestmark = pytest.mark.anyio


def added(*texts: str) -> MessageChanges:
    return MessageChanges(added=tuple(message(text) for text in texts))


def message(text: str, known: str = "") -> Message:
    return Message(id=known or f"id of {text}", sender="User", sender_name="User", text=text, timestamp="now")


async def texts(rows: SessionRows, session: str = "s", flow: str = "f", owner: str = "u") -> list[str]:
    return [each.text for each in await rows.load(owner, flow, session)]


@pytest.fixture
async def database(database_url: str) -> AsyncGenerator[Database]:
    made = Database(database_url)
    yield made
    await made.aclose()


async def test_messages_come_back_in_order_and_whole(database: Database) -> None:
    rows = SessionRows(database)
    whole = Message(id="1", sender="Machine", sender_name="AI", text="ünï\n“x”", context="c", timestamp="t")
    await rows.save("u", "f", "s", MessageChanges(added=(whole,)))
    await rows.save("u", "f", "s", added("second", "third"))
    assert (await rows.load("u", "f", "s"))[0] == whole
    assert (await texts(rows))[1:] == ["second", "third"]


async def test_sessions_flows_and_owners_are_kept_apart(database: Database) -> None:
    rows = SessionRows(database)
    keys = [("u", "f", "s"), ("u", "f", "t"), ("u", "g", "s"), ("v", "f", "s")]
    for owner, flow, session in keys:
        await rows.save(owner, flow, session, added(f"{owner}{flow}{session}"))
    for owner, flow, session in keys:
        assert await texts(rows, session, flow, owner) == [f"{owner}{flow}{session}"]
    [victim] = await rows.load("v", "f", "s")
    foreign = MessageChanges(changed=(message("changed", victim.id),), deleted=frozenset({victim.id}))
    await rows.save("u", "f", "s", foreign)
    assert await rows.load("v", "f", "s") == [victim]


async def test_changes_and_deletions_reach_the_messages_with_those_ids(database: Database) -> None:
    rows = SessionRows(database)
    await rows.save("u", "f", "s", added("a", "b", "c"))
    changes = MessageChanges(changed=(message("B", "id of b"),), deleted=frozenset({"id of a"}))
    await rows.save("u", "f", "s", changes)
    assert await texts(rows) == ["B", "c"]


async def test_the_oldest_messages_are_dropped_beyond_the_count_and_the_bytes(database: Database) -> None:
    few = SessionRows(database, max_messages=3)
    await few.save("u", "f", "s", added(*"abcde"))
    assert await texts(few) == ["c", "d", "e"]
    small = SessionRows(database, max_bytes=40)
    await small.save("u", "f", "t", added("x" * 30, "y" * 20, "z" * 10))
    assert await texts(small, "t") == ["y" * 20, "z" * 10]
    await small.save("u", "f", "t", added("w" * 100))
    assert await texts(small, "t") == []
    [entry] = [each for each in await few.entries("u", "f") if each.session == "s"]
    assert (entry.messages, entry.bytes) == (3, 15)


async def test_the_least_recently_used_sessions_of_a_user_are_dropped(database: Database) -> None:
    rows = SessionRows(database, max_sessions=2)
    await rows.save("v", "f", "other", added("kept"))
    for session in ("a", "b", "a", "c"):
        await rows.save("u", "f", session, added(session))
    assert [each.session for each in await rows.entries("u", "f")] == ["c", "a"]
    assert await texts(rows, "b") == []
    assert await texts(rows, "other", owner="v") == ["kept"]


async def test_a_removed_session_is_gone_and_so_are_those_of_a_removed_flow(database: Database) -> None:
    sessions = FlowSessions(database)
    for flow, session in (("f", "s"), ("f", "t"), ("g", "s"), ("g", "t")):
        await sessions.save("u", flow, session, added(session))
    assert await sessions.remove("u", "f", "s")
    assert not await sessions.remove("u", "f", "s")
    assert await sessions.messages("u", "f", "s") == []
    assert [each.session for each in await sessions.entries("u", "f")] == ["t"]
    assert await sessions.remove_everywhere("u", "t") == 2
    assert await sessions.remove_flow("u", "g") == 1
    assert await sessions.entries("u", "g") == []
    assert await sessions.remove_flow("u", "g") == 0


async def test_processes_that_write_one_session_at_once_lose_nothing(database_url: str) -> None:
    databases = [Database(database_url) for _ in range(2)]

    async def write(number: int) -> None:
        rows = SessionRows(databases[number % 2])
        for part in range(4):
            await rows.save("u", "f", "s", added(f"{number} {part}"))

    await asyncio.gather(*(write(number) for number in range(8)))
    assert sorted(await texts(SessionRows(databases[0]))) == sorted(f"{n} {p}" for n in range(8) for p in range(4))
    for database in databases:
        await database.aclose()


async def test_a_session_with_any_name_is_kept(database: Database) -> None:
    sessions = FlowSessions(database)
    for name in ("a/b?c", "s\0t", "\ud800", "x" * 5_000, "セッション"):
        await sessions.save("u", "f", name, added(name[:3].encode("utf-8", "replace").decode()))
        assert len(await sessions.messages("u", "f", name)) == 1
    assert clean_key("x" * 5_000) != clean_key("x" * 5_001)


async def test_a_database_that_cannot_be_used_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "w.db").write_bytes(b"no database at all" * 100)
    memory = FlowSessions(Database(f"sqlite+aiosqlite:///{tmp_path / 'w.db'}")).memory("u", "f", "s")
    with pytest.raises(StoreUnavailable):
        await memory.load()
    with pytest.raises(StoreUnavailable):
        await memory.save(added("x"))


async def test_the_sessions_of_a_process_have_the_same_limits() -> None:
    sessions = ProcessSessions()
    memory = sessions.memory("f", "s")
    await memory.save(added(*(f"{number:04}" for number in range(1_200))))
    kept = await memory.load()
    assert (len(kept), kept[0].text, kept[-1].text) == (1_000, "0200", "1199")
    await memory.save(MessageChanges(added=(message("x" * 999_000),), deleted=frozenset({kept[-1].id})))
    assert (await memory.load())[-1].text == "x" * 999_000
    assert sum(each.size for each in await memory.load()) <= 1_000_000
    for number in range(1_000):
        await sessions.memory("f", str(number)).save(added("y"))
    assert await memory.load() == []
