"""A client of the served assistant: plays a turn and measures it."""

import json
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import httpx

from benchmarks.script import BUILD

MESSAGE = {"input_value": BUILD}


async def play(client: httpx.AsyncClient, message: Mapping[str, Any] = MESSAGE) -> tuple[float, float]:
    """One turn: its time and its first event's, in milliseconds.

    Raises:
        AssertionError: it did not complete.
    """
    started = perf_counter()
    first = 0.0
    last: dict[str, Any] = {}
    async with client.stream("POST", "/api/v1/agentic/assist/stream", json=message) as response:
        async for frame in response.aiter_lines():
            if frame.startswith("data: "):
                first = first or (perf_counter() - started) * 1000
                last = json.loads(frame[6:])
    assert last.get("event") == "complete", last
    return (perf_counter() - started) * 1000, first
