"""Stand-ins for the engine, for tests about what happens around a run."""

import asyncio
from dataclasses import dataclass, field

from flows.document import Flow
from runtime.results import RunError, RunMetrics, RunResult
from runtime.runner import Network


def ran(output: str | None = "done", *, error: RunError | None = None) -> RunResult:
    """A run's result."""
    outputs = {} if output is None else {"answer": output}
    return RunResult(
        run_id="run-1", output=None if error else output, outputs=outputs, metrics=RunMetrics(seconds=0.01), error=error
    )


@dataclass
class StandInRunner:
    """A runner that answers what it is told to, and remembers what it was asked.

    Attributes:
        results: what the next runs give, in order; the last one repeats.
        failure: when set, why it never gets ready.
        hangs: when true, a run never ends on its own.
        asked: the flows and texts of every run.
        networks: what each of them might reach.
        cancelled: set when a hanging run was cancelled.
    """

    results: list[RunResult] = field(default_factory=lambda: [ran()])
    failure: RunError | None = None
    hangs: bool = False
    state: str = "ready"
    asked: list[tuple[Flow, str | None]] = field(default_factory=list[tuple[Flow, "str | None"]])
    networks: list[Network] = field(default_factory=list[Network])
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
    ) -> RunResult:
        """The next result."""
        self.asked.append((flow, text))
        self.networks.append(network)
        self.running.set()
        if self.hangs:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        return self.results.pop(0) if len(self.results) > 1 else self.results[0]
