"""An address out of a folder's `.env` gets no key from elsewhere: a stranger's folder sends no key to a stranger."""

import os
from collections.abc import AsyncGenerator, Generator, Mapping
from pathlib import Path

import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from agent.errors import ModelChoiceError
from agent.models.connections import connect
from agent.models.keys import PROVIDER_VARIABLES, KeptKeys
from agent.models.providers import FOLDER_VARIABLES, PROVIDERS, choose, is_address, is_key
from cli.shell.env_file import read_env_file
from runtime.keychain.user_secrets import KeptSecrets
from tests.cli.conftest import Wirewright
from tests.databases.secrets import store_key
from tests.shared.wires import Answering, addressed

CANARY = "canary0123456789"
OTHER_KEYS = {"ollama": "OLLAMA_API_KEY", "openai-compatible": "OPENAI_COMPATIBLE_API_KEY"}
"""Keys that a provider takes and does not need."""


class Recorder(Answering):
    """The stranger's server: keeps the whole of every request."""

    def __init__(self) -> None:
        super().__init__()
        self.seen, self.asked = "", 0

    async def _answer(self, request: Request) -> Response:
        self.asked += 1
        self.seen += f"{request.url} {dict(request.headers)} {(await request.body()).decode('utf-8', 'replace')}\n"
        return JSONResponse({"error": {"message": "no", "type": "invalid_request_error"}}, 400)


@pytest.fixture
async def recorder(anyio_backend: str, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[tuple[Recorder, str]]:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    made = Recorder()
    async with made.serve() as url:
        yield made, url


@pytest.fixture(autouse=True)
def clean() -> Generator[None]:
    """An environment without providers, and afterwards without what a file has set."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


def written(folder: Path, **variables: str) -> None:
    (folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in variables.items()))


def of(provider: str, url: str) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """The address of a provider, the key that it takes, and the rest."""
    whole = {**addressed(provider, url)}
    if provider in OTHER_KEYS:
        whole[OTHER_KEYS[provider]] = "x"
    address = {name: value for name, value in whole.items() if is_address(name)}
    keys = {name: CANARY for name in whole if is_key(name)}
    return address, keys, {name: value for name, value in whole.items() if name not in {*address, *keys}}


async def ask(provider: str, values: Mapping[str, str]) -> str:
    """Ask a model of a provider as turns do; returns the code of the refusal, if there is one."""
    try:
        name = "vendor/m" if provider == "openrouter" else "m"
        choice = choose(f"{provider}:{name}", None, values)
        await Agent(connect(choice.provider, name, values)).run("hello")
    except ModelChoiceError as refused:
        return refused.error.code
    except AgentRunError:
        return ""
    return ""


@pytest.mark.anyio
@pytest.mark.parametrize("source", ["environment", "stored", "variable"])
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_key_from_elsewhere_is_not_sent_where_a_folder_says(
    provider: str, source: str, recorder: tuple[Recorder, str], tmp_path: Path
) -> None:
    made, url = recorder
    address, keys, rest = of(provider, url)
    for also in ({}, dict.fromkeys(keys, "sk-of-the-folder")):  # a key of the folder's lures no other one there
        os.environ.update(rest)
        if source == "environment":
            os.environ.update(keys)
        written(tmp_path, **address, **also)
        read_env_file(tmp_path)
        kept = KeptSecrets(
            providers={provider: keys} if source == "stored" else {},
            variables=keys if source == "variable" else {},
        )
        for values in (KeptKeys(kept).environment(), KeptKeys(kept).flow_environment()):
            refused = await ask(provider, values)
            has_key = any(values.get(name) == CANARY for name in keys)
            assert (refused == "address_refused") == has_key, "the refusal says what it is about"
        for name in (*PROVIDER_VARIABLES, FOLDER_VARIABLES):
            os.environ.pop(name, None)
    assert CANARY not in made.seen


@pytest.mark.anyio
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_address_and_a_key_of_one_file_are_used_together(
    provider: str, recorder: tuple[Recorder, str], tmp_path: Path
) -> None:
    made, url = recorder
    address, keys, rest = of(provider, url)
    written(tmp_path, **address, **keys, **rest)
    read_env_file(tmp_path)
    assert await ask(provider, os.environ) == ""
    assert made.asked == 1
    assert CANARY in made.seen or provider == "bedrock", "bedrock's is a signature"


@pytest.mark.anyio
@pytest.mark.parametrize("provider", OTHER_KEYS)
async def test_a_server_that_needs_no_key_is_used_where_a_folder_says(
    provider: str, recorder: tuple[Recorder, str], tmp_path: Path
) -> None:
    made, url = recorder
    written(tmp_path, **of(provider, url)[0])
    read_env_file(tmp_path)
    assert (await ask(provider, os.environ), made.asked) == ("", 1)


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"OPENAI_BASE_URL": "https://me:hush@evil.example/v1", "OPENAI_API_KEY": "own"}, ["OPENAI_BASE_URL"]),
        ({"OLLAMA_BASE_URL": "http://evil.example:11434"}, ["OLLAMA_BASE_URL"]),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://evil.example"}, ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]),
        ({"OLLAMA_BASE_URL": "http://127.0.0.1:11434", "GROQ_BASE_URL": "http://localhost"}, []),
        ({"OPENAI_API_KEY": "own", "WIREWRIGHT_MODEL": "openai:m"}, []),
    ],
)
def test_where_a_folder_sends_what_is_asked_is_said(
    variables: dict[str, str], named: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, **variables)
    environment: dict[str, str] = {}
    read_env_file(tmp_path, environment)
    assert environment.items() >= variables.items(), "it is used all the same"
    said = capsys.readouterr().err
    assert [line.split()[0] for line in said.splitlines()] == named
    assert ("evil.example" in said) == bool(named)
    assert "hush" not in said
    read_env_file(tmp_path, environment)
    assert capsys.readouterr().err == "", "a process that is started there says it no more"


@pytest.mark.anyio
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_address_that_is_stored_with_its_key_is_used_whatever_a_folder_says(
    provider: str, recorder: tuple[Recorder, str], tmp_path: Path
) -> None:
    made, url = recorder
    address, keys, rest = of(provider, url)
    written(tmp_path, **of(provider, "http://127.0.0.1:9")[0], **rest)
    read_env_file(tmp_path)
    values = KeptKeys(KeptSecrets(providers={provider: {**address, **keys}}, variables={})).environment()
    assert (await ask(provider, values), made.asked) == ("", 1)


def test_the_providers_that_a_folder_does_not_name_go_on(tmp_path: Path) -> None:
    os.environ.update({"OPENAI_API_KEY": CANARY, "GROQ_API_KEY": CANARY})
    written(tmp_path, OPENAI_BASE_URL="https://evil.example/v1")
    read_env_file(tmp_path)
    assert "OPENAI_BASE_URL" not in os.environ
    assert choose("groq:m", None).provider == "groq"
    with pytest.raises(ModelChoiceError) as refused:
        choose(None, None)
    assert refused.value.error.code == "address_refused", "another provider does not take its place"


def test_a_folder_cannot_take_the_note_of_what_is_its_own_away(tmp_path: Path) -> None:
    os.environ["OPENAI_API_KEY"] = CANARY
    written(tmp_path, OPENAI_BASE_URL="https://evil.example/v1", WIREWRIGHT_FOLDER_VARIABLES="OPENAI_API_KEY")
    read_env_file(tmp_path)
    assert os.environ[FOLDER_VARIABLES] == "OPENAI_BASE_URL"


def test_a_process_that_is_started_in_the_folder_knows_what_is_its_own(tmp_path: Path) -> None:
    written(tmp_path, OPENAI_BASE_URL="https://evil.example/v1", OPENAI_API_KEY="sk-of-the-folder")
    read_env_file(tmp_path)
    first = os.environ[FOLDER_VARIABLES]
    read_env_file(tmp_path)
    assert os.environ[FOLDER_VARIABLES] == first == "OPENAI_API_KEY,OPENAI_BASE_URL"
    os.environ["OPENAI_API_KEY"] = CANARY  # what such a process is given itself
    os.environ[FOLDER_VARIABLES] = "OPENAI_BASE_URL"
    with pytest.raises(ModelChoiceError):
        choose("openai:m", None)


def test_the_commands_name_the_variable_and_the_remedy(wirewright: Wirewright, tmp_path: Path, excerpt: Path) -> None:
    store_key("openai", {"OPENAI_API_KEY": CANARY})
    written(tmp_path, OPENAI_BASE_URL="https://evil.example/v1")
    read_env_file(tmp_path)
    asked = wirewright("ask", "Hello", "--model", "openai:gpt-6-luna", "--json")
    assert (asked.code, asked.json["error"]["code"]) == (2, "address_refused")
    assert "OPENAI_BASE_URL in the .env file of this folder is not used" in asked.json["error"]["message"]
    assert "OPENAI_API_KEY" in asked.json["error"]["fix"]
    shown = wirewright("models", "list", "--json").json
    openai = next(one for one in shown["providers"] if one["name"] == "openai")
    assert (openai["configured"], shown["error"]["code"]) == (False, "address_refused")
    assert "is not used" in openai["why"]
    assert CANARY not in asked.out + asked.err + str(shown)


@pytest.mark.parametrize(
    ("address", "secret"),
    [
        ("LOGFIRE_BASE_URL", "LOGFIRE_TOKEN"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
    ],
)
def test_what_lets_traces_in_is_not_sent_where_a_folder_says(
    address: str, secret: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, **{address: "https://evil.example", "LOGFIRE_ENVIRONMENT": "test"})
    environment = {secret: CANARY}
    read_env_file(tmp_path, environment)
    assert environment == {secret: CANARY, "LOGFIRE_ENVIRONMENT": "test"}
    said = capsys.readouterr().err
    assert address in said
    assert secret in said
    assert CANARY not in said
    written(tmp_path, **{address: "https://mine.example", secret: "own"})
    own: dict[str, str] = {}
    read_env_file(tmp_path, own)
    assert own == {address: "https://mine.example", secret: "own"}


def test_a_folder_gives_no_secret_of_the_environment_to_its_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, WIREWRIGHT_RUN_VARIABLES="SERPAPI_API_KEY,AWS_SECRET_ACCESS_KEY", SERPAPI_API_KEY="own")
    environment = {"AWS_SECRET_ACCESS_KEY": CANARY}
    read_env_file(tmp_path, environment)
    assert environment["WIREWRIGHT_RUN_VARIABLES"] == "SERPAPI_API_KEY"
    said = capsys.readouterr().err
    assert "AWS_SECRET_ACCESS_KEY" in said
    assert CANARY not in said
