"""A server on a free port, for tests that talk to it over real HTTP."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import httpx
from pydantic import TypeAdapter

from agent.assistant import Assistant
from agent.contract.events import EVENTS
from agent.contract.requests import STREAM_PATH
from cli.flow_tests.tester import StoredFlowTester
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.keychain.access_token import access_token
from server.access.auth import Access
from server.app import create_app
from server.serve import HttpServer, address, bound
from server.settings import ServerSettings
from tests.shared.scripted_assistant import Reply, ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner

STREAM = STREAM_PATH
ASSIST = "/api/v1/agentic/assist"
FLOWS = "/api/v1/flows"
DATA = "data: "


@dataclass
class Live:
    """A running server and a client for it, which sends the token; `stranger` does not."""

    client: httpx.AsyncClient
    stranger: httpx.AsyncClient
    access: Access
    server: HttpServer
    task: "asyncio.Task[None]"


@asynccontextmanager
async def serving(
    assistant: Assistant, settings: ServerSettings | None = None, access: Access | None = None
) -> AsyncGenerator[Live]:
    """Serve an assistant until the block is left."""
    settings = settings or ServerSettings()
    token = access_token(settings.data)
    access = access or Access(token)
    stopping, listening, listener = asyncio.Event(), asyncio.Event(), bound("127.0.0.1", 0)
    app = create_app(settings, assistant=assistant, stopping=stopping, access=access, flow_tester=StoredFlowTester())
    server = HttpServer(app, stopping, listening.set, settings)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    waiting = asyncio.create_task(listening.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    try:
        base, headers = address(listener), {"Authorization": f"Bearer {token}"}
        async with (
            httpx.AsyncClient(base_url=base, timeout=30, trust_env=False, headers=headers) as client,
            httpx.AsyncClient(base_url=base, timeout=30, trust_env=False) as stranger,
        ):
            yield Live(client, stranger, access, server, task)
    finally:
        waiting.cancel()
        server.stop()
        await task


def event_of(frame: str, contract: TypeAdapter[Any] = EVENTS) -> dict[str, Any]:
    """The event in a frame of a stream, as the contract's models read it: they know all of it, and write it alike.

    Args:
        frame: one `data:` line.
        contract: the events of the stream.
    """
    assert frame.startswith(DATA), frame
    sent = frame.removeprefix(DATA)
    read: dict[str, Any] = contract.dump_python(contract.validate_json(sent), mode="json")
    assert read == json.loads(sent)
    return read


async def frames(response: httpx.Response) -> AsyncGenerator[dict[str, Any]]:
    """The events of a stream as they come."""
    async for line in response.aiter_lines():
        if line.startswith(DATA):
            yield event_of(line)


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


async def played(
    catalogue: Catalogue,
    replies: Sequence[Reply],
    *,
    runner: StandInRunner | None = None,
    canvas: Flow | None = None,
    **request: object,
) -> list[dict[str, Any]]:
    """The events of one turn over HTTP, with a model that gives these replies, the classification first."""
    if canvas is not None:
        request["flow"] = canvas.to_json()
    async with serving(assistant(catalogue, ScriptedModel(*replies), runner)) as live:
        return await events(live.client, **{"input_value": "Go on", **request})


def updates(found: Sequence[dict[str, Any]], action: str | None = None) -> list[dict[str, Any]]:
    """The flow updates among events, or those of one action."""
    return [event for event in found if event["event"] == "flow_update" and action in (None, event["action"])]


def steps(found: Sequence[dict[str, Any]]) -> list[str]:
    """The steps of the progress events."""
    return [str(event["step"]) for event in found if event["event"] == "progress"]
