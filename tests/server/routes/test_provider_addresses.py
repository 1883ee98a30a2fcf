"""A key goes only to the address that it was given for: what an attacker with the token tries over HTTP to have one."""

import os
from collections.abc import AsyncGenerator

import httpx
import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from agent.errors import ModelChoiceError
from agent.models.connections import connect
from agent.models.keys import PROVIDER_VARIABLES, ProviderKeys, is_address, is_key
from agent.models.providers import PROVIDERS
from flows.catalogue import Catalogue
from runtime.files.folders import LOCAL_USER
from server.settings import ServerSettings
from tests.databases.secrets import opened
from tests.server.live import Live, serving
from tests.shared.scripted_assistant import assistant
from tests.shared.wires import Answering, addressed

pytestmark = pytest.mark.anyio

PROVIDERS_PATH = "/api/v1/providers"
VARIABLES_PATH = "/api/v1/variables"
CANARY = "canary0123456789"
MORE = ("ANTHROPIC_AUTH_TOKEN", "OPENAI_ADMIN_KEY", "AZURE_OPENAI_AD_TOKEN", "GROQ_TOKEN")
"""Variables that SDKs may read by themselves."""


class Recorder(Answering):
    """The attacker's server: keeps the whole of every request."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = ""

    async def _answer(self, request: Request) -> Response:
        self.requests += 1
        self.seen += f"{request.url} {dict(request.headers)} {(await request.body()).decode('utf-8', 'replace')}\n"
        return JSONResponse({"error": {"message": "no", "type": "invalid_request_error"}}, 400)


@pytest.fixture
async def recorder() -> AsyncGenerator[tuple[Recorder, str]]:
    made = Recorder()
    async with made.serve() as url:
        yield made, url


@pytest.fixture
async def live(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Live]:
    """A server whose environment has every key."""
    for name in (*PROVIDER_VARIABLES, *MORE):
        if is_key(name) or name in MORE:
            monkeypatch.setenv(name, f"sk-{CANARY}")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    async with serving(assistant(catalogue)) as made:
        yield made


def stored_address(provider: str, url: str) -> dict[str, str]:
    return {name: value for name, value in addressed(provider, url).items() if is_address(name)}


async def ask_every_provider() -> None:
    """Ask each available provider as turns and as flows ask it, whatever comes of it."""
    settings = ServerSettings()
    async with opened(settings.database_url, settings.data) as database:
        keys = await ProviderKeys(database).read()
    for values in (keys.environment(), keys.flow_environment()):
        for info in PROVIDERS.values():
            if info.available(values) and any(is_address(name) and values.get(name) for name in info.variables):
                try:
                    name = "vendor/m" if info.name == "openrouter" else "m"
                    await Agent(connect(info.name, name, values)).run("hello")
                except (AgentRunError, ModelChoiceError):
                    continue


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_no_key_of_the_environment_goes_to_an_address_stored_over_http(
    provider: str, live: Live, recorder: tuple[Recorder, str]
) -> None:
    made, url = recorder
    await live.client.put(f"{PROVIDERS_PATH}/{provider}", json={"values": stored_address(provider, url)})
    await ask_every_provider()
    whole = dict(addressed(provider, url))
    reply = await live.client.put(f"{PROVIDERS_PATH}/{provider}", json={"values": whole})
    assert reply.status_code == 200
    await ask_every_provider()
    assert made.requests
    assert CANARY not in made.seen


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_no_key_of_the_environment_goes_to_an_address_kept_as_a_variable(
    provider: str, live: Live, recorder: tuple[Recorder, str]
) -> None:
    made, url = recorder
    for name, value in stored_address(provider, url).items():
        assert (await live.client.put(f"{VARIABLES_PATH}/{name}", json={"value": value})).status_code == 200
    await ask_every_provider()
    assert CANARY not in made.seen


def code(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["code"]


@pytest.mark.parametrize("provider", [name for name in PROVIDERS if name not in ("ollama", "openai-compatible")])
async def test_another_address_needs_the_key_again(
    provider: str, catalogue: Catalogue, recorder: tuple[Recorder, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    made, url = recorder
    mine = {
        name: CANARY if is_key(name) else value for name, value in addressed(provider, "http://127.0.0.1:9").items()
    }
    async with serving(assistant(catalogue)) as live:
        assert (await live.client.put(f"{PROVIDERS_PATH}/{provider}", json={"values": mine})).status_code == 200
        moved = await live.client.put(f"{PROVIDERS_PATH}/{provider}", json={"values": stored_address(provider, url)})
        assert code(moved) == (422, "key_required")
        assert CANARY not in moved.text
        await ask_every_provider()
    assert CANARY not in made.seen


async def test_a_provider_that_shares_its_key_with_another_cannot_move_it(
    catalogue: Catalogue, recorder: tuple[Recorder, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    made, url = recorder
    async with serving(assistant(catalogue)) as live:
        await live.client.put(f"{PROVIDERS_PATH}/openai", json={"api_key": CANARY})
        moved = await live.client.put(f"{PROVIDERS_PATH}/openai-chat", json={"base_url": url})
        assert code(moved) == (422, "key_required")
        assert (await live.client.delete(f"{PROVIDERS_PATH}/openai-chat")).status_code == 404
        moved = await live.client.put(f"{PROVIDERS_PATH}/openai-chat", json={"base_url": url, "api_key": "theirs"})
        assert moved.status_code == 200
        await ask_every_provider()
    assert made.requests
    assert CANARY not in made.seen


async def test_a_kept_key_does_not_follow_an_address_that_is_kept_later(
    catalogue: Catalogue, recorder: tuple[Recorder, str]
) -> None:
    _, url = recorder
    async with serving(assistant(catalogue)) as live:
        await live.client.put(f"{VARIABLES_PATH}/OPENAI_API_KEY", json={"value": CANARY})
        moved = await live.client.put(f"{VARIABLES_PATH}/OPENAI_BASE_URL", json={"value": url})
        assert code(moved) == (422, "key_required")
        assert "OPENAI_API_KEY" in moved.json()["error"]["fix"]
        await live.client.delete(f"{VARIABLES_PATH}/OPENAI_API_KEY")
        assert (await live.client.put(f"{VARIABLES_PATH}/OPENAI_BASE_URL", json={"value": url})).status_code == 200


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_key_kept_as_a_variable_does_not_go_to_an_address_that_is_stored_later(
    provider: str, catalogue: Catalogue, recorder: tuple[Recorder, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    made, url = recorder
    whole = dict(addressed(provider, url))
    async with serving(assistant(catalogue)) as live:
        for name in filter(is_key, PROVIDERS[provider].variables):
            assert (await live.client.put(f"{VARIABLES_PATH}/{name}", json={"value": CANARY})).status_code == 200
        assert (await live.client.put(f"{PROVIDERS_PATH}/{provider}", json={"values": whole})).status_code == 200
        await ask_every_provider()
    assert made.requests
    assert CANARY not in made.seen


async def test_a_server_that_needs_no_key_is_stored_without_one(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        for _ in range(2):
            stored = await live.client.put(f"{PROVIDERS_PATH}/ollama", json={"base_url": "http://127.0.0.1:11434/v1"})
            assert stored.json()["available"]


async def test_the_environments_own_address_gets_the_environments_key(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "mine")
    monkeypatch.setenv("GROQ_BASE_URL", "http://127.0.0.1:9")
    found = (await assistant(catalogue).keys_of(LOCAL_USER).read()).environment(os.environ)
    assert (found["GROQ_API_KEY"], found["GROQ_BASE_URL"]) == ("mine", "http://127.0.0.1:9")
