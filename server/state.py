"""The state that the routes of one running server share."""

import asyncio
from dataclasses import dataclass, field

from starlette.requests import Request

from agent.assistant import Assistant
from server.drain import Drain
from server.readiness import DatabaseProbe
from server.settings import ServerSettings
from server.telemetry.client_reports import ClientReports
from server.telemetry.metrics import Metrics


@dataclass
class ServerState:
    """Settings, assistant and metrics of one running server.

    Attributes:
        settings: the settings, as read at the start.
        assistant: takes turns and runs flows.
        drain: says whether the server still takes work.
        database: asks whether the database answers.
        stopping: set when the server stops; open streams then send their last event.
        metrics: counts log events.
        client_reports: limits what pages report.
    """

    settings: ServerSettings
    assistant: Assistant
    stopping: asyncio.Event
    drain: Drain
    database: DatabaseProbe
    metrics: Metrics = field(default_factory=Metrics)
    client_reports: ClientReports = field(default_factory=ClientReports)


def server_state(request: Request) -> ServerState:
    """What the routes of the server that received a request share."""
    return request.app.state.server
