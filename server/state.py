"""The state that the routes of one running server share."""

import asyncio
from dataclasses import dataclass, field

from starlette.requests import Request

from agent.assistant import Assistant
from runtime.files.folders import LOCAL_USER
from runtime.files.store import UserFiles
from runtime.keychain.user_variables import UserVariables
from server.settings import ServerSettings
from server.store.flows import FlowStore
from server.telemetry.metrics import Metrics


@dataclass
class ServerState:
    """Settings, assistant and metrics of one running server.

    Attributes:
        settings: the settings, as read at the start.
        assistant: takes turns and runs flows.
        stopping: set when the server stops; open streams then send their last event.
        metrics: counts log events.
    """

    settings: ServerSettings
    assistant: Assistant
    stopping: asyncio.Event
    metrics: Metrics = field(default_factory=Metrics)

    @property
    def files(self) -> UserFiles:
        """The files of the user."""
        return UserFiles(self.settings.data, LOCAL_USER)

    @property
    def variables(self) -> UserVariables:
        """The variables of the user."""
        return self.assistant.variables(LOCAL_USER)

    async def flows(self) -> FlowStore:
        """The stored flows of the user; the database is opened when it is first needed.

        Raises:
            StoreUnavailable: it cannot be opened.
        """
        await self.assistant.database.open()
        from server.store.sql import SqlFlowStore

        return SqlFlowStore(self.assistant.database, LOCAL_USER)


def server_state(request: Request) -> ServerState:
    """What the routes of the server that received a request share."""
    return request.app.state.server
