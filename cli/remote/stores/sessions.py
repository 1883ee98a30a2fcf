"""What the runs of a stored flow remember on a server, as `wirewright flow sessions` asks for it."""

import asyncio

from cli.errors import CommandError
from cli.remote.connection import Server, segment
from cli.remote.stores.flows import FLOWS
from runtime.sessions.entry import SessionEntry
from runtime.sessions.messages import Message
from server.routes.flows.sessions import SessionMessages, SessionPage

_PAGE = 200
"""Sessions that a page has at most."""


class RemoteSessions:
    """The sessions of stored flows on a server, which knows the user by the token.

    Args:
        server: the server.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    async def entries(self, _: str, flow: str, /) -> list[SessionEntry]:
        """The sessions of a flow, last used first."""
        return await asyncio.to_thread(self._entries, flow)

    async def messages(self, _: str, flow: str, session: str, /) -> list[Message]:
        """The messages of a session, oldest first; none when there is no such session."""
        try:
            found = await asyncio.to_thread(self._server.read, SessionMessages, _place(flow, session))
        except CommandError as error:
            if error.code == "session_not_found":
                return []
            raise
        return found.messages

    async def remove(self, _: str, flow: str, session: str, /) -> bool:
        """Forget a session; returns whether there was one."""
        try:
            await asyncio.to_thread(self._server.send, "DELETE", _place(flow, session))
        except CommandError as error:
            if error.code == "session_not_found":
                return False
            raise
        return True

    async def remove_flow(self, _: str, flow: str, /) -> int:
        """Forget all sessions of a flow; returns how many."""
        count = len(await asyncio.to_thread(self._entries, flow))
        await asyncio.to_thread(self._server.send, "DELETE", _place(flow))
        return count

    def _entries(self, flow: str) -> list[SessionEntry]:
        found: list[SessionEntry] = []
        while True:
            page = self._server.read(SessionPage, _place(flow), {"limit": _PAGE, "offset": len(found)})
            found += page.sessions
            if page.next is None or not page.sessions:
                return found


def _place(flow: str, session: str | None = None) -> str:
    place = f"{FLOWS}/{segment(flow)}/sessions"
    return place if session is None else f"{place}/{segment(session)}"
