"""MCP over HTTP, inside the server's own boundary: started by the first request, and ended with the server."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from server.error_body import error_json
from server.json_response import JsonResponse
from server.mcp.consent.baselines import Baselines
from server.mcp.consent.waiting import WaitingCalls
from server.mcp.transports.headers import SESSION_HEADER
from server.mcp.visitor import Visitor
from server.state import ServerState

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from server.mcp.subscriptions import Subscriptions
    from server.mcp.tools.tool import Group

CLOSE_SECONDS: Final = 1.0
"""How long open sessions may take to end."""

IDLE_SECONDS: Final = 1_800.0
"""How long a session may do nothing."""

SESSIONS: Final = 1_000
"""How many sessions there may be."""

VISITOR: Final = "wirewright.mcp"
"""The key of a scope under which the visitor stands."""

log = logging.getLogger(__name__)


class _Endpoint:
    """One of the servers, in a task of its own: sessions belong to the task that began them.

    Args:
        service: what the endpoints share.
        group: which tools; None for all.
    """

    def __init__(self, service: McpService, group: Group | None) -> None:
        self._service = service
        self._group: Group | None = group
        self._ready = asyncio.Event()
        self._managers: tuple[StreamableHTTPSessionManager, StreamableHTTPSessionManager] | None = None
        self.task = asyncio.create_task(self._run(), name="mcp")

    async def _run(self) -> None:
        from mcp.server.context import ServerRequestContext
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings

        from server.mcp.protocol import McpServer

        def visitor_of(context: ServerRequestContext[Any, Any]) -> Visitor:
            return cast("Request", context.request).scope[VISITOR]

        service = self._service
        server = McpServer(self._group, visitor_of, service.subscriptions(), service.baselines, service.waiting).server
        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # the server's own check does it
        limit = service.state.settings.body_limit
        with_sessions, without = (
            StreamableHTTPSessionManager(
                server,
                stateless=stateless,
                security_settings=unchecked,
                max_request_body_size=limit,
                session_idle_timeout=IDLE_SECONDS,
                max_sessions=SESSIONS,
            )
            for stateless in (False, True)
        )
        async with with_sessions.run(), without.run():
            self._managers = with_sessions, without
            self._ready.set()
            await service.stopping.wait()

    async def manager(self, *, sessions: bool) -> StreamableHTTPSessionManager:
        """What answers requests, with sessions or without."""
        waiting = asyncio.ensure_future(self._ready.wait())
        await asyncio.wait({waiting, self.task}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._managers is None:
            await self.task  # raises what went wrong
            raise asyncio.CancelledError
        return self._managers[0 if sessions else 1]


class McpService:
    """The MCP of one HTTP server. Nothing is imported or started before the first request.

    Args:
        state: what the routes share.

    Attributes:
        state: the same.
        stopping: set when the server stops.
        baselines: what the user's flows held before clients worked on them.
        waiting: the calls that wait for an answer.
    """

    def __init__(self, state: ServerState) -> None:
        self.state = state
        self.stopping = state.stopping
        self.baselines = Baselines(state.assistant.database)
        self.waiting = WaitingCalls(state.assistant.database)
        self._subscriptions: Subscriptions | None = None
        self._endpoints: dict[Group | None, _Endpoint] = {}
        state.drain.on_begin.append(self.end_streams)

    def subscriptions(self) -> Subscriptions:
        """The clients that are notified of changes."""
        if self._subscriptions is None:
            from server.mcp.subscriptions import Subscriptions

            self._subscriptions = Subscriptions(self.state.flow_changes)
        return self._subscriptions

    def end_streams(self) -> None:
        """End the streams that last as long as their clients want."""
        if self._subscriptions is not None:
            self._subscriptions.close()

    async def answer(self, group: Group | None, visitor: Visitor, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request.

        Args:
            group: which of the two servers; None for both in one.
            visitor: who sends it.
            scope: the request, as ASGI has it.
            receive: gives its body.
            send: takes the response.
        """
        from server.mcp.transports.principal import Principal

        endpoint = self._endpoints.get(group)
        if endpoint is None or endpoint.task.done():
            endpoint = self._endpoints[group] = _Endpoint(self, group)
        receive, sessions = await _wants_session(scope, receive, self.state.settings.body_limit)
        manager = await endpoint.manager(sessions=sessions)
        scope = {**scope, "user": Principal(visitor.caller.user), VISITOR: visitor}
        has_begun = has_ended = False

        async def tracked(message: Message) -> None:
            nonlocal has_begun, has_ended
            has_begun = True
            has_ended = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        async with anyio.create_task_group() as tasks:

            async def stop() -> None:
                await self.stopping.wait()
                tasks.cancel_scope.cancel()

            tasks.start_soon(stop)
            await manager.handle_request(scope, receive, tracked)
            tasks.cancel_scope.cancel()
        if not has_begun:
            error = error_json("stopping", "The server is stopping.", "Try again when it is back.")
            await JsonResponse(error, 503)(scope, receive, send)
        elif not has_ended:  # a stream that the stop has cut ends as streams do
            await send({"type": "http.response.body", "body": b""})
        if scope["method"] == "DELETE" and self._subscriptions is not None:
            self._subscriptions.forget(visitor.client(""))

    async def aclose(self) -> None:
        """End every session, within limits."""
        self.end_streams()
        await self.state.flow_changes.aclose()
        tasks = [endpoint.task for endpoint in self._endpoints.values() if not endpoint.task.done()]
        self.stopping.set()
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=CLOSE_SECONDS)
        for task in late:
            log.warning("mcp.sessions.late")
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=CLOSE_SECONDS)


async def _wants_session(scope: Scope, receive: Receive, limit: int) -> tuple[Receive, bool]:
    """Whether a request belongs to a session or begins one, and what gives its body from the beginning.

    Clients of the versions with sessions may leave sessions out; then each of their requests stands for itself.
    """
    headers = Headers(scope=scope)
    if scope["method"] != "POST" or headers.get(SESSION_HEADER) is not None:
        return receive, True
    messages: list[Message] = []
    body = bytearray()
    while len(body) <= limit:
        message = await receive()
        messages.append(message)
        body += message.get("body", b"")
        if message["type"] != "http.request" or not message.get("more_body", False):
            break

    async def again() -> Message:
        return messages.pop(0) if messages else await receive()

    return again, _method(bytes(body)) in (None, "initialize")


def _method(body: bytes) -> str | None:
    """The method that a body calls; None when it cannot be read."""
    try:
        document: object = from_json(body)
    except ValueError:
        return None
    method = cast("dict[str, object]", document).get("method") if isinstance(document, dict) else None
    return method if isinstance(method, str) else None
