"""Stand-ins for the engine, for tests about what happens around a run."""

import asyncio
from dataclasses import dataclass, field

from flows.document import Flow
from runtime.gateway.access import Models
from runtime.results import RunError, RunEvent, RunMetrics, RunResult
from runtime.runner import Network, OnEvent
from runtime.tweaks import Tweaks


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

    async def run(
        self,
        flow: Flow,
        text: str | None = None,
        *,
        timeout: float = 60.0,
        session: str | None = None,
        network: Network = "open",
        models: Models | None = None,
        on_event: OnEvent | None = None,
        tweaks: Tweaks | None = None,
        **_: object,
    ) -> RunResult:
        """The next result."""
        self.asked.append((flow, text))
        self.tweaks.append(tweaks)
        self.networks.append(network)
        self.models.append(models)
        self.running.set()
        for event in self.events if on_event is not None else ():
            on_event(event)
        if self.hangs:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        return self.results.pop(0) if len(self.results) > 1 else self.results[0]
