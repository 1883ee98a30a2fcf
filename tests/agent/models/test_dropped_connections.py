"""A connection that is dropped before the response begins costs nobody a turn: the request is sent once more."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import ModelConnectionError
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models import Model

from agent.models.chain import chain
from agent.models.connections import connect
from scripts.cassettes import WIRES
from scripts.scripted_provider import Reply
from scripts.wire_formats import EveryWire
from tests.shared.wires import addressed

pytestmark = pytest.mark.anyio
ASKED = [ModelRequest.user_text_prompt("hello")]


@dataclass
class Dropping:
    """What stands before a provider, and drops connections once their request has come.

    Attributes:
        drops: how many connections are still dropped.
        requests: how many requests came.
    """

    drops: int
    requests: int = 0

    @asynccontextmanager
    async def before(self, url: str) -> AsyncGenerator[str]:
        """Serve before a provider at a URL; yields the address."""
        port = urlsplit(url).port

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError):
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                )
                body = await reader.readexactly(length)
                self.requests += 1
                if self.drops > 0:
                    self.drops -= 1
                else:
                    answer, ask = await asyncio.open_connection("127.0.0.1", port)
                    ask.write(head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1) + body)
                    writer.write(await answer.read())
                    await writer.drain()
                    ask.close()
            writer.close()

        async with await asyncio.start_server(connected, "127.0.0.1") as server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def reached(wire: str, dropping: Dropping, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Model]:
    """A model of a wire, whose provider says "hi" behind what drops connections."""
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    provider, _, name = WIRES[wire].model.partition(":")
    async with EveryWire(lambda _: Reply(text="hi")).serve() as url, dropping.before(url) as address:
        model = connect(provider, name, addressed(provider, address))
        yield chain([model])


@pytest.mark.parametrize("wire", WIRES)
async def test_a_dropped_request_is_sent_once_more(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dropping = Dropping(drops=1)
    async with reached(wire, dropping, monkeypatch) as model:
        assert (await model_request(model, ASKED)).text == "hi"
    assert dropping.requests == 2


@pytest.mark.parametrize("wire", WIRES)
async def test_so_is_a_streamed_one(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dropping = Dropping(drops=1)
    async with reached(wire, dropping, monkeypatch) as model, model_request_stream(model, ASKED) as stream:
        async for _ in stream:
            pass
        assert stream.get().text == "hi"
    assert dropping.requests == 2


async def test_a_provider_that_drops_every_connection_is_a_typed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    dropping = Dropping(drops=9)
    async with reached("openai_chat", dropping, monkeypatch) as model:
        with pytest.raises(ModelConnectionError):
            await model_request(model, ASKED)
    assert dropping.requests == 2


async def test_a_refused_connection_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    dropping = Dropping(drops=0)
    async with dropping.before("http://127.0.0.1:1") as address:
        pass
    provider, _, name = WIRES["openai_chat"].model.partition(":")
    with pytest.raises(ModelConnectionError) as raised:
        await model_request(chain([connect(provider, name, addressed(provider, address))]), ASKED)
    assert raised.value.phase == "connect"
