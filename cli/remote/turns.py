"""Turns on a server: streamed, resumed after a lost connection, and stopped by their ids."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from http import HTTPStatus
from typing import Final

import anyio
import httpx

from agent.contract.events import CancelledEvent, CompleteEvent, ErrorEvent, Event, read_event
from agent.contract.requests import STREAM_PATH, AssistRequest
from agent.turn.record import TurnRecord
from cli.errors import CommandError
from cli.remote.connection import Server, segment
from cli.remote.failures import failures

TURNS: Final = "/api/v1/agentic/turns"
SILENCE_SECONDS: Final = 60.0
"""How long a stream may be silent; a sign of life comes every fifteen seconds."""
WAITS: Final = (0.2, 1.0, 3.0, 8.0)
"""Seconds before each attempt to go on with a stream that was lost."""
STOP_SECONDS: Final = 10.0
"""How long stopping a turn may take."""


class RemoteTurn:
    """One turn on a server.

    Args:
        server: the server.
        request: asks for it, with a `turn_id`, resumable.

    Attributes:
        record: what was done, of a turn that was stopped.
    """

    def __init__(self, server: Server, request: AssistRequest) -> None:
        self._server = server
        self._request = request
        self._last = 0
        self._ended = False
        self.record = TurnRecord()

    async def events(self) -> AsyncGenerator[Event]:
        """The events of the turn as they come, each once. Leaving them before the last one stops the turn.

        Raises:
            CommandError: the server refuses the turn, or cannot be reached any more.
        """
        began, refused = False, False
        async with self._server.client() as client:
            try:
                for wait in (*WAITS, None):
                    try:
                        async with aclosing(self._stream(client, resumes=began)) as stream:
                            async for event in stream:
                                began = True
                                yield event
                        if self._ended:
                            return
                        lost = None
                    except CommandError as error:
                        if error.code == "turn_exists" and not began:
                            began = True  # the answer to the request was lost, not the request
                            continue
                        if error.code not in ("connection_lost", "server_timeout", "server_unreachable"):
                            refused = True
                            raise
                        refused = error.code == "server_unreachable" and not began
                        if refused:
                            raise
                        lost = error
                    if wait is None:
                        raise lost or self._lost()
                    await asyncio.sleep(wait)
            finally:
                if not refused and not self._ended:
                    await self._stop(client)

    async def _stream(self, client: httpx.AsyncClient, *, resumes: bool) -> AsyncGenerator[Event]:
        """The events of one response."""
        if resumes:
            asked = client.stream(
                "GET", f"{TURNS}/{self._turn}/events", params={"after": self._last}, timeout=SILENCE_SECONDS
            )
        else:
            body = self._request.model_dump(mode="json", exclude_none=True)
            asked = client.stream("POST", STREAM_PATH, json=body, timeout=SILENCE_SECONDS)
        with failures(self._server.origin):
            async with asked as response:
                if response.status_code == HTTPStatus.NO_CONTENT:
                    raise self._lost()
                if response.status_code >= HTTPStatus.MULTIPLE_CHOICES:
                    await response.aread()
                    raise self._server.refusal(response)
                async for line in response.aiter_lines():
                    if line.startswith("data:") and (event := read_event(line.removeprefix("data:"))) is not None:
                        yield self._received(event)

    def _received(self, event: Event) -> Event:
        """An event as a stream on this machine has it: without its number."""
        self._last = max(self._last, event.sequence or 0)
        self._ended = isinstance(event, CompleteEvent | ErrorEvent | CancelledEvent)
        if isinstance(event, CancelledEvent):
            self.record = event.record or self.record
        return event.model_copy(update={"turn_id": None, "sequence": None})

    async def _stop(self, client: httpx.AsyncClient) -> None:
        """Stop the turn, and read what it had done; a server that is gone stops it by itself after a while."""
        with anyio.CancelScope(shield=True), anyio.move_on_after(STOP_SECONDS):
            try:
                await client.post(f"{TURNS}/{self._turn}/cancel")
                async with aclosing(self._stream(client, resumes=True)) as stream:
                    async for _ in stream:
                        pass
            except (httpx.HTTPError, CommandError):
                return

    @property
    def _turn(self) -> str:
        return segment(self._request.turn_id or "")

    def _lost(self) -> CommandError:
        message = f"The connection to {self._server.origin} was lost before the turn ended."
        return CommandError("connection_lost", message, fix="Ask how it went in the same session.", where="--server")
