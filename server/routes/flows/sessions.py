"""What the runs of a stored flow remember, over HTTP: its sessions are listed, read and deleted."""

from __future__ import annotations

from starlette.endpoints import HTTPEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agent.contract.model import Page, Received
from flows.document import Json
from runtime.sessions.entry import SessionEntry
from runtime.sessions.messages import Message
from runtime.sessions.store import FlowSessions
from server.access.caller import caller_of
from server.errors import ApiError
from server.json_response import JsonResponse
from server.requests.operation import operation
from server.requests.page import PageQuery, paging, queried


class SessionPage(Page):
    """The sessions of a flow, last used first."""

    sessions: list[SessionEntry]


class SessionMessages(Received):
    """The messages of a session, oldest first."""

    session: str
    messages: list[Message]


class Sessions(HTTPEndpoint):
    """All sessions of a flow."""

    @operation(SessionPage, query=PageQuery)
    async def get(self, request: Request) -> Response:
        """One page of them, last used first."""
        asked = queried(PageQuery, request)
        entries = await _sessions(request).entries(request.user.id, await _flow_id(request))
        page = entries[asked.offset : asked.offset + asked.limit]
        return JsonResponse(SessionPage.model_validate({"sessions": page, **paging(request, asked, len(entries))}))

    @operation()
    async def delete(self, request: Request) -> Response:
        """Forget them all."""
        await _sessions(request).remove_flow(request.user.id, await _flow_id(request))
        return Response(status_code=204)


class OneSession(HTTPEndpoint):
    """One session of a flow."""

    @operation(SessionMessages)
    async def get(self, request: Request) -> Response:
        """Its messages, oldest first."""
        flow_id, session = await _flow_id(request), request.path_params["session"]
        found = await _sessions(request).messages(request.user.id, flow_id, session)
        if not found:
            raise _no_session(session)
        messages: list[Json] = [message.to_json() for message in found]
        return JsonResponse({"session": session, "messages": messages})

    @operation()
    async def delete(self, request: Request) -> Response:
        """Forget it."""
        flow_id, session = await _flow_id(request), request.path_params["session"]
        if not await _sessions(request).remove(request.user.id, flow_id, session):
            raise _no_session(session)
        return Response(status_code=204)


def _sessions(request: Request) -> FlowSessions:
    return caller_of(request).assistant.flow_sessions


async def _flow_id(request: Request) -> str:
    """The id of the stored flow in the address.

    Raises:
        FlowNotStored: there is none.
    """
    flow_id: str = request.path_params["flow_id"]
    await (await caller_of(request).flows()).get(flow_id)
    return flow_id


def _no_session(session: str) -> ApiError:
    shown = session if len(session) <= 80 else f"{session[:80]}…"
    fix = "GET /api/v1/flows/{id}/sessions lists the sessions of a flow."
    return ApiError(404, "session_not_found", f"The flow has no session {shown!r}.", fix)


routes = [
    Route("/api/v1/flows/{flow_id}/sessions", Sessions),
    Route("/api/v1/flows/{flow_id}/sessions/{session:path}", OneSession),
]
