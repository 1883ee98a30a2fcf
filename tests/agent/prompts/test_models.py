"""What the prompt of a build says about models: the default and the configured ones, as a model field takes them."""

import re

import pytest
from pydantic_ai.models import Model

from agent.assistant import Assistant
from agent.models.clients import Clients
from agent.models.providers import PROVIDERS
from agent.models.scripted import call
from agent.settings import AssistantSettings
from flows.catalogue import Catalogue
from flows.fields.model_values import canonical_model
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import ScriptedModel, play
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio
CONFIGURED = {
    "OPENAI_API_KEY": "k",
    "OPENROUTER_API_KEY": "k",
    "OPENAI_COMPATIBLE_BASE_URL": "http://127.0.0.1:9/v1",
    "AZURE_OPENAI_API_KEY": "k",
    "AZURE_OPENAI_ENDPOINT": "http://127.0.0.1:9",
}


async def prompt_of(catalogue: Catalogue, classified: str = "build_flow", **settings: str) -> str:
    """The line about models in a build's prompt, on an assistant whose providers are configured but scripted."""
    model = ScriptedModel(classified, call("build_flow", 1, spec=ECHO), "Done.")

    def connects(*_: object, **__: object) -> Model:
        return model

    own = Assistant(
        AssistantSettings(**settings),  # pyright: ignore[reportArgumentType] - the names of settings
        StandInRunner(),
        catalogue=catalogue,
        clients=Clients(lambda: CONFIGURED, connects),
    )
    await play(own, "Build an echo")
    assert len(model.requests) == 3
    return model.prompts[1]


@pytest.fixture(autouse=True)
def configured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several providers, some of which have no models of their own to name."""
    for name, value in CONFIGURED.items():
        monkeypatch.setenv(name, value)


async def test_one_line_names_the_default_and_every_other_configured_provider(catalogue: Catalogue) -> None:
    [line] = [line for line in (await prompt_of(catalogue)).splitlines() if line.startswith("[Models:")]
    newest = PROVIDERS["openai"].models[0]
    assert f"leave model fields empty for the default, openai:{newest}." in line
    assert "Also configured: openrouter:openai/gpt-6.1-sol, azure:NAME, openai-compatible:NAME." in line
    assert "openai-chat" not in line, "one name for both of OpenAI's APIs"
    assert "anthropic:" not in line


async def test_every_name_of_the_line_is_accepted_by_a_model_field(catalogue: Catalogue) -> None:
    prompt = await prompt_of(catalogue, model="openai-compatible:granite")
    [line] = [line for line in prompt.splitlines() if line.startswith("[Models:")]
    names = re.findall(r"[a-z-]+:[\w./-]*\w", line.partition(" for the default, ")[2])
    assert names[0] == "openai-compatible:granite"
    assert len(names) == 4
    for name in names:
        assert canonical_model(name)


async def test_the_model_that_the_user_names_is_written_as_a_field_takes_it(catalogue: Catalogue) -> None:
    said = '{"intent": "build_flow", "provider": "Azure OpenAI", "model": "my-deployment"}'
    assert "[The user names this model for the flow: azure:my-deployment]" in await prompt_of(catalogue, said)
    said = '{"intent": "build_flow", "provider": "OpenAI", "model": null}'
    assert f"openai:{PROVIDERS['openai'].models[0]}]" in await prompt_of(catalogue, said)
