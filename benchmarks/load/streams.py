"""Many streams at once: no event lost, doubled or reordered, and the memory of a stream that is open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import httpx

from benchmarks.against.side import Side
from benchmarks.load.held_provider import answer, message, provider
from benchmarks.serving import Served, memory_of, serve

STREAMS = 200
WARM = 2
"""Rounds before memory is compared: what is cached or pooled for so many streams is there then."""
ROUNDS = 3
PAUSE = 0.05
"""Seconds between two looks at how many answers are held."""
SETTLE = 3.0
"""Seconds before a round: a server gives back what was freed two seconds after its last work. Memory that the streams
of the round before have left would be used again, and would not count as that of the next ones."""
TARGET = 200
"""KB that an open stream may take."""


async def measure(side: Side, streams: int = STREAMS, rounds: int = ROUNDS, settle: float = SETTLE) -> str:
    """Open streams against a served assistant, hold them all open at once, and let them end.

    Args:
        side: the checkout that serves.
        streams: how many.
        rounds: how often memory is compared.
        settle: seconds without work before each round.

    Raises:
        AssertionError: an event is lost, doubled, out of order or another stream's.
    """
    async with provider() as base:
        held = Held(base)
        with side.environment() as environment:
            models = {"OPENAI_BASE_URL": f"{base}/v1"}
            async with serve(side.wirewright, {**environment, **models}) as server:
                taken: list[tuple[float, int]] = []
                for number in range(WARM + rounds):
                    await asyncio.sleep(settle)
                    taken.append(await held.round(server, streams, number))
    each = [kilobytes for kilobytes, _ in taken[WARM:]]
    events = sum(number for _, number in taken[WARM:])
    return (
        f"{streams} streams open at once, {rounds} times: {events:,} events, none lost, doubled, reordered or another "
        f"stream's; memory of an open stream {min(each):.0f} to {max(each):.0f} KB (target: under {TARGET})"
    )


class Held:
    """The model that holds its answers.

    Args:
        base: its address.
    """

    def __init__(self, base: str) -> None:
        self._url = f"{base}/held"

    async def round(self, server: Served, streams: int, number: int) -> tuple[float, int]:
        """Open streams and let them end; the KB that each took while it was open, and how many events there were."""
        limits = httpx.Limits(max_connections=None)
        async with (
            httpx.AsyncClient(timeout=120) as control,
            httpx.AsyncClient(
                base_url=server.client.base_url, headers=server.client.headers, limits=limits, timeout=300
            ) as client,
        ):
            before = await asyncio.to_thread(memory_of, server.pid)
            await control.put(self._url)
            first = number * streams
            playing = [asyncio.create_task(play(client, one)) for one in range(first, first + streams)]
            try:
                await self._all_open(control, playing)
                during = await asyncio.to_thread(memory_of, server.pid)
            finally:
                await control.delete(self._url)
            counts = await asyncio.gather(*playing)
        return (during - before) * 1024 / streams, sum(counts)

    async def _all_open(self, control: httpx.AsyncClient, playing: Sequence[asyncio.Task[int]]) -> None:
        """Wait until every stream's answer is held, or one has failed."""
        while int((await control.get(self._url)).text) < len(playing):
            done, _ = await asyncio.wait(playing, timeout=PAUSE, return_when=asyncio.FIRST_COMPLETED)
            if done:
                return


async def play(client: httpx.AsyncClient, number: int) -> int:
    """One stream, whose events are checked; returns how many there were."""
    asked = {"input_value": message(number), "session_id": f"stream-{number}", "resumable": True}
    async with client.stream("POST", "/api/v1/agentic/assist/stream", json=asked) as response:
        assert response.status_code == 200, (await response.aread()).decode()
        events = [json.loads(line[6:]) async for line in response.aiter_lines() if line.startswith("data: ")]
    return checked(events, answer(number))


def checked(events: Sequence[dict[str, Any]], said: str) -> int:
    """How many events a stream had, which must be a whole one.

    Args:
        events: in the order in which they came.
        said: what the model said.

    Raises:
        AssertionError: one is lost, doubled, out of order or another stream's.
    """
    numbers = [event["sequence"] for event in events]
    assert numbers == list(range(1, len(events) + 1)), f"events {numbers}"
    assert len({event["turn_id"] for event in events}) == 1, "events of several turns"
    kinds = [event["event"] for event in events]
    assert (kinds[-1], kinds.count("complete")) == ("complete", 1), events[-1]
    streamed = "".join(event["chunk"] for event in events if event["event"] == "token")
    assert streamed == said, f"{streamed[:200]!r} instead of {said[:200]!r}"
    return len(events)
