"""A process that has lost its turn stores nothing more of it, and one that goes on stores each effect once."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from flows.document import Flow
from runtime.database.backends.recorded import Effect, stored_once
from runtime.database.conversations import ConversationRows
from runtime.database.database import Database
from runtime.database.errors import Done, Superseded
from runtime.database.runs import RunRows
from runtime.sessions.run_entry import LoggedRun, RunEntry
from runtime.usage.entry import Usage
from runtime.usage.rows import UsageRows
from server.store.sql import SqlFlowStore
from server.store.turn_rows import SqlTurns
from server.store.turns import RUNNING, NewEvents, SteadyClock
from tests.databases.stored import query

pytestmark = pytest.mark.anyio

Write = Callable[[Database], Awaitable[object]]


async def revision(database: Database) -> None:
    """Save the flow that is stored as its next version."""
    store = SqlFlowStore(database, "ada")
    (entry, *_), _ = await store.page(1, 0)
    await store.replace(entry.id, Flow.empty(), entry.version)


async def run(database: Database) -> None:
    """Store a run."""
    entry = RunEntry.begun("r", "hi", flow="f", name="Echo", source="assistant")
    await RunRows(database).add([LoggedRun(owner="ada", entry=entry)], [], 9)


async def conversation(database: Database) -> None:
    """Store a conversation."""
    await ConversationRows(database).save("ada", "s", "{}", 9)


async def usage(database: Database) -> None:
    """Count something."""
    await UsageRows(database).add({("ada", "2026-01-01", "m"): Usage(turns=1)})


EFFECTS: dict[str, tuple[Write, str]] = {
    "flow_revisions": (revision, "select version from flow_revisions union all select version from flows"),
    "runs": (run, "select id from runs"),
    "conversations": (conversation, "select session from conversations"),
    "usage": (usage, "select turns from usage"),
}


@pytest.mark.parametrize("table", EFFECTS)
async def test_an_effect_of_a_turn_is_stored_once_and_only_by_who_has_the_turn(
    database_url: str, tmp_path: Path, table: str
) -> None:
    """Fails for each effect whose transaction does not ask `note_once`, and where that does not compare attempts."""
    write, stored = EFFECTS[table]
    database = Database(database_url, tmp_path)
    await SqlFlowStore(database, "ada").add(Flow.empty())
    first = SqlTurns(database, "first", 60.0, SteadyClock(), durable=True)
    second = SqlTurns(database, "second", 60.0, SteadyClock(), durable=True)
    assert await first.reserve("ada", "t", "s", durable=True)
    before = query(database_url, stored)
    taken = await second.take_over("ada", "t", 4)
    assert taken is not None
    with pytest.raises(Superseded), stored_once(Effect("ada", "t", 5, attempt=1)):
        await write(database)
    assert query(database_url, stored) == before
    assert query(database_url, "select count(*) from turn_effects") == [(0,)]
    with stored_once(Effect("ada", "t", 5, taken.attempt)):
        await write(database)
        once = query(database_url, stored)
        assert once != before
        with pytest.raises(Done):
            await write(database)
    assert query(database_url, stored) == once
    await database.aclose()


async def test_events_of_a_turn_are_stored_only_by_who_has_it(database_url: str, tmp_path: Path) -> None:
    """Fails where `append` does not compare attempts: what the first one had not stored yet comes late."""
    database = Database(database_url, tmp_path)
    first = SqlTurns(database, "first", 60.0, SteadyClock(), durable=True)
    second = SqlTurns(database, "second", 60.0, SteadyClock(), durable=True)
    assert await first.reserve("ada", "t", "s", durable=True)
    assert await first.reserve("ada", "other", "s", durable=True)

    def events(turn: str, at: int, state: str, attempt: int) -> NewEvents:
        return NewEvents("ada", turn, "s", is_new=False, first=at, lines=[b"{}"], state=state, attempt=attempt)

    assert not await first.append([events("t", 1, RUNNING, 1)])
    taken = await second.take_over("ada", "t", 4)
    assert taken is not None
    late, mine = events("t", 2, "complete", 1), events("other", 1, RUNNING, 1)
    for again in (False, True):
        assert list(await first.append([late, mine], again=again)) == [late]
    assert query(database_url, "select turn, first from turn_events order by turn") == [("other", 1), ("t", 1)]
    assert query(database_url, "select state from turns where id = 't'") == [(RUNNING,)]
    assert not await second.append([events("t", taken.sent + 1, "complete", taken.attempt)])
    assert list(await first.append([late])) == [late]
    assert query(database_url, "select state, last from turns where id = 't'") == [("complete", taken.sent + 1)]
    await database.aclose()
