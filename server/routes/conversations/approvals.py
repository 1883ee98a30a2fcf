"""What waits for the user's decision, in all conversations."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.endings import question
from agent.contract.model import Received
from agent.contract.questions import Question
from agent.conversation.resuming import moved_on
from flows.document import Flow
from server.access.caller import Caller, caller_of
from server.json_response import JsonResponse
from server.requests.operation import operation
from server.store.flows import FlowNotStored

PAGE: Final = 100
"""How many conversations are looked through at a time."""


class WaitingConversation(Received):
    """A conversation that waits for the user.

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


class WaitingApprovals(Received):
    """What waits for the user, the longest first."""

    conversations: list[WaitingConversation]


@operation(WaitingApprovals)
async def waiting(request: Request) -> Response:
    """The questions that wait for the user's answer, in all conversations."""
    caller = caller_of(request)
    memory, found = caller.assistant.memory, list[WaitingConversation]()
    offset, total = 0, 1
    while offset < total:
        entries, total = await memory.transcripts.page(caller.id, PAGE, offset)
        offset += PAGE
        for entry in entries:
            pending = (await memory.load(caller.id, entry.id)).pending if entry.waiting else None
            if pending is None:
                continue
            canvas = await _flow(caller, entry.flow_id)
            gone = moved_on(pending, Flow.empty() if canvas is None else canvas) if entry.flow_id else {}
            found.append(
                WaitingConversation(
                    session_id=entry.id,
                    title=entry.title,
                    flow_id=entry.flow_id,
                    since=entry.updated_at,
                    questions=[question(call, one, pending.canvas) for call, one in pending.asked.items()],
                    withdrawn=sorted(gone),
                )
            )
    return JsonResponse(WaitingApprovals(conversations=sorted(found, key=lambda one: one.since)))


async def _flow(caller: Caller, flow_id: str | None) -> Flow | None:
    """The stored flow as it is now; None if it was removed."""
    if flow_id is None:
        return None
    try:
        return (await (await caller.flows()).get(flow_id)).flow
    except FlowNotStored:
        return None


routes = [Route("/api/v1/agentic/approvals", waiting, methods=["GET"])]
