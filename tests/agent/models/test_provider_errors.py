"""What providers' error replies are taken for, sent over loopback to their real clients."""

from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent

from agent.errors import explain
from agent.models.chain import chain
from agent.models.connections import connect
from agent.models.providers import PROVIDERS
from runtime.gateway.provider_errors import is_model_unavailable
from tests.shared.wires import Answering, addressed
from tests.shared.yaml_files import read_yaml

pytestmark = pytest.mark.anyio

TABLE: list[dict[str, Any]] = read_yaml(Path(__file__).parent / "provider_errors.yaml")
NAMES = {"openrouter": "x/m", "bedrock": "anthropic.claude-haiku-5-5"}


@pytest.fixture(autouse=True)
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real clients may be made here; they reach loopback alone."""
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")


@pytest.fixture
async def answering() -> AsyncGenerator[tuple[Answering, str]]:
    answering = Answering()
    async with answering.serve() as address:
        yield answering, address


def test_the_table_knows_every_provider() -> None:
    assert {row["provider"] for row in TABLE} == set(PROVIDERS)
    for provider in PROVIDERS:
        codes = {row["code"] for row in TABLE if row["provider"] == provider}
        assert "unavailable" in codes
        assert codes - {"unavailable"}


async def failed(provider: str, environment: Mapping[str, str]) -> Exception:
    """What asking a model raises."""
    model = connect(provider, NAMES.get(provider, "m"), environment)
    async with model:
        with pytest.raises(Exception) as raised:
            await Agent(chain([model]), retries=0).run("hello")
    assert isinstance(raised.value, Exception)
    return raised.value


@pytest.mark.table
@pytest.mark.parametrize("row", TABLE, ids=[f"{row['provider']}-{row['status']}-{row['code']}" for row in TABLE])
async def test_a_provider_s_error_is_classified(row: dict[str, Any], answering: tuple[Answering, str]) -> None:
    server, address = answering
    server.reply(row["status"], row["body"], {"x-amzn-errortype": row["error"]} if "error" in row else {})
    failure = await failed(row["provider"], addressed(row["provider"], address))
    assert server.requests == 1
    error = explain(failure, row["provider"], ["m"])
    assert is_model_unavailable(failure) == (row["code"] == "unavailable"), (error, failure)
    assert error.code == ("models_exhausted" if row["code"] == "unavailable" else row["code"]), (error, failure)
    assert row.get("says", "") in error.message
    assert error.fix


async def test_an_unreachable_provider_is_explained(answering: tuple[Answering, str]) -> None:
    for address, cause in (
        ("http://127.0.0.1:1", "Nothing listens at its address."),
        ("http://nowhere.invalid", "Its name cannot be found."),
    ):
        failure = await failed("openai-compatible", {"OPENAI_COMPATIBLE_BASE_URL": address})
        error = explain(failure, "openai-compatible", ["m"])
        assert (error.code, error.message) == (
            "model_unreachable",
            f"The provider could not be reached. The cause: {cause}",
        )
        assert not is_model_unavailable(failure)
