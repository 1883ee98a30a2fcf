"""Making an answer again, or sending a message otherwise: what came of it before is taken back first."""

from __future__ import annotations

from agent.conversation.transcript.parts import TranscriptMessage
from server.access.caller import Caller
from server.errors import ApiError
from server.requests.page import clean_text
from server.routes.aisdk.messages import ChatRequest, Sent
from server.routes.conversations.rewinding import take_back

MOST: int = 10_000
"""Messages of a conversation among which one is looked for."""


async def make_room(caller: Caller, asked: ChatRequest, sent: Sent) -> None:
    """Take back the message that is sent again, with everything after it; a new message takes nothing back.

    A stored flow goes back with it, unless anything but this conversation has changed it since.

    Raises:
        ApiError: 404, the conversation has no such message; 409, a turn of it runs.
    """
    is_edited = asked.message_id is not None and sent.user is not None and asked.message_id == sent.user.id
    if asked.trigger != "regenerate-message" and not is_edited:
        return
    known = asked.id == clean_text(asked.id)
    transcripts = caller.assistant.memory.transcripts
    messages = (await transcripts.messages(caller.id, asked.id, MOST, 0))[0] if known else []
    message = _sent_again(messages, asked, sent)
    if message is not None:
        with_flow = await _is_alone(caller, asked, message)
        await take_back(caller, asked.id, message.id, with_flow=with_flow)


def _sent_again(messages: list[TranscriptMessage], asked: ChatRequest, sent: Sent) -> TranscriptMessage | None:
    """The message that is sent again; None when nothing of it is left.

    The client's name for it is not known, unless it is the assistant's: then it is the message after the last of the
    assistant's that the client still has.
    """
    first = [one for one in messages if "_" not in one.id]
    named = next((one for one in first if one.id == asked.message_id), None)
    if named is not None:
        return named
    if asked.message_id is None and (sent.before is None or asked.messages is None):
        return first[-1] if first else None
    if asked.messages is None:
        fix = "Send all messages of the chat up to it, or the id of the assistant's message."
        raise ApiError(404, "message_not_found", "The chat has no such message.", fix, "$.messageId")
    if sent.before is None:
        return first[0] if first else None
    place = next((at for at, one in enumerate(first) if one.id == sent.before), None)
    if place is None:
        fix = "Load the conversation again: its messages have other ids."
        raise ApiError(404, "message_not_found", "The chat has no such message before it.", fix, "$.messages")
    return first[place + 1] if place + 1 < len(first) else None


async def _is_alone(caller: Caller, asked: ChatRequest, message: TranscriptMessage) -> bool:
    """Whether the flow of the message was changed since by nothing but this conversation, and can be put back."""
    if message.flow_id is None or message.version is None or message.flow_id != asked.flow_id:
        return False
    store = await caller.flows()
    revisions = await store.revisions(message.flow_id)
    later = [one for one in revisions if one.version > message.version]
    return any(one.version == message.version for one in revisions) and all(one.session == asked.id for one in later)
