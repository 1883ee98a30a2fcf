"""What a turn needs from its assistant."""

from typing import Protocol

from pydantic_ai.models import Model

from agent.conversation.memory import Memory
from agent.models.providers import ModelChoice, ProviderInfo
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from flows.catalogue import Catalogue
from tools.workbench import Workbench


class TurnServices(Protocol):
    """Settings, memory, catalogue, models and workbenches for turns."""

    @property
    def settings(self) -> AssistantSettings:
        """The assistant's settings."""
        ...

    @property
    def memory(self) -> Memory:
        """Stores conversations."""
        ...

    @property
    def knows_components(self) -> bool:
        """Whether the component types are available without waiting for the runner's first installation."""
        ...

    async def catalogue(self) -> Catalogue:
        """The component types.

        Raises:
            AssistantUnavailable: when they are not available.
        """
        ...

    async def model(self, choice: ModelChoice) -> Model:
        """The model of one turn."""
        ...

    def providers(self) -> list[ProviderInfo]:
        """The providers whose models a flow may use."""
        ...

    def workbench(self, request: TurnRequest, catalogue: Catalogue, choice: ModelChoice) -> Workbench:
        """A workbench for one turn."""
        ...
