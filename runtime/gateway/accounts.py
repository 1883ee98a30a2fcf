"""The account of a run at the gateway: its keys, budget, usage and last failure."""

from __future__ import annotations

import asyncio
import functools
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import anyio
from pydantic_ai import ModelResponse
from pydantic_ai.embeddings import EmbeddingResult
from pydantic_ai.exceptions import ModelAPIError

from runtime.gateway.errors import UNKNOWN_KEY, CallFailure, CallRefused, over_budget
from runtime.gateway.limits.patience import wait_for
from runtime.gateway.models import Models
from runtime.gateway.prices import cost_of
from runtime.results import ModelUsage
from runtime.telemetry import log_event

T = TypeVar("T")

OnWait: TypeAlias = Callable[["str | None", float], None]
"""Is called with a node, or None, and how many seconds its model is waited for."""

AT_ONCE = 8
"""Concurrent calls of one run; further ones wait."""
CALL_SECONDS = 600.0
"""How long one call may take; the time limit of the run usually ends it much earlier."""

TOO_SLOW = CallFailure(
    status=504, kind="server_error", code="timeout", message="The model did not answer in time.", fix="Try again."
)


@dataclass(frozen=True)
class FailedCall:
    """Why a call failed, and in which node."""

    failure: CallFailure
    node: str | None


class RunAccount:
    """The account of one run; `GatewayServer.open` opens it."""

    def __init__(self, models: Models, patience: float = 0.0, on_wait: OnWait | None = None) -> None:
        """Open an account without usage.

        Args:
            models: what the run may call.
            patience: how many seconds from now the run may wait for models that ask to wait.
            on_wait: is called with a node, or None, and the seconds before each wait.
        """
        self.token = f"sk-run-{secrets.token_hex(24)}"
        self.budget = models.budget
        self.model = functools.cache(models.resolve)
        """The model of a name, resolved once per run: a fallback chain stays with the model that answered first."""
        self.embedding = functools.cache(models.embedding)
        """The embedding model of a name, likewise."""
        self.allowed_models: set[str] = set()
        """The models that the run's flow names; its keys allow no others."""
        self.usage: dict[str | None, ModelUsage] = {}
        """What was used, by node; None for calls that name no node."""
        self.last_failure: FailedCall | None = None
        """The failure of the last call; None once a call succeeded."""
        self._deadline = time.monotonic() + patience
        self._on_wait = on_wait
        self._nodes: list[str] = []
        self._calls = 0
        self._active: set[anyio.CancelScope] = set()
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._closed = False

    def key(self, node: str) -> str:
        """The key with which a node calls its models: the run's token and the node's number."""
        if node not in self._nodes:
            self._nodes.append(node)
        return f"{self.token}.{self._nodes.index(node)}"

    def node(self, mark: str) -> str | None:
        """The node that the second part of a key identifies."""
        index = int(mark) if mark.isascii() and mark.isdigit() and len(mark) < 6 else len(self._nodes)
        return self._nodes[index] if index < len(self._nodes) else None

    @property
    def total(self) -> ModelUsage:
        """What all nodes used together."""
        return sum(self.usage.values(), ModelUsage())

    @property
    def active_calls(self) -> int:
        """How many calls wait for their model."""
        return len(self._active)

    @asynccontextmanager
    async def call(self) -> AsyncGenerator[anyio.CancelScope]:
        """Count one call; the scope is cancelled when the run ends or the call takes too long.

        Raises:
            CallRefused: the budget is used up, the run is over, or the call took too long.
        """
        self._admit()
        async with self._slots:
            with anyio.CancelScope(deadline=anyio.current_time() + CALL_SECONDS) as scope:
                self._active.add(scope)
                try:
                    if self._closed:
                        scope.cancel()
                    yield scope
                finally:
                    self._active.discard(scope)
        if scope.cancelled_caught:
            raise CallRefused(UNKNOWN_KEY if self._closed else TOO_SLOW)

    def _admit(self) -> None:
        budget, tokens = self.budget, self.total.total_tokens
        if self._closed:
            raise CallRefused(UNKNOWN_KEY)
        if self._calls >= budget.calls:
            raise over_budget(f"The run has used up its budget of {budget.calls} model calls.")
        if tokens >= budget.tokens:
            raise over_budget(f"The run has used up its budget of {budget.tokens} tokens.")
        self._calls += 1

    async def patiently(self, node: str | None, request: Callable[[], Awaitable[T]]) -> T:
        """Make a request; again after each wait that the model asks for, while it ends within the run's time.

        Args:
            node: the node that calls.
            request: makes the request.
        """
        while True:
            try:
                return await request()
            except ModelAPIError as failure:
                seconds = wait_for(failure)
                if seconds is None or time.monotonic() + seconds > self._deadline:
                    raise
            log_event("runner.model.wait", seconds=seconds)
            if self._on_wait is not None:
                self._on_wait(node, seconds)
            await asyncio.sleep(seconds)

    def add_usage(self, node: str | None, answer: ModelResponse | EmbeddingResult) -> None:
        """Count the usage of an answered call, and what it cost, if that is known."""
        usage = answer.usage
        added = ModelUsage(
            input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, calls=1, cost=cost_of(answer)
        )
        self.usage[node] = self.usage.get(node, ModelUsage()) + added
        self.last_failure = None

    def fail(self, node: str | None, failure: CallFailure) -> None:
        """Record a call that failed."""
        self.last_failure = FailedCall(failure, node)

    def close(self) -> None:
        """Cancel the run's calls and revoke its keys."""
        self._closed = True
        for scope in list(self._active):
            scope.cancel()
