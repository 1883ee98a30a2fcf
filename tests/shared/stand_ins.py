"""Stand-ins for the engine, for tests about what happens around a run."""

import asyncio
from dataclasses import dataclass, field, replace

from evals.players.reading import full_mandate
from flows.document import Flow, JsonObject
from runtime.engine.component_results import ComponentDescription, ComponentFailure
from runtime.gateway.models import Models
from runtime.options import Network, RunOptions, Tweaks
from runtime.results import RunError, RunMetrics, RunResult
from runtime.run_events import RunEvent
from tools.mandate import Mandate

ASKED_FOR = Mandate.model_validate({"effects": full_mandate("component_then_flow", "")})
"""The mandate of a message that asks for whatever is done, but for a run, installs and hosts."""


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
        hangs: when true, a run does not end before it is released.
        released: set to let hanging runs end.
        asked: the flows and texts of every run.
        networks: what each of them might reach.
        hosts: what was approved for each of them.
        only_hosts: what each of them was limited to.
        models: what each of them might call.
        tweaks: the values that each of them got for itself.
        cancelled: set when a hanging run was cancelled.
    """

    results: list[RunResult] = field(default_factory=lambda: [ran()])
    failure: RunError | None = None
    events: list[RunEvent] = field(default_factory=list[RunEvent])
    hangs: bool = False
    released: asyncio.Event = field(default_factory=asyncio.Event)
    state: str = "ready"
    asked: list[tuple[Flow, str | None]] = field(default_factory=list[tuple[Flow, "str | None"]])
    networks: list[Network] = field(default_factory=list[Network])
    hosts: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    only_hosts: list[frozenset[str] | None] = field(default_factory=list["frozenset[str] | None"])
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
        self.hosts.append(tuple(options.hosts))
        self.only_hosts.append(None if options.only_hosts is None else frozenset(options.only_hosts))
        self.models.append(options.models)
        self.running.set()
        if options.on_event is not None:
            for event in (each for each in self.events if each.event in options.event_kinds):
                options.on_event(event)
        if self.hangs:
            try:
                await self.released.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        return result if options.run_id is None else replace(result, run_id=options.run_id)


SUM = """\
from lfx.custom import Component
from lfx.io import MessageTextInput, Output
from lfx.schema.message import Message


class SumComponent(Component):
    display_name = "Sum"
    description = "Adds two numbers."
    inputs = [MessageTextInput(name="numbers", display_name="Numbers", info="Such as 1+2.", tool_mode=True)]
    outputs = [Output(display_name="Total", name="total", method="add_numbers")]

    def add_numbers(self) -> Message:
        return Message(text=str(sum(int(part) for part in self.numbers.split("+"))))
"""
"""The source of a component that passes."""


@dataclass(eq=False)
class ComponentRunner(StandInRunner):
    """A stand-in engine that also describes components: each with one input and one output.

    Attributes:
        refusals: why the next sources are rejected, in order.
    """

    refusals: list[ComponentFailure] = field(default_factory=list[ComponentFailure])

    async def describe_component(self, source: str, name: str) -> ComponentDescription | ComponentFailure:
        """The component of a source, or the next rejection."""
        if self.refusals:
            return self.refusals.pop(0)
        numbers: JsonObject = {"type": "str", "name": "numbers", "show": True, "input_types": ["Message"], "value": ""}
        total: JsonObject = {"name": "total", "method": "add_numbers", "types": ["Message"], "selected": "Message"}
        node: JsonObject = {
            "display_name": "Sum",
            "description": "Adds two numbers.",
            "template": {"_type": "Component", "code": {"type": "code", "value": source}, "numbers": numbers},
            "outputs": [total],
            "base_classes": ["Message"],
        }
        return ComponentDescription(node)
