"""Conversations over HTTP: listed, read, renamed, deleted, and taken back to a message."""

from __future__ import annotations

from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.endings import question
from agent.conversation.transcript.parts import TranscriptEntry
from flows.fields.keys import without_keys
from server.access.caller import Caller, caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.body import read_object, validated
from server.requests.operation import operation
from server.requests.page import PageQuery, clean_text, paging, queried
from server.routes.conversations.models import (
    Conversation,
    ConversationPage,
    ConversationQuery,
    ConversationStanding,
    MessagePage,
    NewTitle,
    RewindRequest,
    Rewound,
)
from server.routes.conversations.rewinding import PATH, take_back


class Conversations(HTTPEndpoint):
    """All conversations of a user."""

    @operation(ConversationPage, query=ConversationQuery)
    async def get(self, request: Request) -> Response:
        """One page of them, last changed first: those in whose title or preview `q` stands, or about one flow."""
        caller, asked = caller_of(request), queried(ConversationQuery, request)
        transcripts = caller.assistant.memory.transcripts
        found, total = await transcripts.page(caller.id, asked.limit, asked.offset, asked.q, asked.flow)
        shown = [_shown(caller, one) for one in found]
        return JsonResponse(ConversationPage.model_validate({"conversations": shown, **paging(request, asked, total)}))


class OneConversation(HTTPEndpoint):
    """One conversation."""

    @operation(MessagePage, query=PageQuery)
    async def get(self, request: Request) -> Response:
        """The conversation with one page of its messages, oldest first."""
        caller, asked = caller_of(request), queried(PageQuery, request)
        entry = await _entry(caller, request)
        transcripts = caller.assistant.memory.transcripts
        messages, total = await transcripts.messages(caller.id, entry.id, asked.limit, asked.offset)
        page = {"conversation": _shown(caller, entry), "messages": messages, **paging(request, asked, total)}
        return JsonResponse(MessagePage.model_validate(page))

    @operation(Conversation, body=NewTitle)
    async def patch(self, request: Request) -> Response:
        """Give it another title."""
        caller = caller_of(request)
        entry = await _entry(caller, request)
        title = validated(NewTitle, await read_object(request, caller.settings.body_limit)).title
        await caller.assistant.memory.transcripts.retitle(caller.id, entry.id, without_keys(title))
        return JsonResponse(_shown(caller, await _entry(caller, request)))

    @operation(errors=(409,))
    async def delete(self, request: Request) -> Response:
        """Delete it, with what its runs remember; a turn of it that still runs is deleted when it ends."""
        caller = caller_of(request)
        entry = await _entry(caller, request)
        await _not_elsewhere(caller, entry)
        await caller.assistant.forget(caller.id, entry.id)
        await caller.state.turns.forget(caller.id, entry.id)
        return Response(status_code=204)


@operation(ConversationStanding)
async def standing(request: Request) -> Response:
    """How it stands: what waits for an answer, and the canvas that it keeps."""
    caller = caller_of(request)
    entry = await _entry(caller, request)
    state = await caller.assistant.memory.load(caller.id, entry.id)
    pending, offer = state.pending, state.offers.open
    asked = [] if pending is None else [question(call, one, pending.canvas) for call, one in pending.unanswered.items()]
    return JsonResponse(
        ConversationStanding(
            running=await _is_running(caller, entry.id),
            approvals=asked,
            proposal=None if offer is None else offer.flow,
            proposal_id=None if offer is None else offer.id,
            canvas=state.canvas,
            language=next((turn.language for turn in reversed(state.turns) if turn.language), "en"),
        )
    )


@operation(Rewound, body=RewindRequest, errors=(409,))
async def rewind(request: Request) -> Response:
    """Take back a message and everything after it, as if it had not been sent; with `flow`, its flow as well."""
    caller = caller_of(request)
    entry = await _entry(caller, request)
    asked = validated(RewindRequest, await read_object(request, caller.settings.body_limit))
    taken = await take_back(caller, entry.id, asked.message, with_flow=asked.flow)
    now = _shown(caller, await _entry(caller, request), running=False)
    return JsonResponse(Rewound(conversation=now, removed=taken.removed, message=taken.message, flow=taken.flow))


async def _is_running(caller: Caller, session: str) -> bool:
    """Whether a turn of a conversation goes on here, or waits for a worker or goes on there."""
    if caller.assistant.queue.busy(caller.id, session):
        return True
    return caller.settings.queues_turns and await caller.state.turns.running(caller.id, session) is not None


async def _not_elsewhere(caller: Caller, entry: TranscriptEntry) -> None:
    """Refuse what a turn on another server would undo when it saves the conversation.

    Raises:
        ApiError: 409, one runs there.
    """
    if await caller.state.turns.runs_elsewhere(caller.id, entry.id):
        fix = "Wait until it has ended, or stop it there."
        raise ApiError(409, "runs_elsewhere", "Another server with this database takes a turn of it.", fix)


def _shown(caller: Caller, entry: TranscriptEntry, *, running: bool | None = None) -> Conversation:
    if running is None:
        running = caller.assistant.queue.busy(caller.id, entry.id)
    return Conversation(**entry.model_dump(), running=running)


async def _entry(caller: Caller, request: Request) -> TranscriptEntry:
    """The conversation in the address.

    Raises:
        ApiError: 404, there is none.
    """
    session: str = request.path_params["session"]
    known = session == clean_text(session)
    found = await caller.assistant.memory.transcripts.entry(caller.id, session) if known else None
    if found is None:
        shown = session if len(session) <= 80 else f"{session[:80]}…"
        fix = f"GET {PATH} lists the conversations."
        raise ApiError(404, "conversation_not_found", f"There is no conversation {shown!r}.", fix)
    return found


routes = [
    Route(PATH, Conversations),
    Route(f"{PATH}/{{session:path}}/rewind", rewind, methods=["POST"]),
    Route(f"{PATH}/{{session:path}}/state", standing, methods=["GET"]),
    Route(f"{PATH}/{{session:path}}", OneConversation),
]
