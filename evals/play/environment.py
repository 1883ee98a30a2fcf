"""The environment of a play: the assistant's settings, the component types, the flow engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from agent.settings import AssistantSettings
from evals.attempt import Versions
from evals.behaviours.recorded import Behaviours, packaged
from evals.play.user_components import UserComponents, with_user_components
from flows.bundles import BundleIndex
from flows.catalogue import Catalogue
from tools.workbench import FlowRunner


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

    @cached_property
    def component_types(self) -> Catalogue:
        """The built-in component types and the scenario's, from which its flows are built."""
        return with_user_components(self.catalogue, self.user_components.types)
