"""An address of a provider to which the server does not connect is refused for what it is, with a way out."""

import pytest
from pydantic_ai import Agent

from agent.errors import explain
from agent.models.connections import connect
from flows.catalogue import Catalogue
from tests.server.live import serving
from tests.shared.scripted_assistant import assistant
from tests.shared.wires import addressed

pytestmark = pytest.mark.anyio
PATH = "/api/v1/providers/openai-chat"
LINK_LOCAL = [
    "http://169.254.1.2:8000/v1",
    "http://[fe80::1]:8000",
    "http://[fe80::1%25eth0]/v1",
    "http://[::ffff:169.254.1.2]",
]


@pytest.mark.parametrize("address", LINK_LOCAL)
async def test_a_link_local_address_is_named_as_such_where_it_is_stored(address: str, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.put(PATH, json={"base_url": address, "api_key": "sk-key-of-this-test-1234"})
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (422, "invalid_key")
    assert "link-local address" in error["message"]
    assert "another address" in error["fix"]


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://100.100.100.200", "a cloud's own services"),
        ("http://me:secret@models.example", "a user or a password"),
        ("ftp://models.example", "is not an address"),
        ("models.example", "is not an address"),
    ],
)
async def test_other_addresses_are_refused_for_other_reasons(address: str, why: str, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.put(PATH, json={"base_url": address, "api_key": "sk-key-of-this-test-1234"})
    assert why in reply.json()["error"]["message"]
    assert "secret" not in reply.text


async def test_an_address_of_the_environment_is_refused_when_it_is_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    model = connect("openai-chat", "m", addressed("openai-chat", "http://169.254.1.2"))
    async with model:
        with pytest.raises(Exception) as raised:
            await Agent(model, retries=0).run("hello")
    assert isinstance(raised.value, Exception)
    error = explain(raised.value, "openai-chat", [])
    assert error.code == "address_refused"
    assert "link-local" in error.message
    assert "another address" in error.fix
