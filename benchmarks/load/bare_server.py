"""A server of the bare loop: each request is a turn whose events are streamed, and nothing else is done."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import AsyncGenerator

import uvicorn
from pydantic import TypeAdapter
from pydantic_ai import AgentStreamEvent, PartDeltaEvent, PartStartEvent
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from benchmarks.load.bare import BareLoop
from benchmarks.load.turns import recorded_question
from benchmarks.script import MODEL
from wirewright import Catalogue, Runner

_EVENT: TypeAdapter[AgentStreamEvent] = TypeAdapter(AgentStreamEvent)


def app(loop: BareLoop) -> Starlette:
    """The application."""

    async def turn(_: Request) -> Response:
        async def frames() -> AsyncGenerator[bytes]:
            async for event in loop.events():
                if isinstance(event, PartStartEvent | PartDeltaEvent):
                    yield b"data: %b\n\n" % _EVENT.dump_json(event)

        return StreamingResponse(frames(), media_type="text/event-stream")

    async def ready(_: Request) -> Response:
        return PlainTextResponse("ready")

    return Starlette(routes=[Route("/turn", turn, methods=["POST"]), Route("/", ready)])


def model(base_url: str) -> Model:
    """The scripted provider's model, by the client that ours uses too."""
    provider = OpenAIProvider(base_url=base_url, api_key="sk-scripted")
    return OpenAIChatModel(MODEL.partition(":")[2], provider=provider)


def main(port: int, base_url: str) -> None:
    """Serve."""
    os.environ.setdefault("LOGFIRE_IGNORE_NO_CONFIG", "1")
    loop = asyncio.run(recorded_question(Catalogue.load(), Runner(), model(base_url)))
    gc.freeze()  # what is imported stays, and is left out of collections as in ours
    uvicorn.run(app(loop), host="127.0.0.1", port=port, log_level="error", access_log=False)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
