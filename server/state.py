"""The state that the routes of one running server share."""

import asyncio
from dataclasses import dataclass, field

from starlette.requests import Request

from agent.assistant import Assistant
from server.settings import ServerSettings
from server.streams.running import RunningTurns
from server.telemetry.metrics import Metrics


@dataclass
class ServerState:
    """Settings, assistant and metrics of one running server.

    Attributes:
        settings: the settings, as read at the start.
        assistant: takes turns and runs flows.
        stopping: set when the server stops; open streams then send their last event.
        turns: the turns that run, and their stored events.
        metrics: counts log events.
    """

    settings: ServerSettings
    assistant: Assistant
    stopping: asyncio.Event
    turns: RunningTurns
    metrics: Metrics = field(default_factory=Metrics)


def server_state(request: Request) -> ServerState:
    """What the routes of the server that received a request share."""
    return request.app.state.server
