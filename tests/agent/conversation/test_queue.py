"""One turn of a conversation at a time: the next message waits, and only too many are refused."""

import anyio
import pytest

from agent.assistant import Assistant
from agent.conversation.queue import WAITING
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnError, TurnResult
from agent.turn.stream import TurnStream
from flows.catalogue import Catalogue
from server.errors import turn_failed
from tests.shared.scripted_assistant import ScriptedModel, assistant, play
from tools.events import Progress

pytestmark = pytest.mark.anyio


async def until_it_waits(stream: TurnStream) -> None:
    async for event in stream:
        if isinstance(event, Progress) and event.message.startswith("Waiting for"):
            return
    raise AssertionError("it did not wait")


async def result_of(stream: TurnStream) -> TurnResult:
    results = [event.result async for event in stream if isinstance(event, TurnEnded)]
    return results[-1]


def blocked(catalogue: Catalogue, answers: int) -> tuple[Assistant, ScriptedModel]:
    replies = [reply for number in range(answers) for reply in ("question", f"Answer {number}.")]
    model = ScriptedModel(*replies, blocks_at=1)
    return assistant(catalogue, model), model


async def test_messages_are_answered_in_the_order_in_which_they_came(catalogue: Catalogue) -> None:
    who, model = blocked(catalogue, WAITING + 1)
    results, errors = list[TurnResult](), list[TurnError | None]()
    async with anyio.create_task_group() as tasks:

        async def first() -> None:
            results.append(await play(who, "u0"))

        async def later(number: int, queued: anyio.Event) -> None:
            async with who.turn(TurnRequest(text=f"u{number}")) as stream:
                await until_it_waits(stream)
                queued.set()
                results.append(await result_of(stream))

        tasks.start_soon(first)
        await model.blocked.wait()
        for number in range(1, WAITING + 1):
            queued = anyio.Event()
            tasks.start_soon(later, number, queued)
            await queued.wait()
        errors.append((await play(who, "one too many")).error)
        model.released.set()
    [error] = errors
    assert error is not None
    assert error.code == "queue_full"
    assert f"{WAITING} messages of this conversation are waiting already" in error.message
    assert turn_failed(error, 90).status == 429
    assert [result.text for result in results] == [f"Answer {number}." for number in range(WAITING + 1)]
    turns = (await who.memory.load("local", "default")).turns
    assert [turn.user for turn in turns] == [f"u{number}" for number in range(WAITING + 1)]


async def test_a_message_right_after_an_answer_is_never_refused_and_does_not_wait(catalogue: Catalogue) -> None:
    who = assistant(catalogue, ScriptedModel(*["question", "An answer."] * 12))
    for _ in range(12):
        async with who.turn(TurnRequest(text="What?")) as stream:
            async for event in stream:
                assert not (isinstance(event, Progress) and event.message.startswith("Waiting"))
                if isinstance(event, TurnEnded):
                    assert who.queue.waiting("local", "default") == 0
                    break  # the next message is sent while the stream is still open


async def test_other_conversations_and_users_do_not_wait(catalogue: Catalogue) -> None:
    who, model = blocked(catalogue, 1)
    outcomes = list[str]()
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(play, who, "first")
            await model.blocked.wait()
            outcomes.append((await play(who, "undo", session="other")).outcome)
            outcomes.append((await play(who, "undo", user="bob")).outcome)
            model.released.set()
    assert outcomes == ["complete", "complete"]


async def test_a_waiting_message_that_is_stopped_leaves_the_queue(catalogue: Catalogue) -> None:
    who, model = blocked(catalogue, 2)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(play, who, "first")
        await model.blocked.wait()
        async with who.turn(TurnRequest(text="stopped")) as stream:
            await until_it_waits(stream)
        assert who.queue.waiting("local", "default") == 0
        model.released.set()
    assert (await play(who, "next")).outcome == "complete"
    turns = (await who.memory.load("local", "default")).turns
    assert [turn.user for turn in turns] == ["first", "next"]


@pytest.mark.parametrize("waiting", [False, True])
async def test_a_conversation_that_is_deleted_while_a_turn_runs_stays_deleted(
    catalogue: Catalogue, *, waiting: bool
) -> None:
    who, model = blocked(catalogue, 2 if waiting else 1)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(play, who, "secret plans")
        await model.blocked.wait()
        if waiting:
            queued = anyio.Event()

            async def second() -> None:
                async with who.turn(TurnRequest(text="more of them")) as stream:
                    await until_it_waits(stream)
                    queued.set()
                    await result_of(stream)

            tasks.start_soon(second)
            await queued.wait()
        await who.forget("local", "default")
        model.released.set()
    assert (await who.memory.load("local", "default")).turns == []


async def test_a_message_sent_after_a_conversation_was_deleted_is_kept(catalogue: Catalogue) -> None:
    who, model = blocked(catalogue, 2)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(play, who, "before")
        await model.blocked.wait()
        await who.forget("local", "default")
        async with who.turn(TurnRequest(text="after")) as stream:
            await until_it_waits(stream)
            model.released.set()
            assert (await result_of(stream)).text == "Answer 1."
    turns = (await who.memory.load("local", "default")).turns
    assert [turn.user for turn in turns] == ["after"]


async def test_a_conversation_that_is_deleted_before_its_turn_is_stopped_stays_deleted(catalogue: Catalogue) -> None:
    who, model = blocked(catalogue, 1)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(play, who, "stopped")
        await model.blocked.wait()
        await who.forget("local", "default")
        tasks.cancel_scope.cancel()
    assert (await who.memory.load("local", "default")).turns == []
