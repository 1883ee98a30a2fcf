"""Schedules and webhooks over HTTP: they run flows by themselves, and tell of failures where that is allowed."""

import asyncio
import json
from typing import Any, NoReturn
from unittest.mock import patch

import anyio
import httpx
import pytest

from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.egress.addresses import Address
from runtime.egress.hosts import read_hosts
from runtime.egress.policy import EgressPolicy
from runtime.results import RunError
from server.jobs.notices import TRIES, BadAddress, checked_address, tell
from server.settings import ServerSettings
from tests.databases.stored import query
from tests.server.live import FLOWS, serving
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
LONG_AGO = "2026-01-01T00:00:00.000+00:00"
BROKEN = ran(error=RunError(code="crash", message="It broke."))


class Heard:
    """An address that notes what is posted to it, and answers with the next of some statuses."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.bodies: list[dict[str, Any]] = []
        self.came = asyncio.Event()

    async def __aenter__(self) -> str:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}/told?a=b"

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        size = int(head.partition("content-length:")[2].split("\r\n")[0])
        assert head.startswith("post /told?a=b ")
        self.bodies.append(json.loads(await reader.readexactly(size)))
        status = self.statuses.pop(0) if self.statuses else 204
        writer.write(f"HTTP/1.1 {status} So\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()
        self.came.set()


async def run_of(client: httpx.AsyncClient, job: str) -> dict[str, Any]:
    """The run of a job, once it has ended."""
    with anyio.fail_after(60):
        while not (found := (await client.get(f"/api/v1/jobs/{job}")).json())["ended_at"]:  # noqa: ASYNC110  (no event tells)
            await asyncio.sleep(0.1)
    return (await client.get(f"/api/v1/runs/{found['run']}")).raise_for_status().json()


@pytest.mark.both_databases
async def test_a_schedule_runs_its_flow_when_it_is_due_and_its_run_is_kept(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    settings = ServerSettings()
    async with serving(assistant(catalogue, None, StandInRunner(results=[ran("said")])), settings) as live:
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        body = {"cron": "0 7 * * 1-5", "zone": "Europe/Berlin", "input_value": "hi"}
        made = await live.client.post(f"{FLOWS}/{flow}/schedules", json=body)
        assert (made.status_code, made.json()["token"], made.json()["url"]) == (201, None, ""), made.text
        place = made.headers["location"]
        query(settings.database_url, "update schedules set next_at = :then", then=LONG_AGO)
        rest = (await live.client.patch(place, json={"is_on": True})).json()  # looks at it again
        assert rest["next_at"] > LONG_AGO
        query(settings.database_url, "update schedules set next_at = :then", then=LONG_AGO)
        await live.client.post(f"{FLOWS}/{flow}/schedules", json=body)  # wakes who looks at the times
        with anyio.fail_after(60):
            while not (job := (await live.client.get(place)).json()["last_job"]):  # noqa: ASYNC110  (no event tells)
                await asyncio.sleep(0.1)
        run = await run_of(live.client, job)
        assert (run["source"], run["input"], run["output"], run["state"]) == ("schedule", "hi", "said", "succeeded")
        assert len((await live.client.get(f"{FLOWS}/{flow}/schedules")).json()["schedules"]) == 2
        assert (await live.client.delete(place)).status_code == 204
        assert len((await live.client.get("/api/v1/schedules")).json()["schedules"]) == 1


async def test_a_webhook_is_called_with_its_own_token_and_a_body(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue, None, StandInRunner(results=[ran("said")]))) as live:
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        body = {"kind": "webhook", "input_value": "as made"}
        made = (await live.client.post(f"{FLOWS}/{flow}/schedules", json=body)).json()
        assert made["token"].startswith("whk_")
        assert "token" not in (await live.client.get(f"/api/v1/schedules/{made['id']}")).json()
        refused = await live.stranger.post(made["url"])
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "webhook_refused")
        assert (await live.client.post(made["url"])).status_code == 401  # the user's token is not the webhook's
        headers = {"Authorization": f"Bearer {made['token']}"}
        assert (await live.stranger.get("/api/v1/runs", headers=headers)).status_code == 401
        said: list[str | None] = []
        for sent in ({}, {"input_value": "mine"}, {"order": 7}):
            called = await live.stranger.post(made["url"], headers=headers, json=sent)
            assert called.status_code == 202, called.text
            said.append((await run_of(live.client, called.json()["job"]))["input"])
        assert said == ["as made", "mine", '{"order": 7}']
        again = [(await live.stranger.post(made["url"], headers=headers, json={"id": "7"})).json() for _ in range(2)]
        assert again[0] == again[1]
        for other in ({"id": "7", "input_value": "other"}, {"id": "7", "order": 8}, {"id": "7", "session_id": "s"}):
            reused = await live.stranger.post(made["url"], headers=headers, json=other)
            assert (reused.status_code, reused.json()["error"]["code"]) == (422, "id_reused")
        assert (await live.stranger.post(made["url"], headers=headers, json={"id": "7"})).json() == again[0]


async def test_a_schedule_is_changed_and_a_webhook_keeps_its_token(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue, None, StandInRunner(results=[ran("said")]))) as live:
        flow = (await live.client.post(FLOWS, json={**echo, "name": "Echo"})).json()["id"]

        async def patched(made: dict[str, Any], **change: Any) -> dict[str, Any]:
            reply = await live.client.patch(f"/api/v1/schedules/{made['id']}", json=change)
            assert reply.status_code == 200, reply.text
            assert reply.json() == (await live.client.get(f"/api/v1/schedules/{made['id']}")).json()
            return reply.json()

        body = {"cron": "0 7 * * *", "input_value": "hi", "timeout": 7}
        made = (await live.client.post(f"{FLOWS}/{flow}/schedules", json=body)).json()
        assert (made["name"], made["input_value"], made["notify"], made["url"]) == ("Echo", "hi", "", "")
        moved = await patched(made, cron="30 8 * * *", zone="Europe/Berlin", notify="https://a.example/x")
        assert (moved["cron"], moved["zone"], moved["input_value"]) == ("30 8 * * *", "Europe/Berlin", "hi")
        assert moved["notify"] == "https://a.example/x"
        assert moved["next_at"][14:16] == "30"
        assert (await patched(made, is_on=False))["next_at"] is None
        silent = await patched(made, input_value=None, notify="")
        assert (silent["input_value"], silent["notify"], silent["is_on"], silent["next_at"]) == (None, "", False, None)
        assert (await patched(made, is_on=True))["next_at"] == moved["next_at"]

        body = {"kind": "webhook", "input_value": "as made"}
        hook = (await live.client.post(f"{FLOWS}/{flow}/schedules", json=body)).json()
        assert hook["url"] == f"{str(live.client.base_url).rstrip('/')}/api/v1/hooks/{hook['id']}"
        await patched(hook, input_value="as changed")
        called = await live.stranger.post(hook["url"], headers={"Authorization": f"Bearer {hook['token']}"})
        assert (await run_of(live.client, called.json()["job"]))["input"] == "as changed"

        for which, change, where, said in (
            (made, {}, "$.body", "Name at least one of: is_on, cron, zone, input_value, notify."),
            (made, {"cron": "61 * * * *"}, "$.cron", "not a cron expression"),
            (made, {"zone": "No/Where"}, "$.zone", "time zone"),
            (made, {"notify": "nowhere"}, "$.notify", "notify: This is not an address"),
            (hook, {"cron": "0 7 * * *"}, "$.cron", "A webhook has no times."),
        ):
            refused = await live.client.patch(f"/api/v1/schedules/{which['id']}", json=change)
            error = refused.json()["error"]
            assert (refused.status_code, error["where"], said in error["message"]) == (422, where, True), error


async def test_a_failed_run_is_told_where_the_operator_allows_it(
    catalogue: Catalogue, echo: JsonObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = Heard()
    async with heard as address:
        monkeypatch.setenv("WIREWRIGHT_RUN_HOSTS", "127.0.0.1")
        async with serving(assistant(catalogue, None, StandInRunner(results=[BROKEN]))) as live:
            flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
            body = {"kind": "webhook", "notify": address}
            made = (await live.client.post(f"{FLOWS}/{flow}/schedules", json=body)).json()
            headers = {"Authorization": f"Bearer {made['token']}"}
            job = (await live.stranger.post(made["url"], headers=headers)).json()["job"]
            with anyio.fail_after(60):
                await heard.came.wait()
            bad = {"kind": "webhook", "notify": "ftp://example.org"}
            assert (await live.client.post(f"{FLOWS}/{flow}/schedules", json=bad)).status_code == 422
    told = {"event": "run_failed", "job": job, "flow": flow, "schedule": made["id"], "error": "It broke."}
    assert heard.bodies == [told]


@pytest.mark.parametrize(
    ("address", "network", "said"),
    [
        ("http://127.0.0.1:8080/told", "allow", "its address is one of this machine"),
        ("http://localhost/told", "allow", "its address is one of this machine"),
        ("https://hooks.localhost./told", "allow", "its address is one of this machine"),
        ("http://[::1]/told", "allow", "its address is one of this machine"),
        ("http://169.254.169.254/latest", "allow", "its address is one of this machine"),
        ("http://10.1.2.3/told", "ask", "its address is one of this machine"),
        ("https://hooks.example.org/told", "deny", "runs reach only what the operator names"),
        ("https://hooks.example.org/told", "ask", ""),
        ("http://10.1.2.4/told", "deny", ""),
    ],
)
async def test_an_address_that_no_notice_could_reach_is_refused_when_it_is_given(
    address: str, network: str, said: str, catalogue: Catalogue, echo: JsonObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_RUN_NETWORK", network)
    monkeypatch.setenv("WIREWRIGHT_RUN_HOSTS", "10.1.2.4")
    async with serving(assistant(catalogue, None, StandInRunner())) as live:
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        hook = (await live.client.post(f"{FLOWS}/{flow}/schedules", json={"kind": "webhook"})).json()
        place, body = f"/api/v1/schedules/{hook['id']}", {"kind": "webhook", "notify": address}
        made = await live.client.post(f"{FLOWS}/{flow}/schedules", json=body)
        changed = await live.client.patch(place, json={"notify": address})
        assert (made.status_code, changed.status_code) == ((422, 422) if said else (201, 200)), made.text
        for refused in (made, changed) if said else ():
            error = refused.json()["error"]
            assert (error["where"], said in error["message"]) == ("$.notify", True), error
            assert "WIREWRIGHT_RUN_HOSTS=" in error["fix"]
        assert (await live.client.get(place)).json()["notify"] == ("" if said else address)


async def test_no_notice_reaches_this_machine_unless_it_is_named() -> None:
    heard = Heard()
    async with heard as address:
        assert not await tell(address, {"event": "run_failed"}, EgressPolicy(rule="allow"))
        assert not await tell("http://169.254.169.254/", {}, EgressPolicy(rule="allow"))
    assert heard.bodies == []


async def test_a_notice_reaches_a_host_of_the_operators_on_the_port_that_is_named_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard = Heard()
    async with heard as address:
        port = int(address.rpartition(":")[2].partition("/")[0])
        for rule in ("allow", "deny"):
            other = EgressPolicy(rule=rule, named=read_hosts([f"127.0.0.1:{port % 65535 + 1}"]))
            assert not await tell(address, {"event": "run_failed"}, other)
            assert f"notice.refused: The run may not reach 127.0.0.1:{port}: " in caplog.text
            caplog.clear()
        assert heard.bodies == []
        for rule in ("allow", "deny"):
            named = EgressPolicy(rule=rule, named=read_hosts([f"127.0.0.1:{port}"]))
            assert await tell(address, {"event": "run_failed"}, named)
    assert len(heard.bodies) == 2


async def test_a_notice_reaches_a_public_host_only_where_the_operator_does_not_deny_it() -> None:
    reached: list[str] = []

    async def connect(address: Address, port: int, **_: object) -> NoReturn:
        reached.append(f"{address}:{port}")
        raise ConnectionRefusedError

    with patch("server.jobs.notices.asyncio.open_connection", connect):
        for rule in ("allow", "ask", "deny"):
            assert not await tell("http://93.184.215.14/told", {}, EgressPolicy(rule=rule), pause=0)
    assert reached == ["93.184.215.14:80"] * (2 * TRIES)


async def test_a_notice_is_sent_again_after_an_error_of_the_server_and_not_after_a_refusal() -> None:
    policy = EgressPolicy(rule="allow", named=read_hosts(["127.0.0.1"]))
    heard = Heard(503, 200)
    async with heard as address:
        assert await tell(address, {"event": "run_failed"}, policy, pause=0)
    assert len(heard.bodies) == 2
    heard = Heard(302)
    async with heard as address:
        assert not await tell(address, {}, policy, pause=0)
    assert len(heard.bodies) == 1


@pytest.mark.parametrize(
    "address",
    [
        *("", "example.org", "ftp://example.org", "http://", "http://a:b@example.org", "http://example.org:99999"),
        *("http://example.org/ HTTP/1.1\r\nX: y", "http://example.org/a b", "http://example.org/\x00"),
    ],
)
async def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadAddress):
        checked_address(address)
