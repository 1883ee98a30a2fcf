"""Working through items with a few workers at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def for_each(items: Iterable[T], work: Callable[[T], Awaitable[None]], concurrency: int) -> None:
    """Work on every item, `concurrency` of them at a time; the first error cancels the others and is raised."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    async with asyncio.TaskGroup() as workers:
        for _ in range(max(1, concurrency)):
            workers.create_task(worker())
