"""Conversations, kept in the process or in a file: the same laws for both."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic_ai import ToolApproved

from agent.conversation.memory import ConversationState, Exchange, Memory, Pending, ProcessMemory
from agent.conversation.sqlite import FileMemory
from flows.actions import Configure
from flows.document import Flow
from tools.approvals import EditApproval, PlanApproval

pytestmark = pytest.mark.anyio
Kept = Callable[[int], Memory]


@pytest.fixture(params=["process", "file"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    def make(sessions: int = 100) -> Memory:
        if request.param == "process":
            return ProcessMemory(sessions)
        return FileMemory(tmp_path / "data" / "c.sqlite", sessions)

    return make


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


async def test_what_is_not_there_is_an_empty_conversation(kept: Kept) -> None:
    assert await kept(3).load("u", "s") == ConversationState()
    await kept(3).forget("u", "s")


async def test_a_conversation_comes_back_as_it_was_saved(kept: Kept) -> None:
    memory = kept(3)
    session = ConversationState(pending=waiting(), dismissed_plan="# Old", undoable=[Configure("N-1", "f", "x", "y")])
    session.record(Exchange(user="u", assistant="a"))
    await memory.save("u", "s", session)
    again = await memory.load("u", "s")
    assert again == session
    assert again.pending is not None
    assert (list(again.pending.left), again.pending.plan) == (["b"], "# Plan")
    await memory.forget("u", "s")
    assert await memory.load("u", "s") == ConversationState()


async def test_a_loaded_conversation_is_a_copy(kept: Kept) -> None:
    memory = kept(3)
    await memory.save("u", "s", ConversationState())
    (await memory.load("u", "s")).record(Exchange(user="u", assistant="a"))
    assert (await memory.load("u", "s")).turns == []


async def test_the_conversation_unused_for_longest_goes_first(kept: Kept) -> None:
    memory = kept(2)
    plan = ConversationState(dismissed_plan="x")
    await memory.save("u", "1", plan)
    await memory.save("u", "2", plan)
    await memory.load("u", "1")
    await memory.save("v", "3", plan)
    left = [(await memory.load(user, name)) == plan for user, name in (("u", "1"), ("u", "2"), ("v", "3"))]
    assert left == [True, False, True]


async def test_many_saves_at_once_lose_none(kept: Kept) -> None:
    memory = kept(50)
    await asyncio.gather(*(memory.save("u", str(n), ConversationState(dismissed_plan=str(n))) for n in range(20)))
    found = [(await memory.load("u", str(n))).dismissed_plan for n in range(20)]
    assert found == [str(n) for n in range(20)]


async def test_a_file_outlives_its_reader_and_what_cannot_be_read_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    await FileMemory(path).save("u", "s", ConversationState(dismissed_plan="x"))
    assert (await FileMemory(path).load("u", "s")).dismissed_plan == "x"
    with sqlite3.connect(path) as file:
        file.execute("update sessions set kept = '{\"turns\": 7}'")
    assert await FileMemory(path).load("u", "s") == ConversationState()
