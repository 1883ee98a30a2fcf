"""The scripted model of both sides: one server in a process of its own, which counts what each side sends."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from benchmarks.script import any_turn
from benchmarks.serving import free_port
from scripts.scripted_provider import ScriptedProvider

SIDES = ("ours", "theirs")
ROOT = Path(__file__).parent.parent.parent


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
    try:
        for _ in range(1_000):
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                break
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


if __name__ == "__main__":
    uvicorn.run(app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
