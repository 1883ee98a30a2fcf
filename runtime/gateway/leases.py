"""What the gateway does for a run: the flow pointed at it, keys that last as long as it does, its spending counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.gateway.access import Models
from runtime.gateway.flow_models import asks, rewritten
from runtime.results import RunError, RunMetrics, RunResult

if TYPE_CHECKING:
    from runtime.gateway.run_state import Session
    from runtime.gateway.server import Gateway

_TOLD = frozenset({"code", "missing_input", "missing_model", "missing_key", "external", "limit"})
"""Run errors that may be what became of a failed call; a crash or a timeout is not."""


@dataclass(frozen=True)
class ModelRun:
    """A run as the engine gets it.

    Attributes:
        data: its nodes and edges.
        gateway: the gateway's base URL, or None for a run that calls no model.
    """

    data: JsonObject
    gateway: str | None = None
    session: Session | None = None

    def counted(self, result: RunResult) -> RunResult:
        """The result with what was spent on models, and with the cause when a call's failure made the run fail."""
        if self.session is None:
            return result
        total = self.session.total
        metrics: RunMetrics = replace(
            result.metrics,
            input_tokens=total.input_tokens,
            output_tokens=total.output_tokens,
            model_calls=total.calls,
        )
        usage = {node or "": spent for node, spent in self.session.spent.items()}
        return replace(result, metrics=metrics, usage=usage, error=self._cause(result.error))

    def _cause(self, error: RunError | None) -> RunError | None:
        """The failure of the last call in place of what the flow made of it; of another failure, nothing is changed."""
        failed = None if self.session is None else self.session.last_failure
        if error is None or failed is None or error.code not in _TOLD:
            return error
        if failed.node not in (None, error.node) and failed.failure.message not in error.message:
            return error
        return failed.failure.error(failed.node or error.node)


class ModelRuns:
    """The Runner's side of the gateway, which starts with the first run that calls a model."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._gateway: Gateway | None = None

    @asynccontextmanager
    async def run(self, data: JsonObject, catalogue: Catalogue, models: Models | None) -> AsyncGenerator[ModelRun]:
        """A run whose model calls are answered as long as this lasts.

        Args:
            data: nodes and edges that were admitted.
            catalogue: the component types.
            models: what the run may call; None calls no model.

        Raises:
            Refused: the flow cannot be pointed at the gateway.
            OSError: the gateway cannot listen.
        """
        if models is None or not asks(data, catalogue):
            yield ModelRun(data)
            return
        gateway = await self._started()
        session = gateway.open(models)
        try:
            pointed = await asyncio.to_thread(rewritten, data, catalogue, session, gateway.url)
            yield ModelRun(pointed, gateway.url, session)
        finally:
            gateway.close(session)

    async def _started(self) -> Gateway:
        if self._gateway is None:
            made = await asyncio.to_thread(_gateway)  # its libraries take a moment to import
            self._gateway = self._gateway or made
        self._gateway.start()
        return self._gateway

    async def aclose(self) -> None:
        """Stop serving; calls under way end."""
        if self._gateway is not None:
            await self._gateway.aclose()


def _gateway() -> Gateway:
    from runtime.gateway.server import Gateway

    return Gateway()
