"""A real Langflow 1.13, replayed: what it answers, and what it refuses."""

import json
import re
from typing import Any

import pytest

from flows.document import Flow
from runtime.langflow.exchange import document_of
from scripts.langflow_cassettes import FOLDER, NAME, SCENES, cassettes, played

pytestmark = pytest.mark.anyio


async def replayed(name: str) -> Any:
    with cassettes().use_cassette(f"{name}.yaml") as tape:
        given = await played(name)
        assert tape.all_played
    return given


async def test_the_version_and_the_projects_are_read() -> None:
    assert await replayed("connect") == ("1.13.0", ["Starter Project"])


async def test_a_key_that_is_not_taken_is_named_as_the_cause() -> None:
    refused = await replayed("wrong_key")
    assert (refused.code, "recorded" in refused.message) == ("key_refused", True)


async def test_a_flow_is_added_changed_by_one_update_and_run() -> None:
    added, after, output = await replayed("round_trip")
    assert (added.name, added.id == after.id, added.version_token == after.version_token) == (NAME, True, False)
    assert prompt_of(document_of(added)) == "{text}!"
    assert prompt_of(document_of(after)) == "{text}?"
    assert '"hi?"' in output


async def test_what_langflow_refuses_has_a_code_of_its_own() -> None:
    found = await replayed("refusals")
    assert {name: error.code for name, error in found.items()} == {
        "flow_moved_on": "flow_moved_on",
        "name_taken": "name_taken",
        "flow_locked": "flow_locked",
        "deleted": "flow_not_there",
        "flow_not_there": "flow_not_there",
        "bad_id": "langflow_refused",
    }
    assert all(error.fix for error in found.values())


def test_the_cassettes_hold_no_key_and_say_what_was_cut() -> None:
    for name in SCENES:
        text = (FOLDER / f"{name}.yaml").read_text()
        assert re.search(r"sk-[\w-]{8,}|x-api-key|eyJ[\w-]{10,}", text) is None, name
        assert "/api/v1/all to the types" in text.partition("interactions:")[0], name
        assert len(text) < 500_000, name


def prompt_of(flow: Flow) -> str:
    node = next(node for node in flow.nodes if node.type == "Prompt Template")
    return json.loads(json.dumps(node.value("template")))
