"""Waits for a database that does not answer, such as while it is started again, with what can be done again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final, TypeVar

from agent.errors import AssistantUnavailable
from runtime.database.errors import StoreUnavailable

PATIENCE_SECONDS: Final = 30.0
"""How long at most."""

RETRY_SECONDS: Final = 0.5

_T = TypeVar("_T")


async def patient(work: Callable[[], Awaitable[_T]]) -> _T:
    """What comes of some work, once the database answers.

    Args:
        work: reads, or stores what is stored once however often it is tried.

    Raises:
        StoreUnavailable: the database does not answer for too long.
        AssistantUnavailable: the same, as the work says it.
    """
    until = monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return await work()
        except (StoreUnavailable, AssistantUnavailable) as failure:
            is_store = isinstance(failure, StoreUnavailable) or isinstance(failure.__cause__, StoreUnavailable)
            if not is_store or monotonic() > until:
                raise
        await asyncio.sleep(RETRY_SECONDS)
