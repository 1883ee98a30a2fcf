"""A client that follows turns: reads so many events, leaves, and comes back."""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import httpx

from tests.server.live import STREAM, event_of

TURNS = "/api/v1/agentic/turns"


async def numbered(response: httpx.Response) -> AsyncGenerator[dict[str, Any]]:
    """The stored events of a stream as they come; the id of each says what is in it.

    That a turn waits for a worker, which is told only while it does, is not among them.
    """
    named = ""
    async for line in response.aiter_lines():
        if line.startswith("id: "):
            named = line.removeprefix("id: ")
        elif line.startswith("data: "):
            event = event_of(line)
            assert named == f"{event['turn_id']}.{event['sequence']}"
            if event["sequence"]:
                yield event


async def some(events: AsyncGenerator[dict[str, Any]], count: int | None = None) -> list[dict[str, Any]]:
    """So many events of a stream, or all."""
    found: list[dict[str, Any]] = []
    async with aclosing(events):
        if count != 0:
            async for event in events:
                found.append(event)
                if len(found) == count:
                    break
    return found


async def started(client: httpx.AsyncClient, count: int | None = None, **request: object) -> list[dict[str, Any]]:
    """Ask for a resumable turn, and leave after so many events."""
    async with client.stream("POST", STREAM, json={"resumable": True, **request}) as response:
        assert response.status_code == 200, await response.aread()
        return await some(numbered(response), count)


async def followed(
    client: httpx.AsyncClient, turn: str, after: int = 0, count: int | None = None
) -> list[dict[str, Any]]:
    """The events of a turn after one of them."""
    path = f"{TURNS}/{turn}/events?after={after}"
    async with client.stream("GET", path) as response:
        if response.status_code == 204:
            assert await response.aread() == b""
            return []
        assert response.status_code == 200, await response.aread()
        return await some(numbered(response), count)


def plain(events: list[dict[str, Any]]) -> str:
    """What events say, without what differs between two turns of the same script."""
    varying = ("turn_id", "session_id", "duration_seconds", "seconds")
    text = json.dumps(events, indent=1)
    return re.sub(rf'"({"|".join(varying)})": ("[^"]*"|[\d.e-]+)', "", text)
