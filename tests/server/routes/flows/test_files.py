"""Stored flows as files over real HTTP: copied, exported, imported one by one, in lists and in archives, and found."""

import io
import json
import zipfile
from typing import Any

import pytest

from flows.catalogue import Catalogue
from flows.document import JsonObject
from server.routes.flows.exports import IMPORT_FLOWS
from server.settings import ServerSettings
from tests.server.live import FLOWS, serving
from tests.shared.scripted_assistant import assistant

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]
IMPORT = f"{FLOWS}/import"
ZIP = {"Content-Type": "application/zip"}


def archive(**files: bytes) -> bytes:
    """A zip archive of these files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name.replace("__", "."), content)
    return made.getvalue()


async def test_a_flow_is_copied_exported_and_comes_back_the_same(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue)) as live:
        flow_id = (await live.client.post(FLOWS, json={**echo, "name": 'Grüße: "1/2"\n'})).json()["id"]
        copied = await live.client.post(f"{FLOWS}/{flow_id}/duplicate")
        copy = (await live.client.get(copied.headers["location"])).json()
        exported = await live.client.get(f"{FLOWS}/{flow_id}/export")
        back = await live.client.post(IMPORT, content=exported.content, headers={"Content-Type": "application/json"})
        again = (await live.client.get(f"{FLOWS}/{back.json()['flows'][0]['id']}")).json()
    assert (copied.status_code, copy["version"]) == (201, 1)
    assert copy["id"] != flow_id
    assert copy["flow"] == {**echo, "name": 'Grüße: "1/2"\n (copy)'}
    assert exported.headers["content-disposition"].startswith('attachment; filename="Gr_e_ _1_2_')
    assert "\n" not in exported.headers["content-disposition"]
    assert (back.status_code, again["flow"]) == (201, {**echo, "name": 'Grüße: "1/2"\n'})


@pytest.mark.parametrize("shape", ["list", "object", "archive"])
async def test_several_flows_are_imported_at_once(shape: str, catalogue: Catalogue, echo: JsonObject) -> None:
    flows = [{**echo, "name": name} for name in ("One", "Two")]
    async with serving(assistant(catalogue)) as live:
        if shape == "archive":
            packed = archive(
                one__json=json.dumps(flows[0]).encode(),
                project__json=b'{"name": "My project"}',
                readme__txt=b"hello",
                two__JSON=json.dumps(flows[1]).encode(),
            )
            done = await live.client.post(IMPORT, content=packed, headers=ZIP)
        else:
            done = await live.client.post(IMPORT, json=flows if shape == "list" else {"flows": flows})
        listed = (await live.client.get(FLOWS)).json()
    assert (done.status_code, [entry["name"] for entry in done.json()["flows"]]) == (201, ["One", "Two"])
    assert listed["total"] == 2


async def test_a_file_of_an_archive_may_have_several_flows(catalogue: Catalogue, echo: JsonObject) -> None:
    one, two, three = ({**echo, "name": name} for name in ("One", "Two", "Three"))
    packed = archive(
        a__json=json.dumps({"name": "My project", "flows": [one, two]}).encode(), b__json=json.dumps([three]).encode()
    )
    wrong = archive(a__json=json.dumps({"flows": [{"nodes": 1}]}).encode())
    async with serving(assistant(catalogue)) as live:
        done = await live.client.post(IMPORT, content=packed, headers=ZIP)
        refused = await live.client.post(IMPORT, content=wrong, headers=ZIP)
    assert (done.status_code, [entry["name"] for entry in done.json()["flows"]]) == (201, ["One", "Two", "Three"])
    assert (refused.status_code, refused.json()["error"]["where"]) == (422, "a.json.flows[0].nodes")


LIMIT = 100_000
BOMB = archive(bomb__json=b'{"data": "' + b"x" * (LIMIT + 1) + b'"}')


@pytest.mark.table
@pytest.mark.parametrize(
    ("content", "kind", "status", "where"),
    [
        (b"[]", "application/json", 422, "$"),
        (b'{"flows": []}', "application/json", 422, "$"),
        (b"[{}]", "application/json", 422, "$[0]"),
        (b'{"flows": [{"nodes": [], "edges": []}, {"nodes": 1}]}', "application/json", 422, "$.flows[1].nodes"),
        (b"{", "application/json", 400, "$"),
        (b"[" + b"{}," * IMPORT_FLOWS + b"{}]", "application/json", 422, "$"),
        (b"no archive", "application/zip", 400, "$"),
        (archive(), "application/zip", 422, "$"),
        (archive(a__txt=b"{}"), "application/zip", 422, "$"),
        (archive(a__json=b"{"), "application/zip", 400, "a.json"),
        (archive(a__json=b'{"nodes": 1}'), "application/zip", 422, "a.json.nodes"),
        (archive(a__json=b"{}")[:-20], "application/zip", 400, "$"),
        (BOMB, "application/zip", 413, None),
        (b"x" * (LIMIT + 1), "application/zip", 413, None),
        (b"{}", "text/plain", 415, None),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, bytes) else None,
)
async def test_an_import_that_cannot_be_read_stores_nothing_and_names_the_place(
    content: bytes, kind: str, status: int, where: str | None, catalogue: Catalogue
) -> None:
    async with serving(assistant(catalogue), ServerSettings(flow_body_limit=LIMIT)) as live:
        refused = await live.client.post(IMPORT, content=content, headers={"Content-Type": kind})
        total = (await live.client.get(FLOWS)).json()["total"]
    assert (refused.status_code, total) == (status, 0), refused.text
    assert refused.json()["error"]["fix"]
    if where is not None:
        assert refused.json()["error"]["where"] == where


async def test_flows_are_found_by_name(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue)) as live:
        for name in ("Invoices 100%", "Support", "invoice_2"):
            await live.client.post(FLOWS, json={**echo, "name": name})

        async def found(text: str) -> Any:
            reply = (await live.client.get(FLOWS, params={"q": text})).json()
            assert reply["total"] == len(reply["flows"])
            return sorted(entry["name"] for entry in reply["flows"])

        assert await found("INVOICE") == ["Invoices 100%", "invoice_2"]
        assert await found("%") == ["Invoices 100%"]
        assert await found("_") == ["invoice_2"]
        assert await found("nothing") == []
        assert len(await found(" ")) == 3
