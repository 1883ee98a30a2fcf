"""Connections of the server: a client that keeps sending after its answer is disconnected."""

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

DISCARD_SECONDS = 5.0
"""How long the rest of a refused body is read and discarded, so that clients that send it all still read the reply."""


class Connection(H11Protocol):
    """HTTP/1.1 that discards the rest of an answered request's body for a limited time, then closes the connection."""

    def on_response_complete(self) -> None:
        """Keep the connection for the next request, if this one's body ends in time."""
        super().on_response_complete()
        if not self.transport.is_closing() and self.conn.their_state is h11.SEND_BODY:
            self.loop.call_later(DISCARD_SECONDS, self._close_if_sending, self.cycle)

    def _close_if_sending(self, answered: object) -> None:
        if self.cycle is answered and self.conn.their_state is h11.SEND_BODY:
            self.transport.close()
