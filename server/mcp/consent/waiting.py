"""Questions that wait for their answer in another call: the protocol without sessions asks in its replies.

What waits is kept in the database and not by the client, which gets a name for it that is good once, for the same user,
tool and arguments: an approval can be neither forged nor used again, and any server of the database takes it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, JsonValue

from flows.document import JsonObject
from runtime.database.database import Database
from tools.approvals import Approval

SECONDS: Final = 900.0
"""How long a question waits."""

KEPT: Final = 200
"""How many questions of a user wait; those that end first are dropped first."""


class Waiting(BaseModel):
    """A call that waits.

    Attributes:
        question: what is asked.
        given: what was approved before.
        changeable: whether the text that is asked about can be approved with other words.
        done: what of a batch is done.
    """

    model_config = ConfigDict(frozen=True)

    question: Approval
    given: tuple[Approval, ...] = ()
    changeable: bool = False
    done: Sequence[dict[str, JsonValue]] = ()

    @property
    def steps(self) -> Sequence[JsonObject]:
        """What of a batch is done, as the results of its actions."""
        return self.model_dump(mode="json")["done"]


class WaitingCalls:
    """The calls that wait. Every method may raise `StoreUnavailable` or `SecretKeyUnavailable`.

    Args:
        database: where they are kept, encrypted.
        clock: the time in seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    async def add(self, user: str, tool: str, arguments: Mapping[str, Any], waiting: Waiting) -> str:
        """Keep a call; returns the name under which it is taken up again.

        Args:
            user: who called.
            tool: the tool.
            arguments: what it was given.
            waiting: the call.
        """
        from server.mcp.consent.rows import CallRows

        name, now = secrets.token_urlsafe(24), int(self._clock())
        call, until = _call(tool, arguments), now + int(SECONDS)
        document = await asyncio.to_thread(self._database.documents.seal_text, waiting.model_dump_json())
        rows = CallRows(self._database, user)
        await rows.add(_digest(name), call, document, now=now, until=until, kept=KEPT)
        return name

    async def take(self, name: str, user: str, tool: str, arguments: Mapping[str, Any]) -> Waiting | None:
        """The call of this name, which is then forgotten; None if there is none for this user, tool and arguments."""
        from server.mcp.consent.rows import CallRows

        found = await CallRows(self._database, user).take(_digest(name))
        if found is None or found.call != _call(tool, arguments) or found.until <= self._clock():
            return None
        document = await asyncio.to_thread(self._database.documents.unseal_text, found.document)
        return Waiting.model_validate_json(document)


def _call(tool: str, arguments: Mapping[str, Any]) -> str:
    return _digest(json.dumps([tool, arguments], sort_keys=True))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
