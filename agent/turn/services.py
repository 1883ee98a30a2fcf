"""What a turn needs from its assistant."""

from typing import Protocol

from pydantic_ai.models import Model

from agent.conversation.later_runs import LaterRuns
from agent.conversation.memory import Memory
from agent.conversation.queue import TurnQueue
from agent.models.providers import ModelChoice, ProviderInfo
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.keychain.user_variables import UserVariables
from runtime.sessions.runs import RunLog
from runtime.usage.log import UsageLog
from tools.workbench import Workbench


class CanvasStore(Protocol):
    """The stored flow that a turn works on."""

    @property
    def version(self) -> int | None:
        """The version that the turn found; None where none are counted."""
        ...

    async def load(self) -> Flow:
        """Read it again, because the turn had to wait for others.

        Raises:
            AssistantUnavailable: it is not there any more.
        """
        ...

    async def save(self, canvas: Flow) -> object:
        """Save the canvas at the end of the turn, once."""
        ...


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

    @property
    def later_runs(self) -> LaterRuns | None:
        """Flows that are run once the engine is installed; None when turns wait for that."""
        ...

    @property
    def run_log(self) -> RunLog:
        """Keeps what ran."""
        ...

    @property
    def usage_log(self) -> UsageLog:
        """Counts what is used."""
        ...

    @property
    def queue(self) -> TurnQueue:
        """Lets one turn of a conversation run at a time."""
        ...

    def variables(self, user: str) -> UserVariables:
        """The variables that a user keeps."""
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

    def providers(self, choice: ModelChoice) -> list[ProviderInfo]:
        """The providers whose models the flows of a turn's user may use."""
        ...

    def workbench(self, request: TurnRequest, catalogue: Catalogue, choice: ModelChoice) -> Workbench:
        """A workbench for one turn."""
        ...
