"""What the routes of one running server share."""

import asyncio
from dataclasses import dataclass, field

from starlette.requests import Request

from agent.assistant import Assistant
from server.settings import ServerSettings
from server.store.flows import FlowStore, open_flow_store
from server.telemetry.metrics import Metrics


@dataclass
class Service:
    """The parts behind the routes.

    Attributes:
        settings: what the environment says.
        assistant: takes turns and runs flows.
        stopping: set when the server is asked to stop; open streams then say goodbye.
        metrics: counts what happens.
    """

    settings: ServerSettings
    assistant: Assistant
    stopping: asyncio.Event
    metrics: Metrics = field(default_factory=Metrics)
    _flows: FlowStore | None = None
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def flows(self) -> FlowStore:
        """The flow store, opened when it is first needed.

        Raises:
            StoreUnavailable: it cannot be opened.
        """
        async with self._opening:
            if self._flows is None:
                self._flows = await open_flow_store(self.settings.database_url)
            return self._flows

    async def aclose(self) -> None:
        """Let go of what was opened."""
        if self._flows is not None:
            await self._flows.aclose()


def service_of(request: Request) -> Service:
    """The service that a request came to."""
    return request.app.state.service
