"""The clients of providers: made off the loop, once for each provider and its keys, and kept within bounds."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pydantic_ai.models import Model
from pydantic_ai.models.test import TestModel
from pydantic_ai.providers import Provider

from agent.assistant import Assistant
from agent.errors import ModelChoiceError
from agent.models.clients import MODELS, Clients
from agent.models.providers import ModelChoice
from agent.settings import AssistantSettings
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import play
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio
KEYS = {"OPENAI_API_KEY": "k"}
PATIENCE = 30.0
"""Seconds until a test that would hang fails instead."""


class Making:
    """Makes models that answer anything, remembers which, and can be held up."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.began = threading.Event()
        self.go_on = threading.Event()
        self.held_up = False

    def __call__(
        self,
        provider: str,
        name: str,
        environment: Mapping[str, str] | None = None,
        *,
        client: Callable[[], Provider[Any]] | None = None,
    ) -> Model:
        """Make one."""
        self.made.append(f"{provider}:{name}")
        self.began.set()
        if self.held_up:
            assert self.go_on.wait(PATIENCE), "nothing else could go on while the client was made"
        return TestModel(custom_output_text="off_topic", model_name=name)


async def test_other_work_goes_on_while_a_turn_s_client_is_made(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    making = Making()
    making.held_up = True
    who = Assistant(
        AssistantSettings(model="openai:one"),
        StandInRunner(),
        catalogue=catalogue,
        clients=Clients(lambda: KEYS, making),
    )
    turn = asyncio.create_task(play(who, "Tell me a joke"))
    assert await asyncio.to_thread(making.began.wait, PATIENCE)
    making.go_on.set()  # reached only because the loop is free
    assert (await turn).outcome == "refused"
    assert making.made[0] == "openai:one"


async def test_a_model_is_made_once_while_its_keys_stay_the_same() -> None:
    making, keys = Making(), dict(KEYS)
    clients = Clients(lambda: keys, making)
    choice = ModelChoice(provider="openai", names=("one", "two"))
    await asyncio.gather(*(clients.models(choice) for _ in range(8)))
    assert making.made == ["openai:one", "openai:two"]
    keys["OPENAI_API_KEY"] = "another"
    clients.models_now(choice)
    assert len(making.made) == 4


async def test_a_cached_model_is_returned_at_once() -> None:
    making = Making()
    clients = Clients(lambda: KEYS, making)
    choice = ModelChoice(provider="openai", names=("one", "two"))
    await clients.models(choice)
    with pytest.raises(StopIteration) as given:  # it waits for nothing
        clients.models(choice).send(None)
    assert isinstance(given.value.value, Model)
    assert making.made == ["openai:one", "openai:two"]


async def test_cached_models_are_limited() -> None:
    making = Making()
    clients = Clients(lambda: KEYS, making)
    clients.models_now(ModelChoice(provider="openai", names=("often",)))
    for number in range(MODELS + 10):
        clients.models_now(ModelChoice(provider="openai", names=(f"once-{number}",)))
        clients.models_now(ModelChoice(provider="openai", names=("often",)))
    assert making.made.count("openai:often") == 1
    clients.models_now(ModelChoice(provider="openai", names=("once-0",)))
    assert making.made.count("openai:once-0") == 2, "the one unused for longest went"


async def test_the_models_of_a_provider_share_one_client_which_is_closed_at_the_end() -> None:
    clients = Clients(lambda: KEYS)
    one, two = (clients.models_now(ModelChoice(provider="openai", names=(name,))) for name in ("gpt-a", "gpt-b"))
    assert one.provider is not None
    assert one.provider.client is two.provider.client
    await clients.aclose()
    assert one.provider.client.is_closed()


async def test_a_provider_that_cannot_make_a_model_says_so_from_the_thread_too() -> None:
    def refuses(*_: object, **__: object) -> Model:
        raise ModelChoiceError.of("unknown_model", "OpenAI has no such model.", "Check the name.")

    clients = Clients(lambda: KEYS, refuses)
    with pytest.raises(ModelChoiceError, match="no such model"):
        await clients.models(ModelChoice(provider="openai", names=("one",)))
