"""Bundles over real HTTP: a build that needs one waits, and goes on with it once the client agrees."""

from typing import Any

import pytest

from agent.assistant import Assistant
from agent.models.scripted import call
from flows.catalogue import Catalogue
from server.settings import ServerSettings
from tests.server.live import ASSIST, Live, events, serving
from tests.shared.scripted_assistant import ScriptedModel
from tests.shared.shelf import AWAY, SPEC, Shelf, index_of, shelf_of

pytestmark = pytest.mark.anyio
BUILD = call("build_flow", 1, spec=SPEC)


def opened(catalogue: Catalogue) -> tuple[Assistant, Shelf]:
    """An assistant for which Shout comes with a bundle."""
    shelf, model = shelf_of(catalogue), ScriptedModel("build_flow", BUILD, "It is as you said.")
    settings = ServerSettings()
    return Assistant(settings, shelf, catalogue=catalogue, model=model, bundles=index_of(catalogue)), shelf


async def said(live: Live, **request: object) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The events of a streamed turn, and what the last one says."""
    found = await events(live.client, session_id="s", **request)
    assert found[-1]["event"] == "complete", found[-1]
    return found, found[-1]["data"]


@pytest.mark.parametrize("how", ["by id", "in words"])
async def test_a_bundle_is_installed_once_the_client_agrees(catalogue: Catalogue, how: str) -> None:
    who, shelf = opened(catalogue)
    async with serving(who) as live:
        _, waits = await said(live, input_value="Shout what I write")
        [question] = waits["approvals"]
        assert (question["kind"], question["bundle"], question["packages"]) == ("install", "shelf", ["lfx-shelf"])
        assert question["size_mb"] == 7.2
        assert "7 MB" in waits["result"]
        assert shelf.installed == []
        if how == "by id":
            found, done = await said(live, approvals={question["id"]: {"decision": "approve"}})
        else:
            found, done = await said(live, input_value="ja, mach")
        types = (await live.client.get(f"/api/v1/components/{AWAY}")).status_code
    assert shelf.installed == [["lfx-shelf"]]
    assert done["record"]["installs"] == [{"bundle": "shelf", "status": "installed"}]
    assert "shelf is installed." in [one.get("message") for one in found if one["event"] == "progress"]
    assert types == 200


async def test_nothing_is_installed_when_the_client_refuses(catalogue: Catalogue) -> None:
    who, shelf = opened(catalogue)
    async with serving(who) as live:
        asked = await live.client.post(ASSIST, json={"input_value": "Shout what I write", "session_id": "s"})
        [question] = asked.json()["approvals"]
        refused = {question["id"]: {"decision": "deny", "reason": "not here"}}
        done = await live.client.post(ASSIST, json={"approvals": refused, "session_id": "s"})
    assert shelf.installed == []
    assert done.json()["record"]["installs"] == [{"bundle": "shelf", "status": "denied"}]
