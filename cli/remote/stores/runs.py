"""The runs that a server keeps, as `wirewright runs` asks for them."""

import asyncio

from agent.contract.runs import KeptRun, RunPage
from cli.remote.connection import Server, segment
from runtime.sessions.run_entry import RunEntry

RUNS = "/api/v1/runs"
_PAGE = 200
"""Runs that a page has at most."""


class RemoteRuns:
    """The log of the runs on a server, which knows the user by the token.

    Args:
        server: the server.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    async def entries(self, _: str, limit: int = _PAGE, /) -> tuple[list[RunEntry], int]:
        """The last runs, latest first, and how many there are in all."""
        return await asyncio.to_thread(self._entries, limit)

    async def remove(self, _: str, run: str | None = None, /) -> int:
        """Erase a run, or all that have ended; returns how many."""
        return await asyncio.to_thread(self._remove, run)

    def cancel(self, run: str) -> KeptRun:
        """End a run that goes on; returns it as it ended."""
        return self._server.change(KeptRun, "POST", f"{RUNS}/{segment(run)}/cancel")

    def _entries(self, limit: int) -> tuple[list[RunEntry], int]:
        found: list[RunEntry] = []
        while True:
            page = self._server.read(RunPage, RUNS, {"limit": min(limit - len(found), _PAGE), "offset": len(found)})
            found += page.runs
            if len(found) >= limit or page.next is None or not page.runs:
                return found, page.total

    def _remove(self, run: str | None) -> int:
        if run is not None:
            self._server.send("DELETE", f"{RUNS}/{segment(run)}")
            return 1
        ended = self._server.read(RunPage, RUNS, {"limit": 1}).total
        self._server.send("DELETE", RUNS)
        return ended - self._server.read(RunPage, RUNS, {"limit": 1}).total
