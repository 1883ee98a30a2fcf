"""The environment of a play: the assistant's settings, the component types, the flow engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from agent.settings import AssistantSettings
from evals.attempt import Versions
from evals.behaviours.recorded import Behaviours, packaged
from evals.play.user_components import UserComponents, with_user_components
from flows.bundles import BundleIndex
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.engine.component_results import DESCRIBE_SECONDS, ComponentDescription, ComponentFailure
from runtime.options import RunOptions
from runtime.results import RunResult
from tools.workbench import FlowRunner

if TYPE_CHECKING:
    from runtime.runner import Runner

PATIENCE: Final = 10.0
"""How much longer limits of time are where the harness plays itself: a busy machine does not reach them."""


@dataclass(frozen=True, kw_only=True)
class PlayEnvironment:
    """The environment of an attempt.

    Attributes:
        runner: runs flows, for the player and for the probes.
        versions: of the prompts, the tools and the engine, for the journal.
        repeat: the number of the try, from 0.
        digest: the hash of the scenario as in its file, without the addresses of its services.
        services: the addresses of the scenario's services, by name.
        user_components: the scenario's component types. The assistant does not read them from here, but from the
            request and from the user's folder, as any user's.
        bundles: what can be installed; None takes what ships with the package.
        behaviours: what flows are known to give on the inputs of scenarios.
        patience: how many times as long the turns of an attempt may take; its runner has a patience of its own.
    """

    settings: AssistantSettings
    catalogue: Catalogue
    runner: FlowRunner
    versions: Versions = field(default_factory=Versions)
    repeat: int = 0
    digest: str = ""
    services: Mapping[str, str] = field(default_factory=dict[str, str])
    user_components: UserComponents = field(default_factory=UserComponents)
    bundles: BundleIndex | None = None
    behaviours: Behaviours = field(default_factory=packaged)
    patience: float = 1.0

    @cached_property
    def component_types(self) -> Catalogue:
        """The built-in component types and the scenario's, from which its flows are built."""
        return with_user_components(self.catalogue, self.user_components.types)


def patient(runner: FlowRunner, patience: float) -> FlowRunner:
    """A runner whose runs may take a multiple of their time; no other limit changes."""
    return runner if patience == 1.0 else cast("FlowRunner", _Patient(runner, patience))


class _Patient:
    def __init__(self, runner: FlowRunner, patience: float) -> None:
        self._runner = runner
        self._patience = patience

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)

    async def execute(self, flow: Flow, text: str | None, options: RunOptions) -> RunResult:
        """Run a flow, with more time."""
        return await self._runner.execute(flow, text, replace(options, timeout=options.timeout * self._patience))

    async def describe_component(
        self, source: str, name: str, *, timeout: float = DESCRIBE_SECONDS
    ) -> ComponentDescription | ComponentFailure:
        """Create and describe a component, with more time."""
        runner = cast("Runner", self._runner)
        return await runner.describe_component(source, name, timeout=timeout * self._patience)
