"""A request that names an Idempotency-Key: repeated, it gets the same answer and makes nothing twice, at any route."""

import asyncio
import itertools
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.routing import Route

from flows.catalogue import Catalogue
from flows.document import JsonObject
from flows.spec.build import build
from flows.templates import templates
from server.access.scopes import UNREPEATED
from server.app import create_app
from server.idempotency import check, keys
from server.idempotency.check import HEADER, REPLAYED, TURN_HEADER
from server.settings import ServerSettings
from tests.databases.stored import query
from tests.server.limits.conftest import Seconds, user
from tests.server.live import ASSIST, FLOWS, STREAM, Live, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]
FILES = "/api/v1/files"
Sent = tuple[dict[str, Any], dict[str, Any]]
"""The arguments of a request, and those of another one."""


REPEATABLE = {
    "/api/v1/agentic/turns/{turn_id}/cancel",
    "/api/v1/agentic/approvals/{session:path}/withdraw",
    "/api/v1/runs/{run_id}/cancel",
    "/api/v1/bundles/{name}/install",
    "/api/v1/components/configure",
    "/api/v1/users/{user}/revoke",
    *("/api/v1/users", "/api/v1/users/{user}/rotate"),  # tests/server/access/test_user_routes.py
}
"""Paths that make nothing, where a second request without a key finds that it is done, or have a test of their own."""


def creating() -> list[str]:
    """The paths at which a POST makes something."""
    routes = [route for route in create_app(ServerSettings()).routes if isinstance(route, Route)]
    return [
        route.path
        for route in routes
        if route.path not in UNREPEATED | REPEATABLE
        and ("POST" in (route.methods or ()) or hasattr(route.endpoint, "post"))
    ]


def sent(echo: JsonObject, path: str) -> Sent:
    """What a route is sent, and something else."""
    if path == FILES:
        return {"files": {"file": ("a.txt", b"one")}}, {"files": {"file": ("a.txt", b"two")}}
    bodies: dict[str, tuple[object, object]] = {
        FLOWS: (echo, {**echo, "name": "Other"}),
        f"{FLOWS}/import": ([echo, echo], [echo]),
        f"{FLOWS}/{{flow_id}}/run": ({"input_value": "hi"}, {"input_value": "ho"}),
        f"{FLOWS}/{{flow_id}}/batch": ({"inputs": ["hi"]}, {"inputs": ["ho"]}),
        f"{FLOWS}/{{flow_id}}/schedules": ({"cron": "0 7 * * *"}, {"cron": "0 8 * * *"}),
        f"{FLOWS}/{{flow_id}}/revisions/{{version}}/restore": ({"version": 1}, {"version": 2}),
        f"{FLOWS}/{{flow_id}}/update-components": ({"version": 1}, {"preview": True}),
        "/api/v1/conversations/{session:path}/rewind": ({"message": "t1"}, {"message": "t2"}),
        "/api/v1/templates/{name}/flows": ({"name": "Mine"}, {"name": "Other"}),
        "/api/v1/agentic/client-metrics": (
            {"metrics": [{"name": "assistant_flow_proposal_continue_total"}]},
            {"metrics": [{"name": "assistant_flow_proposal_dismiss_total"}]},
        ),
        "/api/chat": (
            {"id": "c", "message": {"role": "user", "parts": [{"type": "text", "text": "Hello"}]}},
            {"id": "d", "message": {"role": "user", "parts": [{"type": "text", "text": "Hello"}]}},
        ),
        ASSIST: ({"input_value": "Hello"}, {"input_value": "Goodbye"}),
        STREAM: ({"input_value": "Hello"}, {"input_value": "Goodbye"}),
        "/ag-ui": (
            {"threadId": "t", "runId": "r1", "messages": [{"role": "user", "content": "Hello"}]},
            {"threadId": "t", "runId": "r2", "messages": [{"role": "user", "content": "Goodbye"}]},
        ),
    }
    first, other = bodies.get(path, ({}, {"session_id": "other"}))
    return {"json": first}, {"json": other}


@asynccontextmanager
async def opened(
    catalogue: Catalogue, echo: JsonObject, *, works: bool = True
) -> AsyncGenerator[tuple[Live, str, StandInRunner]]:
    """A server with one flow, which leaves jobs to others unless it works."""
    runner = StandInRunner()
    model = ScriptedModel(*("off_topic", "No.") * 9)
    async with serving(assistant(catalogue, model, runner), ServerSettings(work_here=works)) as live:
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        yield live, flow, runner


async def everything(client: httpx.AsyncClient, flow: str) -> list[object]:
    """What a user has."""
    addresses = (FLOWS, FILES, f"{FLOWS}/{flow}/revisions", "/api/v1/usage", "/api/v1/schedules", "/api/v1/batches")
    return [(await client.get(address)).json() for address in addresses]


@pytest.mark.table
@pytest.mark.parametrize("path", creating())
async def test_a_repeated_request_makes_nothing_twice_at_any_route(
    path: str, catalogue: Catalogue, echo: JsonObject
) -> None:
    first, other = sent(echo, path)
    of_jobs = any(name in path for name in ("{job_id}", "{batch_id}", "/batch"))
    async with opened(catalogue, echo, works=not of_jobs) as (live, flow, _), user(live, "eve") as eve:
        if "{job_id}" in path or "{batch_id}" in path:
            queued = await live.client.post(f"{FLOWS}/{flow}/batch", json={"inputs": ["a"], "id": "b"})
            assert queued.status_code == 202
            if path.endswith("/retry"):
                assert (await live.client.post("/api/v1/batches/b/cancel")).status_code == 200
        if "{session" in path:
            said = {"input_value": "Hello", "session_id": "s", "turn_id": "t1"}
            assert (await live.client.post(ASSIST, json=said)).status_code == 200
        template = next(one.name for one in templates() if build(one.spec, catalogue).flow is not None)
        named = path.replace("{session:path}", "s")
        address = named.format(flow_id=flow, version=1, name=template, job_id="b.0", batch_id="b")
        headers = {HEADER: "key-1"}
        one = await live.client.post(address, headers=headers, **first)
        before = await everything(live.client, flow)
        two = await live.client.post(address, headers=headers, **first)
        assert one.status_code < 300, (one.text, "the table of this test needs a body for this route")
        assert await everything(live.client, flow) == before, "nothing was made twice"
        if path in {STREAM, "/api/chat", "/ag-ui"}:
            assert (two.status_code, two.json()["error"]["code"]) == (409, "already_streamed")
            assert two.headers[TURN_HEADER] == one.headers[TURN_HEADER]
        else:
            assert (two.status_code, two.content, two.headers[REPLAYED]) == (one.status_code, one.content, "true")
            kept = ("content-type", "location", "etag")
            assert [two.headers.get(name) for name in kept] == [one.headers.get(name) for name in kept]
        wrong = await live.client.post(address, headers=headers, **other)
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "idempotency_key_reused")
        assert await everything(live.client, flow) == before
        hers = await eve.post(address, headers=headers, **first)
        assert REPLAYED not in hers.headers, "another user's key is another key"
        assert hers.status_code in (one.status_code, 404)
        again = await live.client.post(address, headers={HEADER: "key-2"}, **first)
        assert REPLAYED not in again.headers


async def test_a_webhook_is_made_once_and_its_token_is_shown_and_kept_nowhere_again(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    async with opened(catalogue, echo) as (live, flow, _):
        body: dict[str, Any] = {"json": {"kind": "webhook"}, "headers": {HEADER: "k"}}
        one, two = [await live.client.post(f"{FLOWS}/{flow}/schedules", **body) for _ in range(2)]
        assert (one.status_code, two.status_code) == (201, 409)
        assert two.json()["error"]["code"] == "answer_not_kept"
        assert len((await live.client.get("/api/v1/schedules")).json()["schedules"]) == 1
    assert query(ServerSettings().database_url, "SELECT state, answer FROM idempotency_keys") == [("not_kept", "")]


def test_the_manual_names_every_post_that_takes_no_key() -> None:
    manual = (Path(__file__).parents[3] / "docs" / "http-api.md").read_text()
    sentence = manual.partition("Every `POST` takes a key but ")[2].partition(". A key is")[0]
    assert set(re.findall(r"`(/[^`]+)`", sentence)) == UNREPEATED


async def test_a_second_request_while_the_first_runs_is_told_so(catalogue: Catalogue, echo: JsonObject) -> None:
    async with opened(catalogue, echo) as (live, flow, runner):
        runner.hangs = True
        headers, address = {HEADER: "k"}, f"{FLOWS}/{flow}/run"
        first = asyncio.create_task(live.client.post(address, json={}, headers=headers))
        await runner.running.wait()
        second = await live.client.post(address, json={}, headers=headers)
        assert (second.status_code, second.json()["error"]["code"]) == (409, "request_in_progress")
        first.cancel()
        await runner.cancelled.wait()
        runner.hangs = False
        third = await live.client.post(address, json={}, headers=headers)
        for _ in range(500):
            if third.status_code != 409:
                break
            await asyncio.sleep(0.01)
            third = await live.client.post(address, json={}, headers=headers)
        assert third.status_code == 200, "the first was ended, so that its key is free"
    assert len(runner.asked) == 2


async def test_of_many_at_once_one_is_done(catalogue: Catalogue, echo: JsonObject) -> None:
    async with opened(catalogue, echo) as (live, _, _):
        asked = (live.client.post(FLOWS, json=echo, headers={HEADER: "k"}) for _ in range(8))
        replies = await asyncio.gather(*asked)
        assert {reply.status_code for reply in replies} <= {201, 409}
        assert len({reply.content for reply in replies if reply.status_code == 201}) == 1
        assert (await live.client.get(FLOWS)).json()["total"] == 2


async def test_an_error_makes_nothing_and_its_key_can_be_used_again(catalogue: Catalogue, echo: JsonObject) -> None:
    async with opened(catalogue, echo) as (live, _, _):
        headers = {HEADER: "k"}
        wrong = [await live.client.post(FLOWS, json={"data": 1}, headers=headers) for _ in range(2)]
        assert [reply.status_code for reply in wrong] == [422, 422]
        first, second = ({**reply.json()["error"], "request_id": ""} for reply in wrong)
        assert first == second
        assert (await live.client.post(FLOWS, json=echo, headers=headers)).status_code == 201


async def test_a_key_is_kept_for_a_day(catalogue: Catalogue, echo: JsonObject) -> None:
    clock = Seconds()
    async with opened(catalogue, echo) as (live, _, _):
        live.server.config.app.state.idempotency.clock = clock  # type: ignore[union-attr]  # uvicorn's type
        headers = {HEADER: "k"}
        first = await live.client.post(FLOWS, json=echo, headers=headers)
        clock.now += keys.KEPT_SECONDS - 1
        assert (await live.client.post(FLOWS, json=echo, headers=headers)).content == first.content
        clock.now += 2
        later = await live.client.post(FLOWS, json=echo, headers=headers)
        assert (later.status_code, later.json()["id"] == first.json()["id"]) == (201, False)


async def test_too_many_keys_are_refused_until_the_first_is_gone(
    catalogue: Catalogue, echo: JsonObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "KEYS", 2)
    clock, number = Seconds(), itertools.count()
    async with opened(catalogue, echo) as (live, _, _), user(live, "eve") as eve:
        live.server.config.app.state.idempotency.clock = clock  # type: ignore[union-attr]  # uvicorn's type

        async def post(client: httpx.AsyncClient) -> httpx.Response:
            return await client.post(FLOWS, json=echo, headers={HEADER: f"k{next(number)}"})

        assert [(await post(live.client)).status_code for _ in range(2)] == [201, 201]
        clock.now += 100
        full = await post(live.client)
        assert (full.status_code, full.json()["error"]["code"]) == (429, "too_many_keys")
        assert (await post(eve)).status_code == 201
        clock.now += int(full.headers["retry-after"]) - 2
        assert (await post(live.client)).status_code == 429
        clock.now += 2
        assert (await post(live.client)).status_code == 201


async def test_an_answer_that_is_too_large_is_not_kept_and_nothing_is_made_twice(
    catalogue: Catalogue, echo: JsonObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "LIMIT", 100)
    async with opened(catalogue, echo) as (live, _, _):
        replies = [await live.client.post(FLOWS, json=echo, headers={HEADER: "k"}) for _ in range(2)]
        assert replies[0].json()["version"] == 1, "the first answer arrives whole"
        assert (replies[1].status_code, replies[1].json()["error"]["code"]) == (409, "answer_not_kept")
        assert (await live.client.get(FLOWS)).json()["total"] == 2


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "é"])
async def test_a_key_that_cannot_be_used_is_refused(key: str, catalogue: Catalogue, echo: JsonObject) -> None:
    async with opened(catalogue, echo) as (live, _, _):
        reply = await live.client.post(FLOWS, json=echo, headers={HEADER: key.encode("latin-1")})  # type: ignore[dict-item]
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "invalid_idempotency_key")


async def test_an_answer_is_stored_encrypted(catalogue: Catalogue, echo: JsonObject) -> None:
    async with opened(catalogue, echo) as (live, _, _):
        await live.client.post(FLOWS, json={**echo, "name": "Name-9c1e"}, headers={HEADER: "k"})
    ((answer, state),) = query(ServerSettings().database_url, "SELECT answer, state FROM idempotency_keys")
    assert state == "answered"
    assert answer.startswith("sealed:")
    assert "Name-9c1e" not in answer
