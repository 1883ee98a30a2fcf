"""The memory of a session whose database is away for a while."""

from pathlib import Path

import pytest

from runtime.database.database import Database
from runtime.database.errors import DatabaseGone
from runtime.sessions.messages import Message, MessageChanges
from runtime.sessions.patient import PatientMemory
from runtime.sessions.store import FlowSessions, StoredSession

pytestmark = pytest.mark.anyio
CHANGES = MessageChanges(added=(Message(id="1", sender="User", sender_name="User", text="hi", timestamp="now"),))


class Shaky:
    """The stored messages of a session, with a database that is away so many times.

    Args:
        memory: the messages.
        times: how often it is away.
        keeps: whether it is only its answer that is lost.
    """

    def __init__(self, memory: StoredSession, times: int, *, keeps: bool = False) -> None:
        self._memory = memory
        self._times = times
        self._keeps = keeps

    async def load(self) -> list[Message]:
        """Its messages."""
        return await self._memory.load()

    async def save(self, changes: MessageChanges) -> None:
        """Keep what a run made of them."""
        if self._keeps or not self._times:
            await self._memory.save(changes)
        if self._times:
            self._times -= 1
            raise DatabaseGone


@pytest.mark.parametrize("keeps", [False, True])
async def test_what_a_run_made_of_its_messages_is_kept_once_when_the_database_answers_again(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, keeps: bool
) -> None:
    monkeypatch.setattr("runtime.sessions.patient.RETRY_SECONDS", 0.01)
    database = Database(database_url, tmp_path)
    stored = FlowSessions(database).memory("ada", "f", "s")
    await PatientMemory(Shaky(stored, 1 if keeps else 3, keeps=keeps)).save(CHANGES)
    assert await stored.load() == list(CHANGES.added)
    await database.aclose()


async def test_who_waits_is_told_in_the_end(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.sessions.patient.RETRY_SECONDS", 0.01)
    database = Database(database_url, tmp_path)
    memory = Shaky(FlowSessions(database).memory("ada", "f", "s"), 1_000)
    with pytest.raises(DatabaseGone):
        await PatientMemory(memory, 0.05).save(CHANGES)
    await database.aclose()
