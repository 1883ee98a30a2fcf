"""The connections of providers: opened when needed, closed by whoever made the client, and opened again afterwards."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, ModelResponse
from pydantic_ai.models import Model

from agent.models.clients import Clients
from agent.models.connections import client_of, connect
from agent.models.http_clients import http_client_for
from agent.models.providers import PROVIDERS, ModelChoice
from tests.shared.wires import addressed

NAME = "openai-compatible"
PATIENCE = 10.0
"""Seconds until a test that would hang fails instead."""
CHOICE = {"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}
COMPLETION = {"id": "x", "created": 1, "model": "words", "object": "chat.completion", "choices": [CHOICE]}


@dataclass
class Server:
    """Counts the connections of its clients.

    Attributes:
        url: its address.
        opened: how many were opened.
        all_closed: set while none is open.
    """

    url: str = ""
    opened: int = 0
    open: int = 0
    all_closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer every request of one connection."""
        self.opened, self.open = self.opened + 1, self.open + 1
        self.all_closed.clear()
        body = json.dumps(COMPLETION).encode()
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = re.search(rb"content-length: (\d+)", head.lower())
                await reader.readexactly(int(length[1]) if length else 0)
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
                writer.write(b"content-length: %d\r\n\r\n%s" % (len(body), body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            self.open -= 1
            writer.close()
            if not self.open:
                self.all_closed.set()


@asynccontextmanager
async def serving(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Server]:
    """A server on loopback, which models may be asked from."""
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    server = Server()
    listener = await asyncio.start_server(server.answer, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        listener.close()


async def ask(model: Model) -> ModelResponse:
    """Ask a model once."""
    return await model_request(model, [ModelRequest.user_text_prompt("hi")])


@pytest.mark.anyio
async def test_leaving_a_models_block_closes_what_it_opened_and_it_can_be_used_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving(monkeypatch) as server:
        model = connect(NAME, "words", {"OPENAI_COMPATIBLE_BASE_URL": server.url})
        for times in (1, 2):
            async with model:
                await ask(model)
                async with model:
                    await ask(model)
                await ask(model)
            await asyncio.wait_for(server.all_closed.wait(), PATIENCE)
            assert server.opened == times


@pytest.mark.anyio
async def test_a_shared_client_is_closed_by_its_maker_and_not_by_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(monkeypatch) as server:
        values = {"OPENAI_COMPATIBLE_BASE_URL": server.url}
        clients = Clients(lambda: values)
        for name in ("one", "two"):
            model = await clients.models(ModelChoice(provider=NAME, names=(name,)))
            async with model:
                await ask(model)
        assert (server.opened, server.open) == (1, 1)
        await clients.aclose()
        await asyncio.wait_for(server.all_closed.wait(), PATIENCE)


def test_a_model_goes_on_when_the_loop_of_its_connections_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    models: list[Model] = []

    async def turn() -> None:
        async with serving(monkeypatch) as server:
            if not models:
                models.append(connect(NAME, "words", {"OPENAI_COMPATIBLE_BASE_URL": "http://placeholder/v1"}))
            client = vars(models[0])["wrapped"].provider.client
            monkeypatch.setattr(client, "base_url", server.url)
            await ask(models[0])

    for _ in range(2):
        asyncio.run(turn())


@pytest.mark.parametrize("name", [name for name in PROVIDERS if name != "bedrock"])
def test_a_provider_sends_by_the_client_that_it_is_given(name: str) -> None:
    ours = http_client_for(name)
    provider = client_of(name, addressed(name, "http://127.0.0.1:1"), ours)
    assert provider._own_http_client is None
    assert provider._http_client_factory is None
    assert ours.headers["accept-encoding"] == "gzip, deflate"
