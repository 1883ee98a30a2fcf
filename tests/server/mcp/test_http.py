"""MCP over HTTP: inside the server's boundary, with sessions and without, until the server stops."""

import asyncio
import json
import subprocess
import sys
from typing import Any

import httpx
import pytest
from mcp.shared.exceptions import MCPError

from flows.catalogue import Catalogue
from runtime.accounts.scopes import scopes_of
from runtime.run_events import NodeStarted
from server.settings import ServerSettings
from tests.server.live import serving
from tests.server.mcp.clients import WITH_SESSIONS, WITHOUT, talking_http
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio
BOTH = pytest.mark.parametrize("mode", [WITH_SESSIONS, WITHOUT])
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


def asking(method: str, name: int = 1, **params: Any) -> dict[str, Any]:
    """A request of JSON-RPC."""
    return {"jsonrpc": "2.0", "id": name, "method": method, "params": params}


async def post(client: httpx.AsyncClient, body: object, path: str = "/mcp", **headers: str) -> httpx.Response:
    """The reply to one message."""
    return await client.post(path, json=body, headers={**ACCEPT, **headers})


def result_of(reply: httpx.Response) -> dict[str, Any]:
    """The result in a reply, which may be a stream."""
    text = reply.text
    if reply.headers["content-type"].startswith("text/event-stream"):
        text = next(line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {"))
    return json.loads(text)["result"]


@pytest.mark.parity("ADR-MCP-009", "term-mcp-tool-payload")
@BOTH
async def test_a_flow_is_built_and_run_over_http(mode: str, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live, talking_http(live, mode) as talk:
        flow = (await talk.give("create_flow_from_spec", spec=ECHO))["flow"]
        assert (await talk.give("run_flow", flow_id=flow["id"], input="hi"))["run"]["ok"]
        assert (await live.client.get(f"/api/v1/flows/{flow['id']}")).json()["version"] == 1
        assert "Running the flow..." in talk.progress
        metrics = (await live.client.get("/metrics")).text
        assert 'mcp_tool_invocations_total{success="true",tool="run_flow"} 1.0' in metrics
        assert 'mcp_tool_duration_ms_count{tool="run_flow"} 1.0' in metrics
        runs = (await live.client.get("/api/v1/runs")).json()["runs"]
        assert [(run["source"], run["flow"]) for run in runs] == [("mcp", flow["id"])]
        await talk.refuse("validate_flow", flow_id="nowhere")
        metrics = (await live.client.get("/metrics")).text
        assert 'mcp_tool_invocations_total{success="false",tool="validate_flow"} 1.0' in metrics


@pytest.mark.parametrize("path", ["/mcp", "/mcp/canvas", "/mcp/system"])
async def test_nobody_passes_the_boundary_of_the_server(path: str, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        for reply, status, code in (
            (await post(live.stranger, INITIALIZE, path), 401, "unauthorized"),
            (await post(live.client, INITIALIZE, path, Host="evil.example.net"), 403, "forbidden_host"),
            (await post(live.client, INITIALIZE, path, Origin="https://evil.example.net"), 403, "forbidden_origin"),
            (await post(live.client, INITIALIZE, path, **{"Wirewright-Allow": "all"}), 400, "unknown_permission"),
            (await post(live.client, INITIALIZE, f"{path}/no"), 404, "not_found"),
        ):
            assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
        accepted = await post(live.client, INITIALIZE, path, **{"X-Request-ID": "mine"})
        assert (accepted.status_code, accepted.headers["X-Request-ID"]) == (200, "mine")
        assert accepted.headers["X-Content-Type-Options"] == "nosniff"


async def test_a_body_that_is_too_large_is_refused(catalogue: Catalogue) -> None:
    settings = ServerSettings(body_limit=2_000)
    async with serving(assistant(catalogue), settings) as live:
        large = asking("tools/call", name=1, arguments={"text": "x" * 5_000})
        assert (await post(live.client, large)).status_code == 413
        begun = await post(live.client, INITIALIZE)
        session = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"]}
        assert (await post(live.client, large, **session)).status_code == 413


async def test_pages_of_named_origins_may_use_it(catalogue: Catalogue) -> None:
    page = "https://page.example.org"
    async with serving(assistant(catalogue), ServerSettings(origins=(page,))) as live:
        wanted = "authorization,content-type,mcp-protocol-version,mcp-session-id,mcp-method,mcp-name,wirewright-allow"
        asked = {"Origin": page, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": wanted}
        preflight = await live.stranger.options("/mcp", headers=asked)
        assert preflight.status_code == 200, preflight.text
        begun = await post(live.client, INITIALIZE, Origin=page)
        assert "Mcp-Session-Id" in begun.headers["Access-Control-Expose-Headers"]


async def test_the_previous_version_works_without_a_session_too(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        version = {"MCP-Protocol-Version": "2025-11-25"}
        listed = await post(live.client, asking("tools/list"), **version)
        assert listed.status_code == 200
        assert "Mcp-Session-Id" not in listed.headers
        assert len(result_of(listed)["tools"]) > 30
        made = await post(live.client, asking("tools/call", name="create_flow", arguments={"name": "A"}) | {"id": 2})
        assert made.status_code == 200


async def test_a_session_answers_only_to_who_began_it(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        begun = await post(live.client, INITIALIZE)
        session = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"}
        assert (await post(live.client, asking("tools/list"), **session)).status_code == 200
        assert live.access.users is not None
        _, token = await live.access.users.add("eve", scopes_of(["build", "run"]))
        as_eve = {**session, "Authorization": f"Bearer {token}"}
        assert (await post(live.client, asking("tools/list"), **as_eve)).status_code == 404
        assert (await live.client.delete("/mcp", headers={**ACCEPT, **as_eve})).status_code == 404
        assert (await live.client.delete("/mcp", headers={**ACCEPT, **session})).status_code == 200
        assert (await post(live.client, asking("tools/list"), **session)).status_code == 404


async def test_users_see_only_what_is_theirs(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        async with talking_http(live) as talk:
            flow = (await talk.give("create_flow", name="Mine"))["flow"]
        assert live.access.users is not None
        _, token = await live.access.users.add("eve", scopes_of(["build", "run"]))
        async with talking_http(live, headers={"Authorization": f"Bearer {token}"}) as eve:
            assert (await eve.give("list_flows"))["total"] == 0
            assert "no flow" in await eve.refuse("delete_flow", flow_id=flow["id"])
            with pytest.raises(MCPError):
                await eve.client.read_resource(flow["uri"])


@BOTH
async def test_leaving_a_call_ends_the_run(mode: str, catalogue: Catalogue) -> None:
    runner = StandInRunner(events=[NodeStarted(node="a", iteration=1)])
    async with serving(assistant(catalogue, runner=runner)) as live, talking_http(live, mode) as talk:
        flow = (await talk.give("create_flow_from_spec", spec=ECHO))["flow"]["id"]
        runner.hangs = True
        runner.running.clear()
        call = asyncio.create_task(talk.call("run_flow", flow_id=flow, input="hi"))
        await asyncio.wait_for(runner.running.wait(), 30)
        call.cancel()
        await asyncio.wait_for(runner.cancelled.wait(), 30)


@BOTH
async def test_a_server_with_open_sessions_and_streams_stops(mode: str, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        begun = await post(live.client, INITIALIZE)
        session = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-11-25"}
        headers = {**ACCEPT, **session}
        if mode == WITH_SESSIONS:
            stream = live.client.stream("GET", "/mcp", headers=headers)
        else:
            meta = {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            listen = asking("subscriptions/listen", notifications={"resourcesListChanged": True}, _meta=meta)
            headers = {**ACCEPT, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}
            stream = live.client.stream("POST", "/mcp", headers=headers, json=listen)
        async with stream as response:
            assert response.status_code == 200, await response.aread()
            live.server.drain()
            async with asyncio.timeout(30):
                async for _ in response.aiter_bytes():
                    continue
        await asyncio.wait_for(live.task, 30)


async def test_without_the_package_the_error_says_what_to_install(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.mcp.installed.find_spec", lambda name: None)
    async with serving(assistant(catalogue)) as live:
        refused = await post(live.client, INITIALIZE)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (501, "mcp_not_installed")
    assert "wirewright[mcp]" in error["fix"]


def test_nothing_imports_the_package_before_a_client_asks() -> None:
    code = (
        "import sys, server.app, server.mcp.transports.endpoint, server.mcp.transports.http, cli.main\n"
        "cli.main.command_line()\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('mcp', 'mcp_types')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_at_most_so_many_runs_go_on_at_once(catalogue: Catalogue) -> None:
    runner = StandInRunner()
    settings = ServerSettings(user_runs=1)
    async with serving(assistant(catalogue, runner=runner), settings) as live, talking_http(live) as talk:
        flow = (await talk.give("create_flow_from_spec", spec=ECHO))["flow"]["id"]
        runner.hangs = True
        runner.running.clear()
        first = asyncio.create_task(talk.call("run_flow", flow_id=flow))
        await asyncio.wait_for(runner.running.wait(), 30)
        assert "which is the limit" in await talk.refuse("run_flow", flow_id=flow)
        first.cancel()
        await asyncio.wait_for(runner.cancelled.wait(), 30)
