"""Whole turns whose provider is a scripted one on loopback, spoken to in its real wire format."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from agent.turn.result import TurnEvent, TurnResult
from flows.catalogue import Catalogue
from scripts.cassettes import WIRES
from scripts.scripted_provider import Reply
from scripts.wire_formats import EveryWire
from tests.shared.scripted_assistant import play_all
from tests.shared.stand_ins import StandInRunner
from tests.shared.wires import addressed


@dataclass
class ProviderTurns:
    """An assistant and the provider behind it.

    Attributes:
        assistant: takes the turns.
        bodies: the bodies of the requests so far.
        times: when each of them came, in seconds.
    """

    assistant: Assistant
    bodies: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    times: list[float] = field(default_factory=list[float])

    async def take(self, text: str) -> tuple[list[TurnEvent], TurnResult]:
        """One turn: its events, and its result."""
        return await play_all(self.assistant, text, session="one")


@asynccontextmanager
async def provider_turns(
    wire: str, catalogue: Catalogue, monkeypatch: Any, *replies: Reply, **settings: Any
) -> AsyncGenerator[ProviderTurns]:
    """An assistant whose provider gives these replies in order.

    Args:
        wire: a name of `WIRES`.
        catalogue: the component types.
        monkeypatch: sets the provider's variables.
        replies: what the provider answers.
        **settings: of the assistant.
    """
    left = iter(replies)

    def answer(body: dict[str, Any]) -> Reply:
        turns.bodies.append(body)
        turns.times.append(time.monotonic())
        return next(left)

    async with EveryWire(answer).serve() as url:
        monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
        for name, value in addressed(WIRES[wire].model.partition(":")[0], url.removesuffix("/v1")).items():
            monkeypatch.setenv(name, value)
        own = AssistantSettings(model=WIRES[wire].model, **settings)
        turns = ProviderTurns(Assistant(own, StandInRunner(), catalogue=catalogue))
        try:
            yield turns
        finally:
            await turns.assistant.aclose()
