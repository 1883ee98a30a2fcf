"""The conversations that wait for their user, and questions that are taken back without a turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from agent.contract.endings import question
from agent.contract.model import Received
from agent.contract.questions import Question
from agent.conversation.memory import Memory
from agent.conversation.pending.resuming import moved_on, withdraw_expired
from flows.document import Flow

PAGE: Final = 100
"""How many conversations are looked through at a time."""


class WaitingConversation(Received):
    """A conversation that waits for its user.

    Attributes:
        session_id: the conversation.
        title: what it is called.
        flow_id: the stored flow that it is about; null if there is none.
        since: since when it waits, ISO 8601 in UTC.
        questions: what it asks, as `complete` did.
        withdrawn: the ids of those that no longer fit the stored flow: a yes to them does nothing.
    """

    session_id: str
    title: str
    flow_id: str | None
    since: str
    questions: list[Question]
    withdrawn: list[str]


async def waiting_approvals(
    memory: Memory, user: str, days: float, flow: Callable[[str], Awaitable[Flow | None]]
) -> list[WaitingConversation]:
    """The conversations of a user that wait, the longest first; what has waited for too long waits no more.

    Args:
        memory: where conversations are stored.
        user: whose they are.
        days: for how many days a question waits.
        flow: reads a stored flow; None for one that was removed.

    Raises:
        AssistantUnavailable: they cannot be read.
    """
    found: list[WaitingConversation] = []
    offset, total = 0, 1
    while offset < total:
        entries, total = await memory.transcripts.page(user, PAGE, offset)
        offset += PAGE
        for entry in entries:
            if not entry.waiting:
                continue
            state = await memory.load(user, entry.id)
            withdraw_expired(state, days)
            pending = state.pending
            if pending is None:
                continue
            canvas = None if entry.flow_id is None else await flow(entry.flow_id)
            gone = moved_on(pending, canvas or Flow.empty()) if entry.flow_id else {}
            asked = [question(call, one, pending.canvas) for call, one in pending.asked.items()]
            found.append(
                WaitingConversation(
                    session_id=entry.id,
                    title=entry.title,
                    flow_id=entry.flow_id,
                    since=entry.updated_at,
                    questions=asked,
                    withdrawn=sorted(gone),
                )
            )
    return sorted(found, key=lambda one: one.since)


async def withdraw(memory: Memory, user: str, session: str) -> int:
    """Take back the questions that wait in a conversation: nothing of them is done. No turn of it may run meanwhile.

    Returns:
        How many there were.

    Raises:
        AssistantUnavailable: the conversation cannot be read or written.
    """
    state = await memory.load(user, session)
    if state.pending is None:
        return 0
    left = state.pending.unanswered
    state.note_answers(dict.fromkeys(left, "withdrawn"))
    state.pending = None
    await memory.save(user, session, state)
    return len(left)
