"""The models and clients of providers: made in a thread, since loading an SDK takes noticeable time, and cached."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic_ai.models import Model
from pydantic_ai.providers import Provider

from agent.models.chain import chain
from agent.models.connections import client_of, connect
from agent.models.http_clients import http_client_for
from agent.models.providers import PROVIDERS, ModelChoice

Key = TypeVar("Key")
Value = TypeVar("Value")

MODELS = 64
"""How many models are cached; the least recently used is dropped first."""

CLIENTS = 16
"""How many clients, each for one provider and its keys, are cached."""


class Clients:
    """The models of the configured providers; models of one provider with the same keys share a client.

    Args:
        environment: returns the current environment variables.
        connects: makes a model; takes the arguments of `connect`.
    """

    def __init__(self, environment: Callable[[], Mapping[str, str]], connects: Callable[..., Model] = connect) -> None:
        self._environment = environment
        self._connects = connects
        self._models: OrderedDict[tuple[str, ...], Model] = OrderedDict()
        self._clients: OrderedDict[tuple[str, ...], tuple[Provider[Any], Any]] = OrderedDict()
        self._lock = threading.RLock()

    async def models(self, choice: ModelChoice, values: Mapping[str, str] | None = None) -> Model:
        """Return the chain over a choice's candidates without blocking the event loop.

        Args:
            choice: the provider and the names.
            values: other environment variables than the current ones.

        Raises:
            ModelChoiceError: the provider cannot have a model of this name.
        """
        values = self._environment() if values is None else values
        if self._lock.acquire(blocking=False):  # a thread that makes a client may hold it
            try:
                client = _client_key(choice.provider, values)
                if all((*client, name) in self._models for name in choice.names):
                    return self._chained(choice, values)
            finally:
                self._lock.release()
        return await asyncio.to_thread(self.models_now, choice, values)

    def models_now(self, choice: ModelChoice, values: Mapping[str, str] | None = None) -> Model:
        """Return the chain over a choice's candidates; blocks while a client is made.

        Args:
            choice: the provider and the names.
            values: other environment variables than the current ones.
        """
        with self._lock:
            return self._chained(choice, self._environment() if values is None else values)

    async def aclose(self) -> None:
        """Close the connections of every client."""
        clients, self._clients = list(self._clients.values()), OrderedDict()
        self._models.clear()
        for _, http_client in clients:
            if http_client is not None:
                await http_client.aclose()

    def _chained(self, choice: ModelChoice, values: Mapping[str, str]) -> Model:
        client = _client_key(choice.provider, values)
        return chain([self._model(choice.provider, name, values, client) for name in choice.names], choice.provider)

    def _model(self, provider: str, name: str, values: Mapping[str, str], client: tuple[str, ...]) -> Model:
        return _cached(
            self._models,
            (*client, name),
            lambda: self._connects(provider, name, values, client=lambda: self._client(provider, values)),
            MODELS,
        )

    def _client(self, provider: str, values: Mapping[str, str]) -> Provider[Any]:
        def make() -> tuple[Provider[Any], Any]:
            http_client = http_client_for(provider)
            return client_of(provider, values, http_client), http_client

        return _cached(self._clients, _client_key(provider, values), make, CLIENTS)[0]


def _client_key(provider: str, values: Mapping[str, str]) -> tuple[str, ...]:
    return (provider, *(values.get(variable, "") for variable in PROVIDERS[provider].variables))


def _cached(cache: OrderedDict[Key, Value], key: Key, make: Callable[[], Value], limit: int) -> Value:
    """Return the cached value of a key, made if it is missing; drops the least recently used beyond the limit."""
    if key not in cache:
        cache[key] = make()
    cache.move_to_end(key)
    if len(cache) > limit:
        cache.popitem(last=False)
    return cache[key]
