"""The rows of conversations: which are dropped, and what it takes to read one."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import event

from runtime.database.conversations import ConversationRows
from runtime.database.database import Database
from runtime.database.transcripts import MessageText, TranscriptRows

pytestmark = pytest.mark.anyio


async def test_only_a_conversation_that_was_not_the_last_in_use_is_changed_when_it_is_loaded(database_url: str) -> None:
    database, statements = Database(database_url), list[str]()
    rows = ConversationRows(database)
    for session in ("first", "second"):
        await rows.save("ada", session, session, 10)
    await rows.save("bob", "his", "his", 10)

    @event.listens_for((await database.open()).sync_engine, "before_cursor_execute")
    def note(*given: Any) -> None:
        statements.append(given[2].split()[0])

    async def load(session: str) -> tuple[str | None, list[str]]:
        statements.clear()
        return await rows.load("ada", session), list(statements)

    assert await load("second") == ("second", ["SELECT"])
    assert await load("none") == (None, ["SELECT"])
    assert await load("first") == ("first", ["SELECT", "UPDATE"])
    assert await load("first") == ("first", ["SELECT"])
    await database.aclose()


async def test_the_conversation_that_was_used_least_recently_is_dropped(database_url: str) -> None:
    database = Database(database_url)
    rows = ConversationRows(database)
    await rows.save("bob", "his", "his", 2)
    assert await rows.save("ada", "first", "first", 2) == ([], 2)
    assert await rows.save("ada", "second", "second", 2) == ([], 3)
    await rows.load("ada", "first")
    assert await rows.save("ada", "third", "third", 2) == (["second"], 3)
    assert [session for session, _ in await rows.entries("ada")] == ["third", "first"]
    await database.aclose()


async def test_servers_that_make_the_transcript_of_a_conversation_at_once_make_one(database_url: str) -> None:
    databases = [Database(database_url) for _ in range(4)]
    for database in databases:
        await database.open()
    message = MessageText(
        id="m", at="2026-11-26", flow="", version=None, document="{}", title="t", preview="p", before=None
    )
    for number in range(5):
        name = f"s{number}"
        await asyncio.gather(*(TranscriptRows(one).add_all("ada", name, [message]) for one in databases))
    assert [(one.messages, one.title) for one in await TranscriptRows(databases[0]).entries("ada")] == [(1, "t")] * 5
    for database in databases:
        await database.aclose()
