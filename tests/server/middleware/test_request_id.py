"""Request ids: taken or made, in the response, in error bodies and in every log line; and what lines never hold."""

import asyncio
import io
import json
import logging
import re
from collections.abc import Generator
from typing import Any, Literal

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.telemetry import LOGGER, bound_fields, context_fields
from server.middleware.request_id import HEADER, PROBES, request_id_of
from server.telemetry.logs import JsonFormatter, PlainFormatter
from tests.server.live import ASSIST, FLOWS, STREAM, serving
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE}-b7ad6b7169203331-01"
KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
WORDS = "zebras by the river"


class Lines:
    """What was logged, as one line a record in each form."""

    def __init__(self) -> None:
        self.json, self.text = io.StringIO(), io.StringIO()

    @property
    def records(self) -> list[dict[str, Any]]:
        """The lines of JSON."""
        return [json.loads(line) for line in self.json.getvalue().splitlines()]


@pytest.fixture
def lines() -> Generator[Lines]:
    """The log of a test: warnings of every logger, and information of ours."""
    found, root = Lines(), logging.getLogger()
    handlers = [logging.StreamHandler(found.json), logging.StreamHandler(found.text)]
    handlers[0].setFormatter(JsonFormatter())
    handlers[1].setFormatter(PlainFormatter("%(message)s"))
    for handler in handlers:
        root.addHandler(handler)
    yield found
    for handler in handlers:
        root.removeHandler(handler)


@pytest.mark.parametrize(
    ("headers", "taken"),
    [
        ({HEADER: "order-17.a:b_c"}, "order-17.a:b_c"),
        ({HEADER: "x" * 64}, "x" * 64),
        ({HEADER: "order-17", "traceparent": TRACEPARENT}, "order-17"),
        ({"traceparent": TRACEPARENT}, TRACE),
        ({HEADER: "two words", "traceparent": TRACEPARENT}, TRACE),
        ({HEADER: ""}, None),
        ({HEADER: "x" * 65}, None),
        ({HEADER: "a\x1b[2J"}, None),
        ({HEADER: "ünïcode".encode("latin-1").decode("latin-1")}, None),
        ({HEADER: KEY}, None),
        ({"traceparent": f"00-{'0' * 32}-b7ad6b7169203331-01"}, None),
        ({"traceparent": f"ff-{TRACE}-b7ad6b7169203331-01"}, None),
        ({"traceparent": "nonsense"}, None),
    ],
)
def test_an_id_is_taken_when_it_is_one_and_made_otherwise(headers: dict[str, str], taken: str | None) -> None:
    found = request_id_of(Headers(headers))
    assert found == taken or (taken is None and re.fullmatch("[0-9a-f]{32}", found))


@given(st.text(max_size=200))
def test_an_id_is_bounded_and_harmless_whatever_was_sent(sent: str) -> None:
    raw = [(HEADER.lower().encode(), sent.encode("utf-8", "surrogatepass"))]
    assert re.fullmatch(r"[A-Za-z0-9._:-]{1,64}", request_id_of(Headers(raw=raw)))


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", FLOWS, {}, 200),
        ("GET", "/healthz", {}, 200),
        ("GET", "/nowhere", {}, 404),
        ("DELETE", "/healthz", {}, 405),
        ("POST", FLOWS, {}, 415),
        ("GET", f"{FLOWS}/none", {}, 404),
        ("GET", FLOWS, {"Host": "evil.example"}, 403),
        ("GET", FLOWS, {"Authorization": "Bearer wrong"}, 401),
    ],
)
async def test_every_response_carries_the_id_and_so_does_the_body_of_an_error(
    method: str, path: str, headers: dict[str, str], status: int, catalogue: Catalogue
) -> None:
    async with serving(assistant(catalogue)) as live:
        for sent, expected in (({HEADER: "mine"}, "mine"), ({}, None)):
            reply = await live.client.request(method, path, headers={**headers, **sent})
            assert reply.status_code == status
            assert reply.headers[HEADER] == (expected or reply.headers[HEADER])
            assert len(reply.headers.get_list(HEADER)) == 1
            if status >= 400:
                assert reply.json()["error"]["request_id"] == reply.headers[HEADER]


async def test_a_failure_of_the_server_carries_the_id_as_well(
    catalogue: Catalogue, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("server.routes.assist.config", broken)
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.get("/api/v1/agentic/check-config", headers={HEADER: "mine"})
    assert (reply.status_code, reply.headers[HEADER]) == (500, "mine")
    assert reply.json()["error"]["request_id"] == "mine"
    [failed] = [line for line in lines.records if "exception" in line]
    assert failed["request_id"] == "mine"


async def test_every_line_of_a_request_has_its_id_and_every_line_of_a_turn_the_turns(
    catalogue: Catalogue, lines: Lines
) -> None:
    model = ScriptedModel(
        "build_flow", [call("build_flow", 1, spec=ECHO)], [call("run_flow", 2, input="hi")], "Built and ran it."
    )
    async with serving(assistant(catalogue, model, StandInRunner(results=[ran("hi")]))) as live:
        reply = await live.client.post(STREAM, json={"input_value": "Build an echo"}, headers={HEADER: "first"})
        assert reply.status_code == 200
        assert (await live.client.get(FLOWS, headers={HEADER: "second"})).status_code == 200
    found = [line for line in lines.records if line["logger"] == LOGGER]
    of_turn = [line for line in found if line["message"].startswith(("assistant.", "flow_builder."))]
    assert {line["request_id"] for line in of_turn} == {"first"}
    assert len({line["turn_id"] for line in of_turn}) == 1
    assert {line["message"] for line in of_turn} >= {
        "assistant.request.started",
        "flow_builder.tool.invoked",
        "assistant.run.finished",
        "assistant.request.completed",
    }
    ended = [line for line in found if line["message"] == "server.request.finished"]
    assert [(line["request_id"], line["method"], line["route"], line["status"]) for line in ended] == [
        ("first", "POST", STREAM, 200),
        ("second", "GET", FLOWS, 200),
    ]
    assert "turn_id" not in ended[1]


async def test_requests_at_the_same_time_do_not_mix(catalogue: Catalogue, lines: Lines) -> None:
    async with serving(assistant(catalogue, ScriptedModel(*["off_topic"] * 8))) as live:

        async def ask(name: str) -> httpx.Response:
            body = {"input_value": "Tell me a joke", "session_id": name}
            return await live.client.post(ASSIST, json=body, headers={HEADER: name})

        await asyncio.gather(*(ask(f"r{number}") for number in range(8)))
    told = [line for line in lines.records if "session_id" in line]
    assert {line["session_id"] for line in told} == {f"r{number}" for number in range(8)}
    assert all(line["request_id"] == line["session_id"] for line in told)
    assert len({line["turn_id"] for line in told}) == 8


@pytest.mark.parametrize("form", ["json", "text"])
async def test_neither_keys_nor_contents_are_logged(
    form: Literal["json", "text"], catalogue: Catalogue, lines: Lines, echo: JsonObject
) -> None:
    model = ScriptedModel("build_flow", [call("run_flow", 1, input=WORDS)], f"It says {WORDS}.")
    async with serving(assistant(catalogue, model, StandInRunner(results=[ran(WORDS)]))) as live:
        token = live.client.headers["Authorization"].removeprefix("Bearer ")
        asked = {"input_value": f"Run it with {WORDS}", "flow": echo, "session_id": KEY}
        assert (await live.client.post(ASSIST, json=asked, headers={HEADER: KEY})).status_code == 200
        await live.client.put("/api/v1/providers/openai", json={"api_key": KEY})
        await live.client.put("/api/v1/variables/MY_KEY", json={"value": KEY})
        files = {"file": ("zebras.txt", WORDS, "text/plain")}
        assert (await live.client.post("/api/v1/files", files=files)).status_code < 300
        await live.client.get(f"{FLOWS}?q={KEY}")
        await live.client.get(f"{FLOWS}/{KEY}")
        await live.client.get(FLOWS, headers={"Authorization": f"Bearer {KEY}"})
        await live.client.get(FLOWS, headers={"Cookie": f"session={KEY}"})
    written = getattr(lines, form).getvalue()
    assert "assistant.request.completed" in written
    for content in (KEY, KEY[8:30], token, WORDS):
        assert content not in written


async def test_probes_are_answered_without_a_line(catalogue: Catalogue, lines: Lines) -> None:
    async with serving(assistant(catalogue)) as live:
        for path in PROBES:
            assert (await live.client.get(path)).headers[HEADER]
    assert [line for line in lines.records if line["message"] == "server.request.finished"] == []


async def test_fields_hold_for_a_block_and_what_it_starts(lines: Lines) -> None:
    async def told() -> str | None:
        return context_fields().get("turn_id")

    with bound_fields(turn_id="t"):
        started = asyncio.create_task(told())
        assert await asyncio.to_thread(lambda: context_fields().get("turn_id")) == "t"
        assert "turn_id=t" in PlainFormatter("%(message)s").format(logging.makeLogRecord({"msg": "x"}))
    assert await started == "t"
    assert await told() is None
