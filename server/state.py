"""The state that the routes of one running server share."""

import asyncio
from dataclasses import dataclass, field

from starlette.requests import Request

from agent.assistant import Assistant
from server.installs import BundleInstalls
from server.runs.live import LiveRuns
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
        live_runs: the runs that go on.
        installs: the bundles that are being installed.
    """

    settings: ServerSettings
    assistant: Assistant
    stopping: asyncio.Event
    metrics: Metrics = field(default_factory=Metrics)
    live_runs: LiveRuns = field(init=False)
    installs: BundleInstalls = field(default_factory=BundleInstalls)

    def __post_init__(self) -> None:
        self.live_runs = LiveRuns(self.assistant.run_log)


def server_state(request: Request) -> ServerState:
    """What the routes of the server that received a request share."""
    return request.app.state.server
