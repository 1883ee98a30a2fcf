"""AI SDK clients: a turn as a UI message stream, and the stream of one that still runs.

The chat is a conversation of ours. A message of the assistant is made of one turn, and of those that answer what it
asked: their ids begin with the message's, so that a stream can be made again from what is stored.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Final
from uuid import uuid4

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from agent.contract.model import ContractModel
from agent.contract.requests import AGENT_HEADER, TURN_HEADER, TURN_ID
from flows.document import JsonObject
from server.access.caller import Caller, caller_of
from server.errors import ApiError
from server.requests.body import read_object, validated
from server.requests.operation import operation
from server.requests.page import clean_text
from server.requests.places import named_as
from server.routes.aisdk.answers import Answers, answers_of
from server.routes.aisdk.attachments import discard, keep, read_files
from server.routes.aisdk.messages import ChatRequest, Outcomes, Sent
from server.routes.aisdk.regenerating import make_room
from server.store.turns import Lines
from server.streams.aisdk import STREAM_HEADERS, AisdkTranslation
from server.streams.response import TurnResponse
from server.streams.running import RunningTurns
from server.streams.translation import translated
from server.turns import started

PLACES: Final = {
    "$.input_value": "$.messages",
    "$.files": "$.messages",
    "$.approvals": "$.messages",
    "$.tool_results": "$.messages",
    "$.session_id": "$.id",
    "$.turn_id": "$.messages",
    "$.flow_id": "$.flowId",
    "$.model_name": "$.model",
    "$.max_retries": "$.maxRetries",
}
"""Where what a turn is asked for stands in a request of an AI SDK client."""

MOST_TURNS: Final = 100
"""Turns of one message."""

_ROOT: Final = re.compile(r"[A-Za-z0-9-]{1,60}")
"""What the id of a message looks like that its turns are named after."""


class ResumeQuery(ContractModel):
    """Asks for the stream of a chat.

    Attributes:
        turn: the turn to stream again, also when it has ended; without it, the one that runs.
    """

    turn: str | None = Field(default=None, pattern=TURN_ID)


@operation(
    dict[str, Any],
    body=ChatRequest,
    media_type="text/event-stream",
    headers=(TURN_HEADER, AGENT_HEADER),
    errors=(400, 404, 409, 413, 422, 429),
)
async def chat(request: Request) -> Response:
    """A turn as a UI message stream of the AI SDK; history and flow are the server's."""
    caller = caller_of(request)
    asked = validated(ChatRequest, await read_object(request, caller.settings.chat_body_limit, mends_text=True))
    sent = Sent.of(asked)
    outcomes = Outcomes.of(sent.assistant)
    answers = await answers_of(caller, asked, outcomes, is_continued=sent.user is None)
    attached = await asyncio.to_thread(read_files, sent.files, request.url.netloc)
    if asked.flow_id is not None:
        await (await caller.flows()).get(asked.flow_id)
    await make_room(caller, asked, sent)
    document = _document(asked, sent, answers)
    if sent.user is None:
        document["turn_id"] = await _next_turn(caller, sent.continued)
    files, new = await keep(caller.files, attached)
    try:
        with named_as(PLACES):
            running, _ = await started(caller, {**document, "files": [*files]})
    except ApiError:
        await discard(caller.files, new)
        raise
    translation = AisdkTranslation(
        running.id,
        asked.id,
        running.id if sent.user is not None else sent.continued,
        known={} if sent.user is not None else outcomes.inputs,
        answered=answers.approved,
        changed=answers.changed,
        client_tools=[tool.name for tool in asked.tools],
    )
    reader = running.join(as_client=True)
    events = caller.state.turns.read(running, reader)
    return TurnResponse(
        running.id, translated(events, translation), headers=STREAM_HEADERS, leave=lambda: running.leave(reader)
    )


@operation(
    dict[str, Any],
    query=ResumeQuery,
    media_type="text/event-stream",
    also={204: None},
    headers=(TURN_HEADER, AGENT_HEADER),
)
async def resume(request: Request) -> Response:
    """The stream of the turn of a chat that runs, from the beginning of its message; 204 when none does."""
    caller = caller_of(request)
    session = request.path_params["chat"]
    turns = caller.state.turns
    wanted = validated(ResumeQuery, dict(request.query_params)).turn
    turn = wanted or (await turns.running(caller.id, session) if session == clean_text(session) else None)
    if turn is None or not await _is_kept(turns, caller.id, turn):
        return Response(status_code=204)
    earlier = [one for one in _before(turn) if await _is_kept(turns, caller.id, one)]
    translation = AisdkTranslation(turn, session, _message(turn), turns=len(earlier) + 1)
    events = _in_order(turns, caller.id, [*earlier, turn])
    return TurnResponse(turn, translated(events, translation), headers=STREAM_HEADERS)


def _document(asked: ChatRequest, sent: Sent, answers: Answers) -> JsonObject:
    """The request of our own contract."""
    document: JsonObject = {
        "session_id": asked.id,
        "flow_id": asked.flow_id,
        "provider": asked.provider,
        "model_name": asked.model,
        "apply": asked.apply,
        "max_retries": asked.max_retries,
        "resumable": asked.resumable,
        "details": True,
        "tools": [tool.model_dump(mode="json") for tool in asked.tools],
        "tool_results": {**answers.results},
        "approvals": {call: one.model_dump(mode="json") for call, one in answers.approvals.items()},
    }
    if sent.user is not None:
        document["input_value"] = sent.text
    return document


async def _next_turn(caller: Caller, message: str) -> str:
    """The id of the next turn of a message.

    Raises:
        ApiError: 409, the message has as many turns as it may have.
    """
    root = _message(message) if _ROOT.fullmatch(_message(message)) else uuid4().hex
    for number in range(1, MOST_TURNS + 1):
        turn = f"{root}_{number}"
        turns = caller.state.turns
        if turns.get(caller.id, turn) is None and await turns.find(caller.id, turn) is None:
            return turn
    raise ApiError(409, "too_many_turns", f"The message has {MOST_TURNS} turns.", "Send a message of the user.")


def _message(turn: str) -> str:
    """The id of the message that a turn makes or continues."""
    return turn.partition("_")[0]


def _before(turn: str) -> list[str]:
    """The turns that the message of a turn had before it."""
    root, _, number = turn.partition("_")
    if not number.isdecimal() or int(number) > MOST_TURNS:
        return []
    return [root, *(f"{root}_{one}" for one in range(1, int(number)))]


async def _is_kept(turns: RunningTurns, owner: str, turn: str) -> bool:
    """Whether the events of a turn can be read."""
    if turns.get(owner, turn) is not None:
        return True
    found = await turns.find(owner, turn)
    return found is not None and not found.is_gone


async def _in_order(turns: RunningTurns, owner: str, ids: Sequence[str]) -> AsyncGenerator[Lines]:
    """The events of several turns, one after the other."""
    for turn in ids:
        async with aclosing(turns.follow(owner, turn)) as events:
            async for lines in events:
                yield lines
