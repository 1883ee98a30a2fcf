"""Questions that wait for their answer in another call: the protocol without sessions asks in its replies.

What waits is kept here and not by the client, which gets a name for it that is good once, for the same user, tool and
arguments: an approval can be neither forged nor used again.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flows.document import JsonObject
from tools.approvals import Approval

SECONDS: Final = 900.0
"""How long a question waits."""

KEPT: Final = 1_000
"""How many questions of all users wait; the oldest is dropped first."""


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A call that waits.

    Attributes:
        question: what is asked.
        given: what was approved before.
        done: what of a batch is done.
    """

    question: Approval
    given: tuple[Approval, ...]
    done: Sequence[JsonObject]


class WaitingCalls:
    """The calls that wait in this process.

    Args:
        clock: a clock that never goes back, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, tuple[str, float, Waiting]] = OrderedDict()

    def add(self, user: str, tool: str, arguments: Mapping[str, Any], waiting: Waiting) -> str:
        """Keep a call; returns the name under which it is taken up again.

        Args:
            user: who called.
            tool: the tool.
            arguments: what it was given.
            waiting: the call.
        """
        name = secrets.token_urlsafe(24)
        self._kept[name] = (_digest(user, tool, arguments), self._clock() + SECONDS, waiting)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return name

    def take(self, name: str, user: str, tool: str, arguments: Mapping[str, Any]) -> Waiting | None:
        """The call of this name, which is then forgotten; None if there is none for this user, tool and arguments."""
        digest, until, waiting = self._kept.pop(name, ("", 0.0, None))
        return waiting if digest == _digest(user, tool, arguments) and until > self._clock() else None


def _digest(user: str, tool: str, arguments: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps([user, tool, arguments], sort_keys=True).encode()).hexdigest()
