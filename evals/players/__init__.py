"""Players: who takes the turns of a scenario."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from agent.settings import AssistantSettings
from agent.turn.result import TurnEnded, TurnEvent, TurnRequest, TurnResult
from evals.attempt import Versions
from evals.play.components import Own, beside
from evals.scenario import Scenario
from flows.catalogue import Catalogue
from tools.workbench import Runs


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What every attempt is played on.

    Attributes:
        settings: the assistant's.
        catalogue: the component types.
        runner: runs flows, for the player and for the probes.
        versions: of the prompts, the tools and the engine, for the journal.
        repeat: which try of a scenario this seat is for, from 0.
        digest: the hash of the scenario as its file says it, before its services had addresses.
        services: the addresses of its services, by name.
        own: the scenario's own component types. The assistant is not told of them here but as it is told of any
            user's: by the request, and by the user's folder.
    """

    settings: AssistantSettings
    catalogue: Catalogue
    runner: Runs
    versions: Versions = field(default_factory=Versions)
    repeat: int = 0
    digest: str = ""
    services: Mapping[str, str] = field(default_factory=dict[str, str])
    own: Own = field(default_factory=Own)

    @cached_property
    def known(self) -> Catalogue:
        """The component types with the scenario's own beside them: what its flows are read with."""
        return beside(self.catalogue, self.own.types)


class Turns(Protocol):
    """Something that takes turns: the assistant, or anything that speaks like it."""

    def turn(self, request: TurnRequest) -> AbstractAsyncContextManager[AsyncIterator[TurnEvent]]:
        """The events of one turn; the last is a `TurnEnded`."""
        ...


class Unplayable(Exception):
    """This player has nothing to play this scenario with, or cannot go on; the message says why."""


class Player(Protocol):
    """Plays scenarios."""

    @property
    def name(self) -> str:
        """How the journal and reports call it."""
        ...

    def seat(self, scenario: Scenario, stage: Stage, /) -> Turns:
        """Sit down to one attempt.

        Raises:
            Unplayable: when it cannot play this scenario.
        """
        ...


@asynccontextmanager
async def ending(result: TurnResult) -> AsyncGenerator[AsyncIterator[TurnEvent]]:
    """A turn that tells nothing but its result."""

    async def events() -> AsyncIterator[TurnEvent]:
        yield TurnEnded(result=result)

    yield events()
