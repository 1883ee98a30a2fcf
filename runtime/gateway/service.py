"""The runner's model gateway: started for the first run that calls a model, and attached to each such run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.gateway.model_fields import point_at_gateway, uses_models
from runtime.gateway.models import Models
from runtime.options import OnEvent
from runtime.results import ENGINE_CLOSED, RunError, RunFailed, RunResult
from runtime.run_events import ModelWait

if TYPE_CHECKING:
    from runtime.gateway.accounts import RunAccount
    from runtime.gateway.server import GatewayServer

_CAUSED_BY_CALL = frozenset({"code", "missing_input", "missing_model", "missing_key", "external", "limit"})
"""Codes of run errors that a failed model call may have caused, unlike a crash or a timeout."""


@dataclass(frozen=True)
class AttachedRun:
    """A run with its connection to the gateway, if it calls models.

    Attributes:
        data: its nodes and edges, with every model field pointed at the gateway.
        url: the gateway's base URL; None if the run calls no model.
        account: the run's account at the gateway; None if the run calls no model.
    """

    data: JsonObject
    url: str | None = None
    account: RunAccount | None = None

    def account_for(self, result: RunResult) -> RunResult:
        """The result with the tokens that were used, and with a failed call as the cause of its error."""
        if self.account is None:
            return result
        total = self.account.total
        metrics = replace(
            result.metrics,
            input_tokens=total.input_tokens,
            output_tokens=total.output_tokens,
            model_calls=total.calls,
            cost=total.cost,
        )
        usage = {node or "": used for node, used in self.account.usage.items()}
        return replace(result, metrics=metrics, usage=usage, error=_cause(result.error, self.account))


def _cause(error: RunError | None, account: RunAccount) -> RunError | None:
    """The failure of the last model call if it caused `error`, else `error` itself."""
    failed = account.last_failure
    if error is None or failed is None or error.code not in _CAUSED_BY_CALL:
        return error
    if failed.node not in (None, error.node) and failed.failure.message not in error.message:
        return error
    return failed.failure.error(failed.node or error.node)


class ModelGateway:
    """Answers the model calls of runs."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._server: GatewayServer | None = None
        self._closed = False

    @asynccontextmanager
    async def attach(
        self,
        data: JsonObject,
        catalogue: Catalogue,
        models: Models | None,
        *,
        patience: float = 0.0,
        on_event: OnEvent | None = None,
        at_once: bool = False,
    ) -> AsyncGenerator[AttachedRun]:
        """Answer the model calls of a run for as long as this lasts.

        Args:
            data: nodes and edges that were admitted.
            catalogue: the component types.
            models: what the run may call; None attaches nothing.
            patience: how many seconds the run waits altogether for models that ask to wait.
            on_event: is told about each wait.
            at_once: whether the nodes and edges are so short that they are changed here, and not in a thread.

        Raises:
            RunFailed: a model is unavailable, a component cannot be pointed at the gateway, or this is closed.
            OSError: the gateway cannot listen.
        """
        if models is None or not uses_models(data, catalogue):
            yield AttachedRun(data)
            return
        server = await self._started()

        def told(node: str | None, seconds: float) -> None:
            if on_event is not None:
                on_event(ModelWait(node=node or "", seconds=seconds))

        account = server.open(models, patience, told)
        try:
            given = data, catalogue, account, server.url
            pointed = point_at_gateway(*given) if at_once else await asyncio.to_thread(point_at_gateway, *given)
            yield AttachedRun(pointed, server.url, account)
        finally:
            server.close(account)

    async def _started(self) -> GatewayServer:
        if self._server is None:
            created = await asyncio.to_thread(_create_server)  # importing its libraries takes a moment
            self._server = self._server or created
        if self._closed:
            raise RunFailed(ENGINE_CLOSED)
        self._server.start()
        return self._server

    async def aclose(self) -> None:
        """Stop serving for good; calls under way end."""
        self._closed = True
        if self._server is not None:
            await self._server.aclose()


def _create_server() -> GatewayServer:
    from runtime.gateway.server import GatewayServer

    return GatewayServer()
