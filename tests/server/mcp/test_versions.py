"""Earlier versions of a flow over MCP: listed, and brought back with a yes where that changes what the user had."""

import json
from typing import Any

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.accounts.user import LOCAL
from server.store.sql import SqlFlowStore
from tests.server.mcp.clients import WITH_SESSIONS, WITHOUT, Answers, talking
from tests.shared.flow_texts import ECHO, LOUDER, flow_of
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
Versions = tuple[SqlFlowStore, str]
BOTH = pytest.mark.parametrize("mode", [WITH_SESSIONS, WITHOUT])


@pytest.fixture
async def versions(catalogue: Catalogue) -> Versions:
    """A flow of the user's that was stored three times: echo, with a prompt, and with another text."""
    who = assistant(catalogue)
    await who.database.open()
    store = SqlFlowStore(who.database, LOCAL.id)
    louder = flow_of(LOUDER, catalogue)
    entry = await store.add(flow_of(ECHO, catalogue))
    await store.replace(entry.id, louder, 1)
    changed = json.dumps(louder.to_json()).replace("Say it louder", "Whisper it")
    await store.replace(entry.id, Flow.from_json(json.loads(changed)), 2)
    return store, entry.id


@BOTH
async def test_versions_are_listed_and_one_is_brought_back_with_a_yes(
    mode: str, catalogue: Catalogue, versions: Versions
) -> None:
    store, flow = versions
    async with talking(assistant(catalogue), mode, answers=True) as talk:
        listed = await talk.give("list_flow_versions", flow_id=flow)
        assert [one["version"] for one in listed["versions"]] == [3, 2, 1]
        given = await talk.give("restore_flow", flow_id=flow, version=2)
        assert given["flow"]["version"] == 4
        assert ["Whisper it" in one and "Say it louder" in one for one in talk.questions] == [True]
        assert (await store.get(flow)).flow == (await store.at_version(flow, 2))[1]
        again = await talk.give("restore_flow", flow_id=flow, version=2)
        assert (again["flow"]["version"], len(talk.questions)) == (4, 1), "nothing differs, so nothing is asked"


@BOTH
@pytest.mark.parametrize("answers", [False, None])
async def test_without_a_yes_nothing_is_brought_back(
    mode: str, answers: Answers, catalogue: Catalogue, versions: Versions
) -> None:
    store, flow = versions
    async with talking(assistant(catalogue), mode, answers=answers) as talk:
        said = await talk.refuse("restore_flow", flow_id=flow, version=1)
    assert ("the user said no" if answers is False else "--allow") in said
    assert (await store.get(flow)).entry.version == 3


async def test_what_the_configuration_allows_is_brought_back_without_a_question(
    catalogue: Catalogue, versions: Versions
) -> None:
    store, flow = versions
    async with talking(assistant(catalogue), allow=("edit,remove",)) as talk:
        await talk.give("restore_flow", flow_id=flow, version=1)
    assert (await store.get(flow)).flow == (await store.at_version(flow, 1))[1]


@BOTH
async def test_a_client_takes_its_own_changes_back_without_a_question(
    mode: str, catalogue: Catalogue, versions: Versions
) -> None:
    store, flow = versions
    async with talking(assistant(catalogue), mode) as talk:
        await talk.give("add_component", flow_id=flow, type="ChatOutput")
        await talk.give("restore_flow", flow_id=flow, version=3)
        assert (await store.get(flow)).flow == (await store.at_version(flow, 3))[1]
        made = (await talk.give("create_flow_from_spec", spec=ECHO))["flow"]["id"]
        await talk.give("add_component", flow_id=made, type="ChatOutput")
        assert (await talk.give("restore_flow", flow_id=made, version=1))["flow"]["version"] == 3


async def test_a_note_of_the_users_is_not_lost_without_a_question(catalogue: Catalogue, versions: Versions) -> None:
    store, flow = versions
    document: Any = (await store.get(flow)).flow.to_json()
    note = {"id": "note-1", "type": "noteNode", "position": {"x": 0, "y": 0}, "data": {"id": "note-1", "type": "note"}}
    document["data"]["nodes"].append(note)
    await store.replace(flow, Flow.from_json(document), 3)
    async with talking(assistant(catalogue)) as talk:
        assert "note-1" in await talk.refuse("restore_flow", flow_id=flow, version=3)


async def test_a_version_that_is_not_kept_and_a_flow_of_anothers_are_errors(
    catalogue: Catalogue, versions: Versions
) -> None:
    _, flow = versions
    who = assistant(catalogue)
    await who.database.open()
    theirs = await SqlFlowStore(who.database, "eve").add(flow_of(ECHO, catalogue))
    async with talking(who, answers=True) as talk:
        assert "no version 9" in await talk.refuse("restore_flow", flow_id=flow, version=9)
        for name, more in (("restore_flow", {"version": 1}), ("list_flow_versions", {})):
            assert "There is no flow" in await talk.refuse(name, flow_id=theirs.id, **more)
