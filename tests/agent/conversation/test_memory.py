"""Conversations in the process or in the database: the same laws for both."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from pydantic_ai import ToolApproved

from agent.conversation.in_process import ProcessMemory
from agent.conversation.memory import ConversationState, Exchange, Memory, Pending
from agent.conversation.stored import StoredMemory
from agent.errors import AssistantUnavailable
from flows.actions import Configure
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.database.database import Database
from runtime.telemetry import event_fields
from tests.shared.scripted_assistant import ScriptedModel, assistant, play
from tools.approvals import EditApproval, PlanApproval
from tools.undo_stack import TurnChanges, UndoStack

pytestmark = pytest.mark.anyio
Kept = Callable[[int], Memory]


@pytest.fixture(params=["process", "sqlite", "postgres"])
async def kept(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Kept]:
    in_postgres = request.param == "postgres"
    database = Database(request.getfixturevalue("postgres").schema() if in_postgres else url(tmp_path))

    def make(sessions: int = 100) -> Memory:
        return ProcessMemory(sessions) if request.param == "process" else StoredMemory(database, sessions)

    yield make
    await database.aclose()


def url(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder / 'data' / 'c.db'}"


def waiting() -> Pending:
    return Pending(
        text="Whisper",
        intent="build_flow",
        messages=[],
        approvals={
            "a": EditApproval(edit=Configure("N-1", "f", "x", "y"), reason="r"),
            "b": PlanApproval(markdown="# Plan"),
        },
        answers={"a": ToolApproved(override_args={"x": 1})},
        canvas=Flow.empty(),
    )


def changes() -> UndoStack:
    return UndoStack(done=[TurnChanges(turn=1, actions=[Configure("N-1", "f", "x", "y")])])


async def test_an_unknown_conversation_is_empty(kept: Kept) -> None:
    assert await kept(3).load("u", "s") == ConversationState()
    await kept(3).forget("u", "s")


async def test_a_conversation_is_loaded_as_it_was_saved(kept: Kept) -> None:
    memory = kept(3)
    session = ConversationState(pending=waiting(), dismissed_plan="# Old", undo_stack=changes())
    session.record(Exchange(user="u", assistant="a"))
    await memory.save("u", "s", session)
    again = await memory.load("u", "s")
    assert again == session
    assert again.pending is not None
    assert (list(again.pending.unanswered), again.pending.plan) == (["b"], "# Plan")
    await memory.forget("u", "s")
    assert await memory.load("u", "s") == ConversationState()


async def test_a_loaded_conversation_is_a_copy(kept: Kept) -> None:
    memory = kept(3)
    await memory.save("u", "s", ConversationState())
    (await memory.load("u", "s")).record(Exchange(user="u", assistant="a"))
    assert (await memory.load("u", "s")).turns == []


async def test_the_least_recently_used_conversation_is_dropped_first(kept: Kept) -> None:
    memory = kept(2)
    plan = ConversationState(dismissed_plan="x")
    await memory.save("u", "1", plan)
    await memory.save("u", "2", plan)
    await memory.load("u", "1")
    await memory.save("u", "3", plan)
    left = [(await memory.load("u", name)) == plan for name in ("1", "2", "3")]
    assert left == [True, False, True]


async def test_a_conversation_that_waits_for_an_answer_is_never_dropped(kept: Kept) -> None:
    memory = kept(2)
    asked, offered = ConversationState(pending=waiting()), ConversationState()
    offered.offers.add(1, Flow.empty(), Flow.empty())
    await memory.save("u", "asked", asked)
    await memory.save("u", "offered", offered)
    plain = ConversationState(dismissed_plan="x")
    for number in range(5):
        await memory.save("u", str(number), plain)
    assert (await memory.load("u", "asked"), await memory.load("u", "offered")) == (asked, offered)
    for name in ("asked", "offered"):
        await memory.save("u", name, plain)  # both are answered
    for number in range(5, 8):
        await memory.save("u", str(number), plain)
    left = [(await memory.load("u", name)) == ConversationState() for name in ("asked", "offered", "6", "7")]
    assert left == [True, True, False, False]


async def test_nobody_crowds_out_the_conversations_of_others(kept: Kept) -> None:
    memory = kept(2)
    plan = ConversationState(dismissed_plan="x")
    await memory.save("u", "1", plan)
    for number in range(5):
        await memory.save("v", str(number), plan)
    assert await memory.load("u", "1") == plan
    assert [(await memory.load("v", str(number))) == plan for number in range(5)] == [False, False, False, True, True]


async def test_many_saves_at_once_lose_none(kept: Kept) -> None:
    memory = kept(50)
    await asyncio.gather(*(memory.save("u", str(n), ConversationState(dismissed_plan=str(n))) for n in range(20)))
    found = [(await memory.load("u", str(n))).dismissed_plan for n in range(20)]
    assert found == [str(n) for n in range(20)]


async def test_a_stored_conversation_outlives_the_process(tmp_path: Path) -> None:
    first, second = Database(url(tmp_path)), Database(url(tmp_path))
    await StoredMemory(first).save("u", "s", ConversationState(dismissed_plan="x"))
    assert (await StoredMemory(second).load("u", "s")).dismissed_plan == "x"
    await first.aclose()
    await second.aclose()


async def test_an_unreadable_conversation_is_logged_and_never_overwritten(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory, file = StoredMemory(database := Database(url(tmp_path))), tmp_path / "data" / "c.db"
    await memory.save("u", "s", ConversationState(dismissed_plan="x"))
    unreadable = '{"turns": 7}'
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("update conversations set document = ?", (unreadable,))
    assert await memory.load("u", "s") == ConversationState()
    [event] = [record for record in caplog.records if record.name == "wirewright"]
    assert (event.getMessage(), event.levelname) == (
        "assistant.conversation_buffer.session_unreadable",
        "WARNING",
    )
    assert event_fields(event) == {"user_id": "u", "session_id": "s", "errors": 1}
    assert await memory.save("u", "s", ConversationState(dismissed_plan="y")) == 1
    assert (await memory.load("u", "s")).dismissed_plan == "y"
    with closing(sqlite3.connect(file)) as connection:
        documents = connection.execute("select document from conversations where set_aside != ''").fetchall()
    assert documents == [(unreadable,)]
    await memory.forget("u", "s")
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("select count(*) from conversations").fetchone() == (0,)
    await database.aclose()


async def test_an_unusable_database_is_an_error_for_the_user() -> None:
    with pytest.raises(AssistantUnavailable) as refused:
        await StoredMemory(Database("sqlite+aiosqlite:////dev/null/c.db")).load("u", "s")
    assert refused.value.error.code == "memory_unavailable"


class SlowForOne(ProcessMemory):
    """Loads one conversation only when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = anyio.Event()

    async def load(self, user: str, session: str) -> ConversationState:
        if session == "slow":
            await self.let.wait()
        return await super().load(user, session)


async def test_a_conversation_that_is_slow_to_load_keeps_no_other_one_waiting(catalogue: Catalogue) -> None:
    memory = SlowForOne()
    who = assistant(catalogue, ScriptedModel("question", "A.", "question", "B."), memory=memory)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: play(who, "one", session="slow"))
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(20):
            assert (await play(who, "two", session="quick")).text == "A."
        memory.let.set()
