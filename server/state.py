"""The state that the routes of one running server share."""

import asyncio
from dataclasses import dataclass, field

from starlette.requests import Request

from agent.assistant import Assistant
from runtime.database.backends.health import DatabaseHealth
from server.settings import ServerSettings
from server.telemetry.metrics import Metrics


@dataclass
class ServerState:
    """Settings, assistant and metrics of one running server.

    Attributes:
        settings: the settings, as read at the start.
        assistant: takes turns and runs flows.
        stopping: set when the server stops; open streams then send their last event.
        metrics: counts log events.
        database_health: whether the database can be written.
    """

    settings: ServerSettings
    assistant: Assistant
    stopping: asyncio.Event
    metrics: Metrics = field(default_factory=Metrics)
    database_health: DatabaseHealth = field(init=False)

    def __post_init__(self) -> None:
        """Watch the assistant's database."""
        self.database_health = DatabaseHealth(self.assistant.database)


def server_state(request: Request) -> ServerState:
    """What the routes of the server that received a request share."""
    return request.app.state.server
