"""Taking back a message of a conversation, and everything after it, as if it had not been sent."""

from __future__ import annotations

from dataclasses import dataclass

from agent.conversation.transcript.parts import TranscriptMessage
from server.access.caller import Caller
from server.errors import ApiError
from server.store.flows import FlowEntry

PATH = "/api/v1/conversations"


@dataclass(frozen=True, kw_only=True)
class TakenBack:
    """What was taken back.

    Attributes:
        message: the first of the messages that were removed.
        removed: how many messages were removed.
        flow: its flow as it is now; None unless that was put back.
    """

    message: TranscriptMessage
    removed: int
    flow: FlowEntry | None


async def take_back(caller: Caller, session: str, message: str, *, with_flow: bool) -> TakenBack:
    """Remove a message and those after it.

    Args:
        caller: whose conversation it is.
        session: the conversation.
        message: the id of the message.
        with_flow: whether the stored flow that it was about is put back to what it was before it, too.

    Raises:
        ApiError: 404, there is no such message; 409, a turn runs, or the message was not about a stored flow.
        FlowNotStored: the flow was removed.
        RevisionNotKept: what the flow was then is not kept any more.
    """
    transcripts = caller.assistant.memory.transcripts
    async with caller.assistant.queue.alone(caller.id, session) as alone:
        if not alone:
            fix = "Wait until it has ended, or stop it."
            raise ApiError(409, "turn_runs", "A turn of this conversation is running.", fix)
        if await caller.state.turns.runs_elsewhere(caller.id, session):
            fix = "Wait until it has ended, or stop it."
            raise ApiError(409, "runs_elsewhere", "Another server with this database takes a turn of it.", fix)
        found = await transcripts.message(caller.id, session, message)
        if found is None:
            fix = f"GET {PATH}/{{id}} lists its messages."
            raise ApiError(404, "message_not_found", "The conversation has no such message.", fix, "$.message")
        flow = await _flow_before(caller, found) if with_flow else None
        removed = await transcripts.rewind(caller.id, session, found.id)
    return TakenBack(message=found, removed=removed, flow=flow)


async def _flow_before(caller: Caller, message: TranscriptMessage) -> FlowEntry:
    """Store a flow again as it was before a message; returns it as it is now."""
    if message.flow_id is None or message.version is None:
        fix = "Send it without `flow`; the canvas is the client's own."
        raise ApiError(409, "no_stored_flow", "The message was not about a stored flow.", fix, "$.flow")
    store = await caller.flows()
    now = (await store.get(message.flow_id)).entry
    if now.version == message.version:
        return now
    _, flow = await store.at_version(message.flow_id, message.version)
    return await store.replace(message.flow_id, flow, now.version)
