"""A server on a free port, for tests that talk to it over real HTTP."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import httpx
from pydantic_ai import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from agent.assistant import Assistant
from agent.models.scripted import scripted
from flows.catalogue import Catalogue
from server.app import create_app
from server.serve import HttpServer, address, bound
from server.settings import ServerSettings
from tests.stand_ins import StandInRunner

STREAM = "/api/v1/agentic/assist/stream"
ASSIST = "/api/v1/agentic/assist"
FLOWS = "/api/v1/flows"

Reply = Sequence[ToolCallPart | TextPart]


@dataclass
class Live:
    """A running server and a client for it."""

    client: httpx.AsyncClient
    server: HttpServer
    task: "asyncio.Task[None]"


@asynccontextmanager
async def serving(assistant: Assistant, settings: ServerSettings | None = None) -> AsyncGenerator[Live]:
    """Serve an assistant until the block is left."""
    stopping, listening, listener = asyncio.Event(), asyncio.Event(), bound("127.0.0.1", 0)
    ports = [listener.getsockname()[1]]
    app = create_app(settings or ServerSettings(), assistant=assistant, stopping=stopping, ports=ports)
    server = HttpServer(app, stopping, listening.set)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    waiting = asyncio.create_task(listening.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    try:
        async with httpx.AsyncClient(base_url=address(listener), timeout=30, trust_env=False) as client:
            yield Live(client, server, task)
    finally:
        waiting.cancel()
        server.stop()
        await task


def says(replies: Sequence[Reply | str]) -> Model:
    """A model that gives these replies in turn, the classification first."""
    left = [[TextPart(reply)] if isinstance(reply, str) else list(reply) for reply in replies]

    def plan(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=left.pop(0))

    return scripted(plan, "scripted")


class Blocked:
    """A model that does not give one of its replies before it is released, and knows what happened to it.

    Args:
        replies: what it gives in turn, the classification first.
        at: which of them waits.
    """

    def __init__(self, *replies: Reply | str, at: int = 0) -> None:
        self._left = [[TextPart(reply)] if isinstance(reply, str) else list(reply) for reply in replies]
        self._at = at
        self.asked = asyncio.Event()
        self.released = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def _next(self) -> list[ToolCallPart | TextPart]:
        self._at -= 1
        if self._at == -1:
            self.asked.set()
            try:
                await self.released.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        return list(self._left.pop(0))

    async def _respond(self, _: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=await self._next())

    async def _stream(self, _: list[ModelMessage], __: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        for index, part in enumerate(await self._next()):
            if isinstance(part, TextPart):
                yield part.content
            else:
                arguments = json.dumps(part.args)
                yield {index: DeltaToolCall(name=part.tool_name, json_args=arguments, tool_call_id=part.tool_call_id)}

    def model(self) -> FunctionModel:
        """The model itself."""
        return FunctionModel(self._respond, stream_function=self._stream, model_name="blocked")


def assistant(catalogue: Catalogue, model: Model | None = None, runner: StandInRunner | None = None) -> Assistant:
    """An assistant with a scripted model (or the demo planner) and a stand-in engine."""
    return Assistant(ServerSettings(), runner or StandInRunner(), catalogue=catalogue, model=model)


async def frames(response: httpx.Response) -> AsyncGenerator[dict[str, Any]]:
    """The events of a stream as they come."""
    async for line in response.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


async def events(client: httpx.AsyncClient, **request: object) -> list[dict[str, Any]]:
    """All events of one streamed turn."""
    async with client.stream("POST", STREAM, json=request) as response:
        assert response.status_code == 200, await response.aread()
        return [event async for event in frames(response)]


async def leaving(live: Live, path: str, body: dict[str, object], inside: asyncio.Event) -> None:
    """Ask, and leave once something has begun."""
    async with anyio.create_task_group() as tasks:

        async def ask() -> None:
            await live.client.post(path, json=body)

        tasks.start_soon(ask)
        await inside.wait()
        tasks.cancel_scope.cancel()
