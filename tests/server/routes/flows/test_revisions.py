"""The versions of stored flows over real HTTP: who made them, what they changed, restoring, and changes by actions."""

from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.models.scripted import call
from flows.action_json import action_from_json, action_to_json
from flows.actions import apply_all
from flows.catalogue import Catalogue
from flows.diff import diff
from flows.document import Flow, JsonObject
from server.store.flows import KEPT_REVISIONS
from tests.server.live import FLOWS, events, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]


def renamed(echo: JsonObject, name: str) -> JsonObject:
    return {**echo, "name": name}


async def stored(client: httpx.AsyncClient, echo: JsonObject, *names: str) -> str:
    """Store a flow with a version for each name."""
    flow_id: str = (await client.post(FLOWS, json=renamed(echo, names[0]))).json()["id"]
    for version, name in enumerate(names[1:], 1):
        body = {"flow": renamed(echo, name), "version": version}
        (await client.put(f"{FLOWS}/{flow_id}", json=body)).raise_for_status()
    return flow_id


async def test_every_version_is_kept_with_what_it_changed(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue)) as live:
        flow_id = await stored(live.client, echo, "One", "Two", "Three")
        listed = (await live.client.get(f"{FLOWS}/{flow_id}/revisions")).json()
        first = (await live.client.get(f"{FLOWS}/{flow_id}/revisions/1")).json()
        second = (await live.client.get(f"{FLOWS}/{flow_id}/revisions/2")).json()
    assert [(each["version"], each["name"], each["author"]) for each in listed["revisions"]] == [
        (3, "Three", "client"),
        (2, "Two", "client"),
        (1, "One", "client"),
    ]
    assert (first["flow"], first["changes"], first["actions"]) == (renamed(echo, "One"), [], [])
    assert second["flow"] == renamed(echo, "Two")
    assert second["actions"] == [{"kind": "set_detail", "path": ["name"], "old": "One", "new": "Two"}]
    assert len(second["changes"]) == 1


async def test_a_turn_makes_one_version_and_says_so(catalogue: Catalogue, echo: JsonObject) -> None:
    script = ScriptedModel("build_flow", [call("add_component", 1, type="ChatInput")], "Added it.")
    async with serving(assistant(catalogue, script)) as live:
        flow_id = await stored(live.client, echo, "One")
        await events(live.client, input_value="Add an input", flow_id=flow_id, session_id="monday")
        listed = (await live.client.get(f"{FLOWS}/{flow_id}/revisions")).json()["revisions"]
    assert [(each["version"], each["author"], each["session"], bool(each["turn"])) for each in listed] == [
        (2, "assistant", "monday", True),
        (1, "client", "", False),
    ]


async def test_restoring_makes_a_new_version_of_an_earlier_one(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue)) as live:
        flow_id = await stored(live.client, echo, "One", "Two")
        restore = f"{FLOWS}/{flow_id}/revisions/1/restore"
        outdated = await live.client.post(restore, json={"version": 1})
        unnamed = await live.client.post(restore)
        done = await live.client.post(restore, headers={"If-Match": '"2"'})
        now = (await live.client.get(f"{FLOWS}/{flow_id}")).json()
    assert (outdated.status_code, unnamed.status_code) == (409, 428)
    assert (done.status_code, done.json()["version"], done.headers["etag"]) == (200, 3, '"3"')
    assert (now["flow"], now["version"]) == (renamed(echo, "One"), 3)


@pytest.mark.parametrize("version", ["0", "-1", "9", "x", "1.0", "9" * 30, "%00"])
async def test_a_version_that_is_not_there_is_not_found(version: str, catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue)) as live:
        flow_id = await stored(live.client, echo, "One")
        read = await live.client.get(f"{FLOWS}/{flow_id}/revisions/{version}")
        restored = await live.client.post(f"{FLOWS}/{flow_id}/revisions/{version}/restore", json={"version": 1})
    assert [(each.status_code, each.json()["error"]["code"]) for each in (read, restored)] == [
        (404, "revision_not_found")
    ] * 2


async def test_the_oldest_versions_are_dropped_and_all_go_with_the_flow(
    catalogue: Catalogue, echo: JsonObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert KEPT_REVISIONS == 100, "the manual says so"
    monkeypatch.setattr("server.store.sql.KEPT_REVISIONS", 2)
    async with serving(assistant(catalogue)) as live:
        flow_id = await stored(live.client, echo, "One", "Two", "Three")
        listed = (await live.client.get(f"{FLOWS}/{flow_id}/revisions")).json()["revisions"]
        oldest = (await live.client.get(f"{FLOWS}/{flow_id}/revisions/2")).json()
        await live.client.delete(f"{FLOWS}/{flow_id}")
        gone = await live.client.get(f"{FLOWS}/{flow_id}/revisions")
    assert [each["version"] for each in listed] == [3, 2]
    assert (oldest["changes"], oldest["actions"]) == ([], []), "what came before it is not known any more"
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "flow_not_found")


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(st.text(min_size=1, max_size=9), min_size=2, max_size=4), drop=st.booleans(), data=st.data())
async def test_a_difference_leads_from_one_version_to_another(
    names: list[str], drop: bool, data: st.DataObject, catalogue: Catalogue, echo: JsonObject
) -> None:
    version, against = (data.draw(st.integers(1, len(names))) for _ in range(2))
    bare: JsonObject = {**echo, "data": {**Flow.from_json(echo).data, "edges": []}} if drop else echo
    async with serving(assistant(catalogue)) as live:
        flow_id = await stored(live.client, bare, *names)
        place = f"{FLOWS}/{flow_id}/revisions"
        told = (await live.client.get(f"{place}/{version}/diff", params={"against": against})).json()
        before, after = [(await live.client.get(f"{place}/{each}")).json()["flow"] for each in (against, version)]
    actions = [action_from_json(action) for action in told["actions"]]
    assert apply_all(Flow.from_json(before), actions).raw == Flow.from_json(after).raw
    assert (told["version"], told["against"], len(told["changes"])) == (version, against, len(actions))


async def test_a_version_is_compared_with_the_one_before_unless_another_is_named(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    async with serving(assistant(catalogue)) as live:
        place = f"{FLOWS}/{await stored(live.client, echo, 'One', 'Two', 'Three')}/revisions"
        plain = (await live.client.get(f"{place}/3/diff")).json()
        unkept = [await live.client.get(f"{place}/{path}") for path in ("1/diff", "3/diff?against=9", "9/diff")]
        wrong = [await live.client.get(f"{place}/3/diff?against={given}") for given in ("0", "x", "-1", "1.0")]
    assert (plain["against"], plain["actions"][0]["old"], plain["actions"][0]["new"]) == (2, "Two", "Three")
    assert [(each.status_code, each.json()["error"]["code"]) for each in unkept] == [(404, "revision_not_found")] * 3
    assert [(each.status_code, each.json()["error"]["where"]) for each in wrong] == [(422, "?against")] * 4


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(max_size=40), drop=st.booleans())
async def test_a_flow_is_changed_by_the_actions_that_lead_to_another(
    name: str, drop: bool, catalogue: Catalogue, echo: JsonObject
) -> None:
    before = Flow.from_json(echo)
    data = {"data": {**before.data, "edges": []}} if drop else {}
    after = Flow.from_json({**renamed(echo, name), **data})
    actions = [action_to_json(action) for action in diff(before, after)]
    async with serving(assistant(catalogue)) as live:
        flow_id = (await live.client.post(FLOWS, json=echo)).json()["id"]
        changed = await live.client.patch(f"{FLOWS}/{flow_id}", json={"version": 1, "actions": actions})
        now = (await live.client.get(f"{FLOWS}/{flow_id}")).json()
    if actions:
        assert changed.status_code == 200, changed.text
        assert (now["version"], now["flow"]) == (2, after.raw)
    else:
        assert (changed.status_code, now["version"]) == (422, 1)


STALE = {"kind": "set_detail", "path": ["name"], "old": "Another", "new": "New"}
RENAME = {"kind": "set_detail", "path": ["name"], "old": "Echo", "new": "New"}


@pytest.mark.table
@pytest.mark.parametrize(
    ("body", "status", "code", "where"),
    [
        ({"actions": [RENAME]}, 428, "version_required", None),
        ({"version": 2, "actions": [RENAME]}, 409, "version_conflict", None),
        ({"version": 1}, 422, "invalid_request", "$.actions"),
        ({"version": 1, "actions": []}, 422, "invalid_request", "$.actions"),
        ({"version": 1, "actions": [RENAME] * 1_001}, 422, "invalid_request", "$.actions"),
        ({"version": 1, "actions": [RENAME, {"kind": "explode"}]}, 422, "invalid_action", "$.actions[1]"),
        ({"version": 1, "actions": [{"kind": "connect", "edge": 7}]}, 422, "invalid_action", "$.actions[0]"),
        ({"version": 1, "actions": ["rename it"]}, 422, "invalid_action", "$.actions[0]"),
        ({"version": 1, "actions": [RENAME, STALE]}, 409, "stale_action", "$.actions"),
        ({"version": 1, "actions": [{"kind": "connect", "edge": {"source": "x"}}]}, 409, "stale_action", "$.actions"),
    ],
)
async def test_actions_that_cannot_be_taken_change_nothing(
    body: dict[str, Any], status: int, code: str, where: str | None, catalogue: Catalogue, echo: JsonObject
) -> None:
    async with serving(assistant(catalogue)) as live:
        flow_id = (await live.client.post(FLOWS, json=echo)).json()["id"]
        refused = await live.client.patch(f"{FLOWS}/{flow_id}", json=body)
        now = (await live.client.get(f"{FLOWS}/{flow_id}")).json()
    assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)
    if where is not None:
        assert refused.json()["error"]["where"] == where
    assert (now["version"], now["flow"]) == (1, echo)
