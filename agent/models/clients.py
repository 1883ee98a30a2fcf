"""The clients of model providers: made in a thread, because loading an SDK takes a noticeable moment, and kept."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from pydantic_ai.models import Model
from pydantic_ai.providers import Provider

from agent.models.chain import chain
from agent.models.connections import client_of, connect
from agent.models.providers import PROVIDERS, ModelChoice

Key = TypeVar("Key")
Value = TypeVar("Value")

MODELS = 64
"""Models that are kept at the same time; the one unused for longest goes first."""

CLIENTS = 16
"""Clients, each of one provider and its keys, that are kept at the same time."""


class Connects(Protocol):
    """Makes a model of a provider."""

    def __call__(
        self,
        provider: str,
        name: str,
        environment: Mapping[str, str] | None = None,
        *,
        client: Callable[[], Provider[Any]] | None = None,
    ) -> Model:
        """A model; `client` gives what it speaks through."""
        ...


class Clients:
    """The models of the configured providers; all of one provider with the same keys share one client.

    Args:
        environment: gives the variables that make providers available, as they are now.
        connects: makes a model.
    """

    def __init__(self, environment: Callable[[], Mapping[str, str]], connects: Connects = connect) -> None:
        self._environment = environment
        self._connects = connects
        self._models: OrderedDict[tuple[str, ...], Model] = OrderedDict()
        self._clients: OrderedDict[tuple[str, ...], Provider[Any]] = OrderedDict()
        self._lock = threading.RLock()

    async def models(self, choice: ModelChoice) -> Model:
        """The chain over a choice's candidates, without holding up the loop while a client is made.

        Args:
            choice: the models, preferred first.

        Raises:
            ModelChoiceError: the provider cannot have a model of this name.
        """
        values = self._environment()
        if self._lock.acquire(blocking=False):  # held by a thread that makes a client
            try:
                if all(_model_key(choice.provider, name, values) in self._models for name in choice.names):
                    return self._chained(choice, values)
            finally:
                self._lock.release()
        return await asyncio.to_thread(self.models_now, choice)

    def models_now(self, choice: ModelChoice) -> Model:
        """The same for callers that have no loop to hold up."""
        with self._lock:
            return self._chained(choice, self._environment())

    async def aclose(self) -> None:
        """Close the connections of every client."""
        clients, self._clients = list(self._clients.values()), OrderedDict()
        self._models.clear()
        for client in clients:
            async with client:  # leaving it closes its connections
                pass

    def _chained(self, choice: ModelChoice, values: Mapping[str, str]) -> Model:
        return chain([self._model(choice.provider, name, values) for name in choice.names], choice.provider)

    def _model(self, provider: str, name: str, values: Mapping[str, str]) -> Model:
        return _kept(
            self._models,
            _model_key(provider, name, values),
            lambda: self._connects(provider, name, values, client=lambda: self._client(provider, values)),
            MODELS,
        )

    def _client(self, provider: str, values: Mapping[str, str]) -> Provider[Any]:
        return _kept(self._clients, _client_key(provider, values), lambda: client_of(provider, values), CLIENTS)


def _client_key(provider: str, values: Mapping[str, str]) -> tuple[str, ...]:
    return (provider, *(values.get(variable, "") for variable in PROVIDERS[provider].variables))


def _model_key(provider: str, name: str, values: Mapping[str, str]) -> tuple[str, ...]:
    return (*_client_key(provider, values), name)


def _kept(among: OrderedDict[Key, Value], key: Key, make: Callable[[], Value], limit: int) -> Value:
    """What is kept under a key, made when it is not there; the one unused for longest goes beyond the limit."""
    if key not in among:
        among[key] = make()
    among.move_to_end(key)
    if len(among) > limit:
        among.popitem(last=False)
    return among[key]
