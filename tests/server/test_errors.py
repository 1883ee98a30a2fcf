"""Bad requests get typed errors with the right status, and nothing of the inside gets out."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from agent.assistant import Assistant
from flows.catalogue import Catalogue
from server.json_response import json_bytes
from server.settings import ServerSettings
from tests.server.live import ASSIST, FLOWS, STREAM, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio
JSON = {"Content-Type": "application/json"}


def error(reply: httpx.Response, status: int) -> dict[str, Any]:
    """The error of a reply, whose form is checked."""
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/json"
    found = reply.json()["error"]
    assert set(found) == {"code", "message", "fix", "where", "request_id"}
    assert found["request_id"] == reply.headers["X-Request-ID"]
    assert found["code"]
    assert found["message"]
    return found


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"input_value": "x"} {}',
        b'{"input_value": NaN}',
        b'{"input_value": "\\ud800"}',
        b"[" * 20_000,
    ],
    ids=["empty", "cut", "not utf-8", "two", "nan", "half a surrogate pair", "deep"],
)
async def test_a_body_that_is_not_json_is_a_400(body: bytes, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        for path in (STREAM, ASSIST, FLOWS):
            assert error(await live.client.post(path, content=body, headers=JSON), 400)["code"] == "not_json"


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ([], "$"),
        ("text", "$"),
        ({}, "$.input_value"),
        ({"input_value": None}, "$.input_value"),
        ({"input_value": 7}, "$.input_value"),
        ({"input_value": "x", "session_id": ["a"]}, "$.session_id"),
        ({"input_value": "x", "session_id": "s" * 300}, "$.session_id"),
        ({"input_value": "x", "max_retries": -1}, "$.max_retries"),
        ({"input_value": "x", "flow": "f"}, "$.flow"),
        ({"input_value": "x", "flow": {"data": []}}, "$.flow.data"),
        ({"input_value": "x", "flow": {"nodes": [{}]}}, "$.flow.nodes[0].id"),
        ({"input_value": "x", "flow": {"nodes": []}, "flow_id": "a"}, "$.flow_id"),
    ],
)
async def test_a_wrong_field_is_a_422_that_names_it(document: object, where: str, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        for path in (STREAM, ASSIST):
            assert error(await live.client.post(path, json=document), 422)["where"] == where


async def test_what_was_sent_is_not_echoed(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.post(ASSIST, json={"input_value": {"key": "sk-secret"}})
        assert "sk-secret" not in reply.text


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
async def test_another_content_type_is_a_415(kind: str, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.post(STREAM, content=b'{"input_value": "x"}', headers={"Content-Type": kind})
        assert "Content-Type: application/json" in error(reply, 415)["fix"]


async def test_json_with_a_charset_is_json(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.post(
            ASSIST,
            content=json_bytes({"input_value": "é"}),
            headers={"Content-Type": "Application/JSON; charset=utf-8"},
        )
        assert reply.status_code == 200


async def test_a_body_over_the_limit_is_a_413(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue), ServerSettings(flow_body_limit=1_000_000)) as live:
        for size in (1_000_001, 5_000_000):
            reply = await live.client.post(STREAM, content=b"x" * size, headers=JSON)
            assert error(reply, 413)["code"] == "too_large"


async def test_a_body_over_the_limit_is_a_413_when_its_length_is_not_declared(catalogue: Catalogue) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b"x" * 65_536

    async with serving(assistant(catalogue), ServerSettings(flow_body_limit=1_000_000)) as live:
        reply = await live.client.post(FLOWS, content=chunks(), headers=JSON)
        assert "content-length" not in reply.request.headers
        assert error(reply, 413)["code"] == "too_large"


async def test_a_body_at_the_limit_is_read(catalogue: Catalogue) -> None:
    document = json_bytes({"input_value": "What does Chat Input do?", "padding": ""})
    body = document.replace(b'""', b'"' + b"x" * (1_000_000 - len(document)) + b'"')
    assert len(body) == 1_000_000
    async with serving(assistant(catalogue)) as live:
        assert (await live.client.post(ASSIST, content=body, headers=JSON)).status_code == 200


async def test_a_body_that_does_not_arrive_is_a_408(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.requests.body.READ_SECONDS", 0.01)
    async with serving(assistant(catalogue)) as live:
        reader, writer = await asyncio.open_connection(live.client.base_url.host, live.client.base_url.port)
        writer.write(
            f"POST {STREAM} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Authorization: {live.client.headers['authorization']}\r\n"
            'Content-Length: 100\r\n\r\n{"input'.encode()
        )
        head = await reader.readuntil(b"\r\n")
        writer.close()
    assert head == b"HTTP/1.1 408 Request Timeout\r\n"


async def test_a_client_that_asks_first_is_refused_before_it_sends(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue), ServerSettings(flow_body_limit=1_000_000)) as live:
        reader, writer = await asyncio.open_connection(live.client.base_url.host, live.client.base_url.port)
        writer.write(
            f"POST {STREAM} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Authorization: {live.client.headers['authorization']}\r\n"
            "Content-Length: 2000000\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        head = await reader.readuntil(b"\r\n")
        writer.close()
    assert head.startswith(b"HTTP/1.1 413 ")


async def test_an_unknown_address_is_a_404_and_a_wrong_method_a_405(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        assert error(await live.client.get("/api/v1/nothing"), 404)["code"] == "not_found"
        for method, path, allowed in (
            ("GET", STREAM, {"POST"}),
            ("POST", "/healthz", {"GET", "HEAD"}),
            ("DELETE", FLOWS, {"GET", "HEAD", "POST"}),
            ("POST", f"{FLOWS}/x", {"GET", "HEAD", "PUT", "PATCH", "DELETE"}),
            ("OPTIONS", ASSIST, {"POST"}),
        ):
            reply = await live.client.request(method, path)
            assert error(reply, 405)["code"] == "method_not_allowed"
            assert set(reply.headers["allow"].split(", ")) == allowed


@pytest.mark.parity("base-error-flow-file")
async def test_an_unknown_flow_is_a_404_before_the_stream_starts(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        for flow_id in ("", "not-a-uuid", "3f0b6c1e-6f3f-4d0c-9d0a-3f1e0c1b2a3d", "../x", "é" * 5_000):
            reply = await live.client.post(STREAM, json={"input_value": "x", "flow_id": flow_id})
            assert error(reply, 404)["code"] == "flow_not_found"
            assert len(reply.text) < 1_000


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"provider": "acme"}, "unknown_provider"),
        ({"provider": "openai"}, "provider_not_configured"),
        ({"provider": "Anthropic", "model_name": "claude-opus-5-5"}, "provider_not_configured"),
        ({"model_name": "openai:gpt-6-luna"}, "provider_not_configured"),
        ({"model_name": "gpt-6-luna"}, "no_provider"),
        ({"provider": "demo", "model_name": "gpt-6-luna"}, "unknown_model"),
        ({"provider": "openai", "model_name": "anthropic:claude-x"}, "model_mismatch"),
    ],
)
async def test_an_unavailable_model_is_a_400_and_never_the_demo(
    asked: dict[str, str], code: str, catalogue: Catalogue
) -> None:
    async with serving(assistant(catalogue)) as live:
        for path in (STREAM, ASSIST):
            reply = await live.client.post(path, json={"input_value": "Build an echo", **asked})
            assert error(reply, 400)["code"] == code


class Broken(Assistant):
    """An assistant with a defect."""

    def turn(self, *_: object) -> Any:
        """Fail."""
        raise RuntimeError("secret detail in /home/someone")


async def test_a_defect_is_a_500_without_its_text(catalogue: Catalogue) -> None:
    broken = Broken(ServerSettings(), assistant(catalogue).runner, catalogue=catalogue, model=ScriptedModel())
    async with serving(broken) as live:
        reply = await live.client.post(STREAM, json={"input_value": "x"})
        assert error(reply, 500)["code"] == "internal"
        assert "secret" not in reply.text
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert (await live.client.get("/healthz")).status_code == 200
