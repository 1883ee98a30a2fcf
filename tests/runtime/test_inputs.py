"""Which nodes take the text of a run, on the real engine."""

import json

import pytest

from flows.document import Flow
from runtime.runner import Runner
from tests.runtime.conftest import MakeFlow

pytestmark = [pytest.mark.anyio, pytest.mark.engine]

TWO_TEXTS = [
    ("TextInput-a", "text", "TextOutput-a", "input_value"),
    ("TextInput-b", "text", "TextOutput-b", "input_value"),
]


async def test_of_several_text_inputs_only_the_empty_one_takes_the_text(runner: Runner, make_flow: MakeFlow) -> None:
    filled = ("TextInput", {"input_value": "kept"})
    outputs = {"TextOutput-a": "TextOutput", "TextOutput-b": "TextOutput"}
    flow = make_flow({"TextInput-a": filled, "TextInput-b": "TextInput", **outputs}, TWO_TEXTS)
    result = await runner.run(flow, "typed")
    assert result.outputs == {"TextOutput-a": "kept", "TextOutput-b": "typed"}


async def test_text_inputs_that_all_have_a_value_are_not_overwritten(runner: Runner, make_flow: MakeFlow) -> None:
    nodes = {f"TextInput-{name}": ("TextInput", {"input_value": name}) for name in "ab"}
    outputs = {"TextOutput-a": "TextOutput", "TextOutput-b": "TextOutput"}
    flow = make_flow({**nodes, **outputs}, TWO_TEXTS)
    refused = await runner.run(flow, "typed")
    assert refused.error is not None
    assert refused.error.code == "missing_input"
    assert "TextInput-a and TextInput-b" in refused.error.message
    assert "TextInput-a.input_value" in refused.error.fix
    for result in (await runner.run(flow), await runner.run(flow, "probe", network="gateway-only")):
        assert result.outputs == {"TextOutput-a": "a", "TextOutput-b": "b"}


async def test_a_single_text_input_takes_the_text_in_place_of_its_value(runner: Runner, make_flow: MakeFlow) -> None:
    flow = make_flow(
        {"TextInput-a": ("TextInput", {"input_value": "old"}), "TextOutput-b": "TextOutput"},
        [("TextInput-a", "text", "TextOutput-b", "input_value")],
    )
    assert (await runner.run(flow, "typed")).outputs == {"TextOutput-b": "typed"}


async def test_a_flow_runs_whose_components_do_not_say_what_they_are(runner: Runner, echo: Flow) -> None:
    document = json.loads(json.dumps(echo.raw))
    for node in document["data"]["nodes"]:
        del node["data"]["node"]["template"]["_type"]
    result = await runner.run(Flow.from_json(document), "hello")
    assert (result.error, result.output) == (None, "hello")
