"""The workbench: what the tools of one turn work on, and the only place that changes the turn's flow."""

from dataclasses import dataclass, field
from typing import Protocol

from pydantic_ai import RunContext

from flows.actions import FlowAction, SetFlow
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edit import Edit
from runtime.gateway.access import Models
from runtime.results import ModelUsage, RunError, RunResult
from runtime.runner import Network, OnEvent
from runtime.tweaks import Tweaks
from tools.events import FlowPreview, FlowUpdate


class Runs(Protocol):
    """Something that runs flows: the real runner, or a stand-in of a test."""

    @property
    def state(self) -> str:
        """Where the runner is in its life: `new`, `installing`, `starting`, `ready`, `failed` or `closed`."""
        ...

    @property
    def failure(self) -> RunError | None:
        """Why it cannot run flows, while the state is `failed`."""
        ...

    async def ready(self, timeout: float | None = None) -> bool:
        """Wait up to `timeout` seconds until flows can run; whether they can."""
        ...

    async def run(
        self,
        flow: Flow,
        text: str | None = None,
        *,
        timeout: float = 60.0,
        session: str | None = None,
        want_nodes: bool = False,
        network: Network = "open",
        models: Models | None = None,
        on_event: OnEvent | None = None,
        tweaks: Tweaks | None = None,
    ) -> RunResult:
        """Run a flow once; a flow that fails is a result with an error, not an exception.

        `on_event` is called with what happens in it as it comes; `tweaks` are values for this run alone.
        """
        ...


async def obstacle(runner: Runs, seconds: float) -> RunError | None:
    """Wait for a runner that is still being prepared; returns why flows cannot run, or None when they can.

    Args:
        runner: runs flows.
        seconds: how long to wait at most.
    """
    if await runner.ready(seconds):
        return None
    return runner.failure or RunError(
        code="timeout", message="The flow engine is still being prepared.", fix="Try again in a minute."
    )


@dataclass
class Workbench:
    """The dependencies of one turn's agent run.

    Attributes:
        user: who asks.
        session: the conversation.
        catalogue: the component types that may be used.
        runner: runs flows.
        flow: the canvas. Only `commit` and `accept` change it.
        proposal: a canvas not yet accepted, when one was built this turn.
        actions: every change to the canvas this turn, in order.
        runs: the user's runs of this turn; verification runs are not among them.
        caveats: what could not be verified, in words for the user.
        failures: fingerprints of specs and flows that failed, to notice a model that repeats itself.
        proposal_ran: whether the proposal, as it stands, was run for the user.
        models: what the flows of this turn may call; None leaves that to the runner.
        flow_usage: what the models of those flows took, verification runs included.
    """

    user: str
    session: str
    catalogue: Catalogue
    runner: Runs
    flow: Flow
    proposal: Flow | None = None
    actions: list[FlowAction] = field(default_factory=list[FlowAction])
    runs: list[RunResult] = field(default_factory=list[RunResult])
    caveats: list[str] = field(default_factory=list[str])
    failures: list[str] = field(default_factory=list[str])
    proposal_ran: bool = False
    models: Models | None = None
    flow_usage: ModelUsage = field(default_factory=ModelUsage)

    @property
    def current(self) -> Flow:
        """The flow that tools read and run: the proposal when there is one, else the canvas."""
        return self.flow if self.proposal is None else self.proposal

    @property
    def acted(self) -> bool:
        """Whether anything was changed, proposed or run this turn."""
        return bool(self.actions or self.runs) or self.proposal is not None

    def count(self, run: RunResult) -> None:
        """Add what a run's models took."""
        for usage in run.usage.values():
            self.flow_usage += usage

    async def commit(self, ctx: RunContext["Workbench"], edit: Edit) -> None:
        """Take an edit: live on the canvas, or into the proposal when there is one."""
        if self.proposal is not None:
            await self.propose(ctx, edit.flow)
            return
        self.flow = edit.flow
        self.actions.extend(edit.actions)
        for action in edit.actions:
            await ctx.emit(FlowUpdate(action=action))

    async def propose(self, ctx: RunContext["Workbench"], flow: Flow) -> None:
        """Put a whole flow forward; the canvas stays as it is until the turn is settled."""
        self.proposal = flow
        self.proposal_ran = False
        await ctx.emit(FlowUpdate(action=SetFlow(old=self.flow.raw, new=flow.raw), applied=False))
        await ctx.emit(FlowPreview.of(flow))

    def accept(self, flow: Flow) -> FlowUpdate:
        """Replace the canvas with a settled flow; the returned event carries the old one as restore point."""
        action = SetFlow(old=self.flow.raw, new=flow.raw)
        self.flow, self.proposal = flow, None
        self.actions.append(action)
        return FlowUpdate(action=action)
