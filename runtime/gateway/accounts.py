"""The gateway's accounts of runs: keys, budget, usage and the last failure of each."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from pydantic_ai.embeddings import EmbeddingModel
from pydantic_ai.models import Model
from pydantic_ai.usage import RequestUsage

from runtime.gateway.errors import UNKNOWN_KEY, CallFailure, CallRefused, over_budget
from runtime.gateway.models import Models
from runtime.results import ModelUsage

AT_ONCE = 8
"""Concurrent calls of one run; further calls wait."""
CALL_SECONDS = 600.0
"""How long one call may take at most; a run's own time limit usually ends it much earlier."""

TOO_SLOW = CallFailure(
    status=504, kind="server_error", code="timeout", message="The model did not answer in time.", fix="Try again."
)


@dataclass(frozen=True)
class FailedCall:
    """A call that failed: why, and in which node."""

    failure: CallFailure
    node: str | None


class RunAccount:
    """One run at the gateway. Made by `RunAccounts.open`."""

    def __init__(self, models: Models) -> None:
        """Open an account with no usage."""
        self.token = f"sk-run-{secrets.token_hex(24)}"
        self.models = models
        self.names: set[str] = set()
        """The models that the run's flow names; its keys are good for no others."""
        self.spent: dict[str | None, ModelUsage] = {}
        """What was spent, by node; None where a call does not say which."""
        self.last_failure: FailedCall | None = None
        """The last call's failure; None once a call succeeded."""
        self._resolved: dict[str, Model] = {}
        self._embedding: dict[str, EmbeddingModel] = {}
        self._nodes: list[str] = []
        self._begun = 0
        self._under_way: set[anyio.CancelScope] = set()
        self._places = asyncio.Semaphore(AT_ONCE)
        self._over = False

    def model(self, name: str) -> Model:
        """The model of this name, one per run: a fallback chain stays with the model that answered first.

        Raises:
            ModelUnavailable: it is not available.
        """
        if name not in self._resolved:
            self._resolved[name] = self.models.resolve(name)
        return self._resolved[name]

    def embedding(self, name: str) -> EmbeddingModel:
        """The embedding model of a name, one for the whole run.

        Raises:
            ModelUnavailable: it is not available.
        """
        if name not in self._embedding:
            self._embedding[name] = self.models.embedding(name)
        return self._embedding[name]

    def key(self, node: str) -> str:
        """The key with which a node calls its models: the run's token, and which node it is."""
        if node not in self._nodes:
            self._nodes.append(node)
        return f"{self.token}.{self._nodes.index(node)}"

    def node(self, mark: str) -> str | None:
        """The node that the second half of a key identifies."""
        index = int(mark) if mark.isascii() and mark.isdigit() and len(mark) < 6 else len(self._nodes)
        return self._nodes[index] if index < len(self._nodes) else None

    @property
    def total(self) -> ModelUsage:
        """What all nodes spent together."""
        whole = ModelUsage()
        for usage in self.spent.values():
            whole += usage
        return whole

    @property
    def under_way(self) -> int:
        """How many calls wait for their model."""
        return len(self._under_way)

    @asynccontextmanager
    async def call(self) -> AsyncGenerator[anyio.CancelScope]:
        """Make one call within the budget; the scope is cancelled when the run ends or the call takes too long.

        Raises:
            CallRefused: the budget is used up, the run is over, or the call took too long.
        """
        self._begin()
        async with self._places:
            with anyio.CancelScope(deadline=anyio.current_time() + CALL_SECONDS) as scope:
                self._under_way.add(scope)
                try:
                    if self._over:
                        scope.cancel()
                    yield scope
                finally:
                    self._under_way.discard(scope)
        if scope.cancelled_caught:
            raise CallRefused(UNKNOWN_KEY if self._over else TOO_SLOW)

    def _begin(self) -> None:
        budget, tokens = self.models.budget, self.total.total_tokens
        if self._over:
            raise CallRefused(UNKNOWN_KEY)
        if self._begun >= budget.calls:
            raise over_budget(f"The run has used up its budget of {budget.calls} model calls.")
        if tokens >= budget.tokens:
            raise over_budget(f"The run has used up its budget of {budget.tokens} tokens.")
        self._begun += 1

    def spend(self, node: str | None, usage: RequestUsage) -> None:
        """Count an answered call."""
        spent = ModelUsage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, calls=1)
        self.spent[node] = self.spent.get(node, ModelUsage()) + spent
        self.last_failure = None

    def fail(self, node: str | None, failure: CallFailure) -> None:
        """Remember a call that failed."""
        self.last_failure = FailedCall(failure, node)

    def close(self) -> None:
        """Cancel the run's calls and revoke its keys."""
        self._over = True
        for scope in list(self._under_way):
            scope.cancel()


class RunAccounts:
    """The runs under way, by their tokens."""

    def __init__(self) -> None:
        """Begin with none."""
        self._open: dict[str, RunAccount] = {}

    def open(self, models: Models) -> RunAccount:
        """An account for a run that begins."""
        account = RunAccount(models)
        self._open[account.token] = account
        return account

    def close(self, account: RunAccount) -> None:
        """Close an account; closing it again does nothing."""
        self._open.pop(account.token, None)
        account.close()

    def close_all(self) -> None:
        """End every account."""
        for account in list(self._open.values()):
            self.close(account)

    def find(self, key: str) -> tuple[RunAccount, str | None]:
        """The account that a key belongs to, and the node that calls.

        Raises:
            CallRefused: when it belongs to none that is under way.
        """
        token, _, mark = key.partition(".")
        account = self._open.get(token)
        if account is None:
            raise CallRefused(UNKNOWN_KEY)
        return account, account.node(mark)
