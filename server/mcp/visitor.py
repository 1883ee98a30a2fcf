"""Who speaks MCP with the server: a user, through one of their clients."""

from __future__ import annotations

from dataclasses import dataclass, field

from server.access.caller import Caller
from tools.mandate import Mandate


@dataclass(frozen=True)
class Visitor:
    """The user of one request over MCP.

    Attributes:
        caller: the user, with what is theirs.
        session: the session or the process that the client speaks in; empty for the protocol without sessions.
        mandate: what the client's configuration allows.
    """

    caller: Caller
    session: str = ""
    mandate: Mandate = field(default_factory=Mandate)

    def client(self, name: str) -> str:
        """What tells this client from others of the same user.

        Args:
            name: what the client calls itself.
        """
        return f"{self.caller.id}:{self.session or name[:100]}"
