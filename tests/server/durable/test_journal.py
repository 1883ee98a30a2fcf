"""The journal of a turn: what waits for a record, what is recorded together, and what no other process has left."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from agent.contract.events import Event
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.json_values import Json, JsonObject, as_list, as_object
from runtime.database.backends.recorded import StepsTogether
from runtime.database.errors import DatabaseBusy
from runtime.files.folders import LOCAL_USER
from runtime.keychain.documents import DocumentSealing
from server.durable.journal import StepJournal
from server.durable.packing import unpacked
from server.streams.event_log import EventLog
from server.turns import started
from tests.server.durable.playing import MESSAGE, Place, forked
from tests.shared.flow_texts import LOUDER, flow_of

pytestmark = pytest.mark.anyio

CALLS = 5
"""Calls of tools before the turn asks: an input, a component, a file, todos, and the edit that is asked about."""

RECORDS = 2 * CALLS + 2
"""Transactions that only record steps, at most: one before each call, one after it while the next answer comes, one of
the first answer, and one of the last unless an effect takes it along."""


class Teller:
    """Tells nobody."""

    def __init__(self) -> None:
        self.canvas, self.place = Flow.empty(), dict[str, Json]()

    def go_on_at(self, place: JsonObject) -> None:
        del place

    async def send(self, event: Event) -> None:
        """Tell it."""


class Store:
    """Stores what is recorded, as slowly as a test wants it.

    Attributes:
        rows: what was stored together.
        may: set while it stores.
        failures: how often it fails before.
        is_ours: whether the turn is still that of this process.
    """

    def __init__(self) -> None:
        self.rows: list[StepsTogether] = []
        self.may = asyncio.Event()
        self.may.set()
        self.failures = 0
        self.is_ours = True

    async def add(self, steps: StepsTogether, attempt: int) -> bool:
        assert attempt == 1
        await self.may.wait()
        if self.failures:
            self.failures -= 1
            raise DatabaseBusy
        if self.is_ours:
            self.rows.append(steps)
        return self.is_ours


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def journal(store: Store, tmp_path: Path) -> StepJournal:
    made = StepJournal("ada", "t", DocumentSealing(tmp_path), tmp_path / "undo")
    made.begin(Teller(), EventLog("ada", "t", "s", lambda _: None, attempt=1), store)
    made.open()
    return made


def gives(value: Json, noted: list[Json] | None = None) -> Callable[[], Awaitable[Json]]:
    """Work that gives a value, and notes that it was done."""

    async def work() -> Json:
        if noted is not None:
            noted.append(value)
        return value

    return work


def names(store: Store, tmp_path: Path) -> list[list[Any]]:
    """The names of the steps that were stored together."""
    documents = DocumentSealing(tmp_path)
    return [[as_object(one)["step"] for one in as_list(unpacked(row["document"], documents))] for row in store.rows]


async def test_a_tool_is_called_once_the_answer_that_calls_it_is_recorded(journal: StepJournal, store: Store) -> None:
    store.may.clear()
    called: list[Json] = []
    await journal.step("model", gives("call it"), None, "request")
    tool = asyncio.create_task(journal.step("tool", gives("called", called)))
    for _ in range(20):
        await asyncio.sleep(0)
    assert called == []
    store.may.set()
    assert await tool == "called"
    assert [(row["first"], row["last"]) for row in store.rows] == [(1, 1)]


async def test_a_model_is_asked_while_what_came_before_is_recorded(journal: StepJournal, store: Store) -> None:
    store.may.clear()
    await journal.step("tool", gives("called"))
    assert await journal.step("model", gives("said"), None, "request") == "said"
    assert store.rows == []
    store.may.set()
    await journal.settled()
    assert [step for row in store.rows for step in range(row["first"], row["last"] + 1)] == [1, 2]


async def test_what_is_read_is_recorded_with_the_step_that_follows(
    journal: StepJournal, store: Store, tmp_path: Path
) -> None:
    for name in ("queue", "load"):
        await journal.step(name, gives(name), None, "read")
    await journal.step("model", gives("said"), None, "request")
    await journal.step("tool", gives("called"))
    await journal.settled()
    assert names(store, tmp_path) == [["queue", "load", "model"], ["tool"]]


async def test_what_is_done_once_needs_no_record_of_its_own(journal: StepJournal, store: Store, tmp_path: Path) -> None:
    await journal.step("tool", gives("called"))
    await journal.settled()
    for name in ("save", "usage"):
        await journal.step(name, gives(name), gives("done before"))
    await journal.settled()
    assert names(store, tmp_path) == [["tool"]]
    await journal.step("tool", gives("called"))
    await journal.settled()
    assert names(store, tmp_path) == [["tool"], ["save", "usage", "tool"]]


async def test_nothing_acts_before_the_turn_is_known_to_go_on(store: Store, tmp_path: Path) -> None:
    journal = StepJournal("ada", "t", DocumentSealing(tmp_path), tmp_path / "undo")
    journal.begin(Teller(), EventLog("ada", "t", "s", lambda _: None, attempt=1), store)
    called: list[Json] = []
    assert await journal.step("model", gives("said"), None, "request") == "said"
    acts = asyncio.create_task(journal.step("tool", gives("called", called)))
    for _ in range(20):
        await asyncio.sleep(0)
    assert (called, store.rows) == ([], [])
    journal.open()
    assert await acts == "called"


async def test_a_record_is_tried_until_the_database_answers(
    journal: StepJournal, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.durable.journal.RETRY_SECONDS", 0)
    store.failures = 3
    await journal.step("tool", gives("called"))
    await journal.settled()
    assert (store.failures, len(store.rows)) == (0, 1)


async def test_a_process_whose_record_is_refused_does_nothing_more(journal: StepJournal, store: Store) -> None:
    store.is_ours = False
    called: list[Json] = []
    await journal.step("model", gives("call it"), None, "request")
    with pytest.raises(asyncio.CancelledError):
        await journal.step("tool", gives("called", called))
    assert (called, journal.is_left) == ([], True)


@pytest.fixture
def place(catalogue: Catalogue, database_url: str, tmp_path: Path) -> Place:
    (tmp_path / "place").mkdir()
    return Place(database_url, tmp_path / "place", catalogue)


def test_a_durable_turn_records_at_most_twice_for_each_call_of_a_tool(place: Place) -> None:
    async def work() -> dict[str, int]:
        counted = Counter[str]()
        async with place.served() as caller:
            flow = await (await caller.flows()).add(flow_of(LOUDER, place.catalogue))

            @event.listens_for(Engine, "before_cursor_execute")
            def note(connection: Any, cursor: Any, statement: str, *given: Any) -> None:
                del connection, cursor, given
                counted["steps"] += statement.startswith("INSERT INTO turn_steps")
                counted["effects"] += statement.startswith("INSERT INTO turn_effects")
                counted["by_dbos"] += "operation_outputs" in statement

            await started(caller, {"session_id": "s", "turn_id": "t", "input_value": MESSAGE, "flow_id": flow.id})
            async for _ in caller.state.turns.follow(LOCAL_USER, "t"):
                pass
        return counted

    code, said = forked(work)
    assert code == 0, said
    counted = json.loads(said)["value"]
    assert counted["by_dbos"] == 0
    assert 0 < counted["steps"] - counted["effects"] <= RECORDS
