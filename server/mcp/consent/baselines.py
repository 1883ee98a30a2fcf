"""What a user's flows held when an MCP client began to work on them: all that it must not change without being asked.

A client that edits a flow step by step is like one turn of the assistant: what it added itself, it may change again.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from weakref import WeakValueDictionary

from flows.document import Flow
from server.store.flows import StoredFlow

KEPT: Final = 200
"""How many flows are remembered for all clients; the one that was used least recently is dropped first."""

SECONDS: Final = 3_600.0
"""How long a client may do nothing before all of a flow counts as the user's."""


@dataclass(frozen=True)
class _Baseline:
    flow: Flow | None
    version: int
    until: float


class Baselines:
    """The flows that clients work on, as they were before; kept in this process alone.

    Nothing is lost by forgetting one: the client is then asked about more.

    Args:
        clock: a clock that never goes back, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str], _Baseline] = OrderedDict()
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    def of(self, client: str, stored: StoredFlow) -> Flow | None:
        """What of a flow is the user's: all of it, unless the last version is this client's own.

        Args:
            client: the client.
            stored: the flow as it is stored.

        Returns:
            The flow as it was before the client changed it; None when the client made it.
        """
        kept = self._kept.get((client, stored.entry.id))
        if kept is None or kept.version != stored.entry.version or kept.until <= self._clock():
            return stored.flow
        return kept.flow

    def note(self, client: str, flow_id: str, before: Flow | None, version: int) -> None:
        """Note that a client has stored a version of a flow.

        Args:
            client: the client.
            flow_id: the flow.
            before: what of it is the user's; None when the client made it.
            version: the version that was stored.
        """
        key = (client, flow_id)
        self._kept[key] = _Baseline(before, version, self._clock() + SECONDS)
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def forget(self, client: str, flow_id: str) -> None:
        """Take all of a flow for the user's."""
        self._kept.pop((client, flow_id), None)

    def lock(self, client: str, flow_id: str) -> asyncio.Lock:
        """Held while a client changes a flow, so that its calls do not overtake each other."""
        key = (client, flow_id)
        found = self._locks.get(key)
        if found is None:
            found = self._locks[key] = asyncio.Lock()
        return found
