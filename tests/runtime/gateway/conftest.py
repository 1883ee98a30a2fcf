"""What the tests of the gateway share: a gateway on loopback, sessions of scripted models, the real client SDK."""

from collections.abc import AsyncIterator

import pytest
from pydantic_ai.embeddings.test import TestEmbeddingModel
from pydantic_ai.models import Model

from runtime.gateway.accounts import RunAccount
from runtime.gateway.models import Budget, Models
from runtime.gateway.server import GatewayServer
from tests.runtime.gateway.words import NAME, Connect, OpenSession


@pytest.fixture
async def gateway() -> AsyncIterator[GatewayServer]:
    made = GatewayServer()
    made.start()
    yield made
    await made.aclose()


@pytest.fixture
def opened(gateway: GatewayServer) -> OpenSession:
    """Open a session whose model is the given one, whatever name is asked for."""

    def open_(model: Model, budget: Budget | None = None) -> RunAccount:
        models = Models(resolve=lambda _: model, embed=lambda _: TestEmbeddingModel(), budget=budget or Budget())
        session = gateway.open(models)
        session.allowed_models.add(NAME)
        return session

    return open_


@pytest.fixture
async def connect(gateway: GatewayServer) -> AsyncIterator[Connect]:
    """A client with the key of a node of a session, or with any key."""
    from openai import AsyncOpenAI

    clients: list[AsyncOpenAI] = []

    def make(key: RunAccount | str, *, node: str = "Model-1", retries: int = 0) -> AsyncOpenAI:
        api_key = key if isinstance(key, str) else key.key(node)
        clients.append(AsyncOpenAI(base_url=gateway.url, api_key=api_key, max_retries=retries, timeout=20))
        return clients[-1]

    yield make
    for client in clients:
        await client.close()
