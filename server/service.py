"""What the routes of one running server share."""

import asyncio
from dataclasses import dataclass, field

from starlette.requests import Request

from agent.assistant import Assistant
from runtime.files.folders import LOCAL
from server.settings import ServerSettings
from server.store.flows import FlowStore
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

    async def flows(self) -> FlowStore:
        """The stored flows of the user who asks; the database is opened when it is first needed.

        Raises:
            StoreUnavailable: it cannot be opened.
        """
        await self.assistant.database.open()
        from server.store.sql import SqlFlowStore

        return SqlFlowStore(self.assistant.database, LOCAL)


def service_of(request: Request) -> Service:
    """The service that a request came to."""
    return request.app.state.service
