"""What values make of a component, over HTTP: templates, options, models, files and tools; and what is refused."""

from typing import Any

import pytest

from flows.catalogue import Catalogue
from flows.document import Json, JsonObject
from flows.edits.new_nodes import new_node
from tests.server.live import FLOWS, serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
CONFIGURE = "/api/v1/components/configure"


def component(catalogue: Catalogue, name: str) -> JsonObject:
    known = catalogue.get(name)
    assert known is not None
    return new_node(known, f"{name}-1").raw


async def configured(catalogue: Catalogue, name: str, values: JsonObject, **more: Json) -> Any:
    async with serving(assistant(catalogue)) as live:
        body = {"node": component(catalogue, name), "values": values, **more}
        reply = await live.client.post(CONFIGURE, json=body)
        assert reply.status_code == 200, reply.text
        assert (await live.client.get(FLOWS)).json()["total"] == 0, "nothing is stored"
        return reply.json()["node"]["data"]["node"]


async def test_the_variables_of_a_template_become_ports(catalogue: Catalogue) -> None:
    made = await configured(catalogue, "Prompt Template", {"template": "Dear {name}, {text}"})
    template = made["template"]
    assert {"name", "text"} <= set(template)
    assert template["name"]["input_types"] == ["Message"]


async def test_an_option_shows_the_fields_that_it_needs(catalogue: Catalogue) -> None:
    made = await configured(catalogue, "TextOperations", {"operation": "Text Replace"})
    template = made["template"]
    assert template["replacement_text"]["show"] is True
    assert template["case_type"]["show"] is False


async def test_models_and_files_are_written_as_langflow_writes_them(catalogue: Catalogue) -> None:
    made = await configured(catalogue, "LanguageModelComponent", {"model": "openai:gpt-4o"})
    assert made["template"]["model"]["value"] == [{"provider": "OpenAI", "name": "gpt-4o"}]
    made = await configured(catalogue, "File", {"path": ["hours.txt"]})
    assert made["template"]["path"]["file_path"] == ["hours.txt"]


async def test_a_component_becomes_a_tool_and_a_step_again(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        before = component(catalogue, "CalculatorComponent")
        tool = (await live.client.post(CONFIGURE, json={"node": before, "tool_mode": True})).json()["node"]
        assert [output["name"] for output in tool["data"]["node"]["outputs"]] == ["component_as_tool"]
        step = (await live.client.post(CONFIGURE, json={"node": tool, "tool_mode": False})).json()["node"]
        assert step == before


@pytest.mark.parametrize(
    ("values", "code"),
    [({"template": "{bad name}"}, "bad_template"), ({"nothing": 1}, "unknown_field")],
)
async def test_a_value_that_cannot_be_is_refused_with_a_reason(
    values: JsonObject, code: str, catalogue: Catalogue
) -> None:
    async with serving(assistant(catalogue)) as live:
        node = component(catalogue, "Prompt Template")
        reply = await live.client.post(CONFIGURE, json={"node": node, "values": values})
    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (422, code)
    assert error["message"]
    assert error["fix"]
    assert error["where"].startswith("$.values.")


async def test_what_is_no_component_is_refused(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        note = {"id": "n", "type": "noteNode", "data": {"id": "n", "type": "note"}}
        chat = component(catalogue, "ChatInput")
        for body in ({"node": note}, {}, {"node": chat, "tool_mode": "yes"}, {"node": chat, "tool_mode": True}):
            reply = await live.client.post(CONFIGURE, json=body)
            assert reply.status_code == 422, reply.text
