"""Players: who takes the turns of a scenario."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from agent.settings import AssistantSettings
from agent.turn import TurnEvent, TurnRequest
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
        build: the versions of all this, for the journal.
    """

    settings: AssistantSettings
    catalogue: Catalogue
    runner: Runs
    build: str = ""


class Turns(Protocol):
    """Something that takes turns: the assistant, or anything that speaks like it."""

    def turn(self, request: TurnRequest) -> AbstractAsyncContextManager[AsyncIterator[TurnEvent]]:
        """The events of one turn; the last is a `TurnEnded`."""
        ...


class Unplayable(Exception):
    """This player has nothing to play this scenario with."""


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
