"""Stand-ins for the engine, for tests about what happens around a run."""

import asyncio
from dataclasses import dataclass, field

from flows.document import Flow
from runtime.gateway.models import Models
from runtime.options import Network, RunOptions, Tweaks
from runtime.results import RunError, RunEvent, RunMetrics, RunResult


def ran(output: str | None = "done", *, error: RunError | None = None) -> RunResult:
    """A run's result."""
    outputs = {} if output is None else {"answer": output}
    return RunResult(
        run_id="run-1", output=None if error else output, outputs=outputs, metrics=RunMetrics(seconds=0.01), error=error
    )


@dataclass(eq=False)
class StandInRunner:
    """A runner that answers what it is told to, and remembers what it was asked.

    Attributes:
        results: what the next runs give, in order; the last one repeats.
        events: what every run tells on the way.
        failure: when set, why it never gets ready.
        hangs: when true, a run never ends on its own.
        asked: the flows and texts of every run.
        networks: what each of them might reach.
        models: what each of them might call.
        tweaks: the values that each of them got for itself.
        cancelled: set when a hanging run was cancelled.
    """

    results: list[RunResult] = field(default_factory=lambda: [ran()])
    failure: RunError | None = None
    events: list[RunEvent] = field(default_factory=list[RunEvent])
    hangs: bool = False
    state: str = "ready"
    asked: list[tuple[Flow, str | None]] = field(default_factory=list[tuple[Flow, "str | None"]])
    networks: list[Network] = field(default_factory=list[Network])
    models: list[Models | None] = field(default_factory=list["Models | None"])
    tweaks: list[Tweaks | None] = field(default_factory=list["Tweaks | None"])
    running: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    async def ready(self, timeout: float | None = None) -> bool:
        """Ready at once, or never."""
        return self.failure is None

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """The next result."""
        self.asked.append((flow, text))
        self.tweaks.append(options.tweaks)
        self.networks.append(options.network)
        self.models.append(options.models)
        self.running.set()
        if options.on_event is not None:
            for event in self.events:
                options.on_event(event)
        if self.hangs:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        return self.results.pop(0) if len(self.results) > 1 else self.results[0]
