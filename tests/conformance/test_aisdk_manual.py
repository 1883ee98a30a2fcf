"""The manual of the AI SDK does what it says; its table knows every kind of chunk."""

import re
from pathlib import Path

import pytest

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from flows.catalogue import Catalogue
from server.settings import ServerSettings
from tests.conformance.clients import ROOT, Clients
from tests.server.live import FLOWS, Live, serving
from tests.shared.stand_ins import StandInRunner

MANUAL = (ROOT / "docs" / "ai-sdk.md").read_text()

BEFORE = "console.log = (...given) => process.stdout.write(`${JSON.stringify(given)}\\n`);\n"
AFTER = """
const states = () => builder.messages.at(-1).parts.map(({ state }) => state);
const goesOn = () => builder.status !== "ready" || states().includes("approval-responded");
while (goesOn()) await new Promise((done) => setTimeout(done, 10));
console.log(states());
process.exit(0);
"""


def demo(catalogue: Catalogue) -> Assistant:
    return Assistant(AssistantSettings(model="demo"), StandInRunner(), catalogue=catalogue)


def token_of(live: Live) -> str:
    return live.client.headers["Authorization"].removeprefix("Bearer ")


def address_of(live: Live) -> str:
    return str(live.client.base_url).rstrip("/")


@pytest.mark.anyio
async def test_the_scripts_of_the_manual_work(clients: Clients, catalogue: Catalogue, tmp_path: Path) -> None:
    blocks = re.findall(r"^```js\n(.*?)^```", MANUAL, re.MULTILINE | re.DOTALL)
    async with serving(demo(catalogue)) as live:
        written = "".join(blocks).replace("http://127.0.0.1:7878", address_of(live))
        script = tmp_path / "manual.mjs"
        script.write_text(f"{BEFORE}{written}{AFTER}")
        *_, [states] = await clients.run(script, TOKEN=token_of(live))
        flows = (await live.client.get(FLOWS)).json()["flows"]
    assert "approval-requested" not in states
    assert [flow["name"] for flow in flows if flow["node_count"]], "the approved flow is stored"


@pytest.mark.anyio
async def test_the_page_may_use_the_server_when_its_origin_is_named(catalogue: Catalogue) -> None:
    origin = "http://127.0.0.1:8000"
    wanted = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    wanted["Access-Control-Request-Headers"] = "authorization,content-type"
    async with serving(demo(catalogue), ServerSettings(origins=(origin,))) as live:
        reply = await live.stranger.options("/api/chat", headers=wanted)
    assert reply.status_code == 200
    assert reply.headers["access-control-allow-origin"] == origin


@pytest.mark.anyio
async def test_the_table_has_every_kind_of_chunk_of_the_package(clients: Clients) -> None:
    source = next((clients.installed / "node_modules" / "ai" / "src").glob("**/ui-message-chunks.ts")).read_text()
    kinds = set(re.findall(r"type: z\.literal\('([a-z-]+)'\)", source.partition("export type DataUIMessageChunk")[0]))
    of_steering = {"text"}  # of the parts of a steering message
    table = MANUAL.partition("| chunk | here |")[2]
    told = set(re.findall(r"`([a-z*-]+)`", "".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))))
    assert kinds - of_steering - told == set()
    assert told - {"data-*"} - kinds == set()


def test_the_table_has_every_part_of_our_own() -> None:
    source = "".join((ROOT / "server" / "streams" / name).read_text() for name in ("aisdk.py", "outline.py"))
    parts = set(re.findall(r'_transient\("([a-z-]+)"', source)) | set(re.findall(r'return "([a-z-]+)", ', source))
    parts |= {"progress", "todos", "approval"}  # by their names in our own stream
    table = MANUAL.partition("| part | what it says |")[2].partition("\n\n")[0]
    assert {f"data-{part}" for part in parts} == set(re.findall(r"`(data-[a-z-]+)`", table))
