"""A scripted model that holds its answers until it is told to give them, in a process of its own.

Each answer is made from the number in the user's message, so that it shows whose it is.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from benchmarks.script import classified
from benchmarks.serving import free_port, healthy
from scripts.checkout import ROOT
from scripts.scripted_provider import Reply, ScriptedProvider

WORDS = 60
"""How many words an answer has."""

_NUMBER = re.compile(r"question number (\d+)")


def message(number: int) -> str:
    """The user's message with a number."""
    return f"This is question number {number}: what does the Prompt Template component do?"


def answer(number: int) -> str:
    """What the model says to it."""
    return " ".join(f"{number}-{word}" for word in range(WORDS))


def reply(body: dict[str, Any]) -> Reply:
    """Classify, or answer the question that the last message with a number asks."""
    if not body.get("tools"):
        return classified("question")
    found = [number for one in body["messages"] for number in _NUMBER.findall(str(one.get("content")))]
    return Reply(text=answer(int(found[-1])))


class HeldProvider(ScriptedProvider):
    """Holds the answers to requests with tools while it is told to."""

    def __init__(self) -> None:
        super().__init__(reply)
        self.held = 0
        self._open = asyncio.Event()
        self._open.set()
        self.app.router.routes.append(Route("/held", self._held, methods=["GET", "PUT", "DELETE"]))

    async def reply_to(self, request: Request) -> tuple[dict[str, Any], Reply]:
        """The body of a request and its answer, once it may be given."""
        body, said = await super().reply_to(request)
        if body.get("tools"):
            self.held += 1
            await self._open.wait()
            self.held -= 1
        return body, said

    async def _held(self, request: Request) -> PlainTextResponse:
        if request.method == "PUT":
            self._open.clear()
        elif request.method == "DELETE":
            self._open.set()
        return PlainTextResponse(str(self.held))


@asynccontextmanager
async def provider() -> AsyncGenerator[str]:
    """Serve it; yields its address, below which are `/v1` and `/held`."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", __name__, str(port), cwd=ROOT)
    base = f"http://127.0.0.1:{port}"
    try:
        async with httpx.AsyncClient() as client:
            await healthy(client, f"{base}/held", pause=0.02)
        yield base
    finally:
        process.terminate()
        await process.wait()


if __name__ == "__main__":
    uvicorn.run(HeldProvider().app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
