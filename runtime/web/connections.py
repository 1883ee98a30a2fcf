"""Connections of our servers: slow heads of requests, and clients that go on sending after their answer."""

import asyncio
import json
from http import HTTPStatus

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""How long the head of a request may take, from the connection or its first byte on."""

DISCARD_SECONDS = 5.0
"""How long the rest of a refused body is read and discarded, so that clients that send it all still read the reply."""


class Connection(H11Protocol):
    """HTTP/1.1 with a time limit for the head of each request.

    The rest of an answered request's body is discarded for a limited time, then the connection is closed.
    """

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_head_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a piece of a request."""
        if self.conn.their_state is h11.IDLE and self._head_timer is None:
            self._start_head_timer()
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_head_timer()

    def on_response_complete(self) -> None:
        """Keep the connection for the next request, if this one's body ends in time."""
        super().on_response_complete()
        if not self.transport.is_closing() and self.conn.their_state is h11.SEND_BODY:
            self.loop.call_later(DISCARD_SECONDS, self._close_if_sending, self.cycle)

    def _close_if_sending(self, answered: object) -> None:
        if self.cycle is answered and self.conn.their_state is h11.SEND_BODY:
            self.transport.close()

    def _start_head_timer(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._refuse_slow_head)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse_slow_head(self) -> None:
        """Close the connection, with an answer when a part of a head has come."""
        self._head_timer = None
        if self.transport.is_closing() or self.conn.their_state is not h11.IDLE:
            return
        if self.conn.trailing_data[0] and self.conn.our_state is h11.IDLE:
            self._answer(HTTPStatus.REQUEST_TIMEOUT, "too_slow", "The head of the request did not arrive in time.")
        self.transport.close()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  (the base class says what it thinks of the request)
        """Answer what is not HTTP, or has a head that is too long, as other errors are answered, and close."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._answer(HTTPStatus.BAD_REQUEST, "bad_request", "This is not an HTTP request, or its head is too long.")
        self.transport.close()

    def _answer(self, status: HTTPStatus, code: str, message: str) -> None:
        error = {"code": code, "message": message, "fix": "Correct it, or send it again.", "where": None}
        body = json.dumps({"error": error}, separators=(",", ":")).encode("ascii")
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
        ]
        for event in (
            h11.Response(status_code=status, headers=headers, reason=status.phrase.encode()),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
