"""The scripted model of all sides: one server in a process of its own, which counts what each side sends."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from benchmarks.script import any_turn
from benchmarks.serving import free_port, healthy
from scripts.checkout import ROOT
from scripts.scripted_provider import ScriptedProvider

SIDES = ("ours", "theirs")


def app() -> Starlette:
    """A scripted provider for each side, below its name; `/ours/characters` is what ours was sent so far."""
    providers = {name: ScriptedProvider(any_turn) for name in SIDES}

    async def characters(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(providers[request.path_params["side"]].characters))

    return Starlette(
        routes=[
            Route("/{side}/characters", characters),
            *(Mount(f"/{name}", provider.app) for name, provider in providers.items()),
        ]
    )


@asynccontextmanager
async def provider() -> AsyncGenerator[str]:
    """Serve the scripted models; yields the base URL, to which a side's name and `/v1` are added."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", __name__, str(port), cwd=ROOT)
    base = f"http://127.0.0.1:{port}"
    try:
        async with httpx.AsyncClient() as client:
            await healthy(client, f"{base}/{SIDES[0]}/characters", pause=0.02)
        yield base
    finally:
        process.terminate()
        await process.wait()


if __name__ == "__main__":
    uvicorn.run(app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
