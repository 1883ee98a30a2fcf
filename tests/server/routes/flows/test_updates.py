"""Flows of an earlier engine over HTTP: listed, previewed and updated as a revision."""

import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from flows.catalogue import Catalogue
from flows.document import Flow, JsonObject
from tests.flows.edits.test_updates import earlier
from tests.server.limits.conftest import user
from tests.server.live import FLOWS, serving
from tests.shared.flow_texts import ECHO, flow_of, node_id
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio


@pytest.fixture
def old(catalogue: Catalogue) -> JsonObject:
    flow = flow_of(ECHO, catalogue)
    return {**earlier(flow, node_id(flow, "ChatOutput")).to_json(), "name": "Old"}


async def stale(client: httpx.AsyncClient) -> list[tuple[str, list[str]]]:
    listed = (await client.get(FLOWS, params={"stale": "true"})).json()
    assert listed["total"] == len(listed["flows"])
    return [(one["name"], one["stale"]) for one in listed["flows"]]


@pytest.mark.both_databases
async def test_a_stale_flow_is_listed_previewed_and_updated(
    catalogue: Catalogue, echo: JsonObject, old: JsonObject
) -> None:
    async with serving(assistant(catalogue)) as live, user(live, "eve") as eve:
        await live.client.post(FLOWS, json=echo)
        flow = (await live.client.post(FLOWS, json=old)).json()["id"]
        address = f"{FLOWS}/{flow}/update-components"
        assert (await stale(live.client), await stale(eve)) == ([("Old", ["ChatOutput"])], [])
        seen = (await live.client.post(address, json={"preview": True})).json()
        assert [(one["type"], one["code"] == one["current"]) for one in seen["components"]] == [("ChatOutput", False)]
        assert (seen["version"], bool(seen["changes"]), bool(seen["actions"]), seen["lost"]) == (1, True, True, [])
        assert (await live.client.get(f"{FLOWS}/{flow}")).json()["version"] == 1, "a preview stores nothing"
        assert (await live.client.post(address, json={})).status_code == 428
        assert (await live.client.post(address, json={"version": 7})).status_code == 409
        assert (await eve.post(address, json={"version": 1})).status_code == 404
        done = (await live.client.post(address, json={"version": 1})).json()
        assert (done["version"], done["actions"]) == (2, seen["actions"])
        assert await stale(live.client) == []
        stored = (await live.client.get(f"{FLOWS}/{flow}")).json()
        assert len(Flow.from_json(stored["flow"]).edges) == len(Flow.from_json(old).edges)
        again = (await live.client.post(address, json={"version": 2})).json()
        assert (again["version"], again["components"]) == (2, []), "there is nothing to update any more"
        back = await live.client.post(f"{FLOWS}/{flow}/revisions/1/restore", json={"version": 2})
        assert back.status_code == 200
        assert await stale(live.client) == [("Old", ["ChatOutput"])]


async def test_flows_stored_by_earlier_versions_are_listed_too(
    catalogue: Catalogue, old: JsonObject, data_folder: Path
) -> None:
    async with serving(assistant(catalogue)) as live:
        await live.client.post(FLOWS, json=old)
        with closing(sqlite3.connect(data_folder / "wirewright.db")) as connection, connection:
            connection.execute("update flows set built_with = null")
        assert await stale(live.client) == [("Old", ["ChatOutput"])]
