"""Telling clients that a flow, or the list of flows, has changed."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import ListenHandler, ResourcesListChanged, ResourceUpdated, ServerEvent

from server.mcp.uris import flow_uri
from server.store.changes import FlowChanges

KEPT: Final = 1_000
"""How many sessions are notified; the oldest subscription is dropped first."""

_USER: ContextVar[str] = ContextVar("mcp_user")


class _Bus:
    """The flow changes of the user whose request is handled, as the protocol without sessions streams them."""

    def __init__(self, changes: FlowChanges) -> None:
        self._changes = changes

    async def publish(self, event: ServerEvent) -> None:
        """Nothing is published here: the store reports its changes."""

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Subscribe to changes."""

        def told(flow_id: str, listed: bool) -> None:  # noqa: FBT001  (a callback's form)
            for form in ("", "json"):
                listener(ResourceUpdated(flow_uri(flow_id, form)))
            if listed:
                listener(ResourcesListChanged())

        return self._changes.watch(_USER.get(), told)


class _Session:
    """A subscribed session.

    Args:
        session: sends to the client.
        end: ends the watch.
    """

    def __init__(self, session: ServerSession) -> None:
        self.session = session
        self.uris: set[str] = set()
        self.end: Callable[[], None] = lambda: None


class Subscriptions:
    """The clients that are notified of changes, with sessions or without.

    Args:
        changes: tells of them.
    """

    def __init__(self, changes: FlowChanges) -> None:
        self._changes = changes
        self._listening = ListenHandler(_Bus(changes))
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._sending: set[asyncio.Task[None]] = set()

    async def listen(
        self, user: str, context: ServerRequestContext[Any, Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Stream changes until the client leaves, or `close`."""
        await self._changes.prepare(user)
        _USER.set(user)
        return await self._listening(context, params)

    async def follow(self, user: str, client: str, session: ServerSession) -> _Session:
        """Notify a session of changes to the list of flows, from now on.

        Args:
            user: whose flows.
            client: names the session.
            session: sends to the client.
        """
        await self._changes.prepare(user)
        found = self._sessions.get(client)
        if found is None:
            found = self._sessions[client] = _Session(session)
            found.end = self._changes.watch(user, lambda flow, listed: self._tell(client, flow, listed=listed))
            while len(self._sessions) > KEPT:
                self._sessions.popitem(last=False)[1].end()
        found.session = session
        self._sessions.move_to_end(client)
        return found

    async def subscribe(self, user: str, client: str, session: ServerSession, uri: str) -> None:
        """Notify a session of changes to a resource, from now on."""
        (await self.follow(user, client, session)).uris.add(uri)

    def unsubscribe(self, client: str, uri: str) -> None:
        """Stop notifying a session of changes to a resource."""
        found = self._sessions.get(client)
        if found is not None:
            found.uris.discard(uri)

    def forget(self, client: str) -> None:
        """Stop notifying a session."""
        found = self._sessions.pop(client, None)
        if found is not None:
            found.end()

    def close(self) -> None:
        """End every stream."""
        self._listening.close()
        for client in list(self._sessions):
            self.forget(client)
        for task in self._sending:
            task.cancel()

    def _tell(self, client: str, flow_id: str, *, listed: bool) -> None:
        found = self._sessions[client]
        for form in ("", "json"):
            uri = flow_uri(flow_id, form)
            if uri in found.uris:
                self._send(found.session.send_resource_updated(uri))
        if listed:
            self._send(found.session.send_resource_list_changed())

    def _send(self, sending: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(sending)
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)
