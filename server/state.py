"""The state that the routes of one running server share."""

import asyncio
from dataclasses import dataclass, field

from starlette.requests import Request

from agent.assistant import Assistant
from server.drain import Drain
from server.durable.parts import MakesDurable
from server.flow_tests.tester import FlowTester
from server.installs import BundleInstalls
from server.jobs.service import JobService
from server.limits.slots import Slots
from server.readiness import DatabaseProbe
from server.runs.live import LiveRuns
from server.settings import ServerSettings
from server.store.changes import FlowChanges
from server.streams.running import RunningTurns
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
        turns: the turns that run, and their stored events.
        metrics: counts log events.
        turn_slots: the places of turns that go on.
        run_slots: the places of runs over HTTP that go on.
        client_reports: limits what pages report.
        live_runs: the runs that go on.
        jobs: does jobs that wait in queues.
        installs: the bundles that are being installed.
        flow_changes: tells who watches that stored flows have changed.
        flow_tester: runs the saved tests of flows; None for a server that cannot.
        durable: makes turns durable; None for turns that end with this process.
    """

    settings: ServerSettings
    assistant: Assistant
    stopping: asyncio.Event
    drain: Drain
    database: DatabaseProbe
    turns: RunningTurns
    metrics: Metrics = field(default_factory=Metrics)
    client_reports: ClientReports = field(default_factory=ClientReports)
    installs: BundleInstalls = field(default_factory=BundleInstalls)
    flow_changes: FlowChanges = field(init=False)
    flow_tester: FlowTester | None = None
    durable: MakesDurable | None = None
    live_runs: LiveRuns = field(init=False)
    jobs: JobService = field(init=False)
    turn_slots: Slots = field(init=False)
    run_slots: Slots = field(init=False)

    def __post_init__(self) -> None:
        """Make what the settings say how many there are of."""
        self.live_runs = LiveRuns(self.assistant.run_log)
        self.flow_changes = FlowChanges(self.assistant.database)
        self.jobs = JobService(self.assistant, self.settings, self.metrics.show_standing)
        limits = self.settings
        self.turn_slots = Slots("turns", limits.user_turns, limits.turns, limits.work_seconds)
        self.run_slots = Slots("runs", limits.user_runs, limits.runs, limits.work_seconds)


def server_state(request: Request) -> ServerState:
    """What the routes of the server that received a request share."""
    return request.app.state.server
