"""Components that the agent writes: refused with their error, made, kept, and used in the same turn and the next."""

from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from pydantic_ai import ModelRequest, ToolCallPart

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.describe.tool_names import tool_names
from flows.document import Flow, Json, JsonObject, Node
from flows.spec import build
from runtime.components.inspection import inspect
from runtime.components.store import FOLDER
from runtime.engine.component_results import ComponentFailure
from runtime.files.folders import user_folder
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner
from tests.server.live import Live, events, serving, steps, updates
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import SUM, ComponentRunner, ran

pytestmark = pytest.mark.anyio
USES = (
    "name: Adder\nnodes:\n  a: ChatInput\n  s: SumComponent\n  b: ChatOutput\n"
    "edges:\n  a.message -> s.numbers\n  s.total -> b.input_value\n"
)
BUILD = [call("build_flow", 7, spec=USES)]
RUN = [call("run_flow", 8, input="1+2")]


def make(step: int, source: str = SUM) -> list[ToolCallPart]:
    """A call that makes a component."""
    return [call("generate_component", step, source=source)]


def sources(data_folder: Path) -> dict[str, str]:
    """The components that the local user has, by file."""
    folder = user_folder(data_folder, "local") / FOLDER
    return {path.name: path.read_text() for path in folder.glob("*")} if folder.exists() else {}


async def say(live: Live, text: str, **request: object) -> list[dict[str, Any]]:
    """The events of one turn."""
    found = await events(live.client, input_value=text, **request)
    assert found[-1]["event"] == "complete", found[-1]
    return found


@pytest.mark.parity("scenario-compound", "ADR-MCP-031", "base-scenario-component-flow-run-in-one")
async def test_one_message_makes_a_component_and_a_flow_with_it_and_runs_that(catalogue: Catalogue) -> None:
    runner = ComponentRunner(results=[ran("0"), ran("3")])
    search = [call("search_components", 2, query="adds two numbers")]
    model = ScriptedModel("component_then_flow", make(1), search, BUILD, RUN, "It gave 3.")
    async with serving(assistant(catalogue, model, runner)) as live:
        found = await say(live, "Make a component that adds numbers, build a flow with it and run it with 1+2")
    assert "orchestrating" in steps(found)
    made, listed, *_ = model.tool_answers(5)
    assert "SumComponent" in made
    assert "SumComponent" in listed
    data = found[-1]["data"]
    assert (data["intent"], data["run"]["output"], data["flow"]["name"]) == ("component_then_flow", "3", "Adder")
    assert model.replies == [], "one classification and one agent run"


@pytest.mark.parity("base-term-component-then-flow", "term-generate-component", "base-term-generate-component")
async def test_a_component_is_found_described_and_built_with_in_the_turn_that_made_it(catalogue: Catalogue) -> None:
    look = [
        call("search_components", 2, query="SumComponent"),
        call("describe_component", 3, type="SumComponent"),
    ]
    model = ScriptedModel("component_then_flow", make(1), look, BUILD, "Built.")
    async with serving(assistant(catalogue, model, ComponentRunner())) as live:
        found = await say(live, "Make a component that adds numbers and build a flow with it")
    _, listed, described, built = model.tool_answers(4)
    assert "SumComponent" in listed
    assert "total" in described
    assert "Built" in built
    (offered,) = updates(found, "set_flow")
    assert [node.type for node in Flow.from_json(offered["flow"]).nodes] == ["ChatInput", "SumComponent", "ChatOutput"]


@pytest.mark.parity("scenario-component-registered", "smoke-component-kept", "ADR-MCP-026")
async def test_a_component_that_passes_is_kept_under_its_name_without_an_event_of_its_own(
    catalogue: Catalogue, data_folder: Path
) -> None:
    model = ScriptedModel("generate_component", make(1), "Here it is.")
    async with serving(assistant(catalogue, model, ComponentRunner())) as live:
        found = await say(live, "create a component that sums a + b")
    assert {name: text.strip() for name, text in sources(data_folder).items()} == {"SumComponent.py": SUM.strip()}
    assert {event["event"] for event in found} == {"progress", "complete"}
    assert "validated" in steps(found)


@pytest.mark.parity("scenario-component-searchable", "scenario-component-built", "smoke-component-in-flow")
async def test_the_next_turn_finds_it_and_builds_a_node_with_its_very_source(catalogue: Catalogue) -> None:
    search = [call("search_components", 2, query="adds two numbers")]
    model = ScriptedModel("generate_component", make(1), "Here it is.", "build_flow", search, BUILD, "Built.")
    async with serving(assistant(catalogue, model, ComponentRunner())) as live:
        await say(live, "create a component that sums a + b", session_id="agentic_s1")
        found = await say(live, "build a flow with SumComponent and ChatOutput", session_id="agentic_s2")
    assert "SumComponent" in model.tool_answers(6)[0]
    node = Flow.from_json(found[-1]["data"]["proposal"]).nodes[1]
    assert node.type == "SumComponent"
    assert (node.code or "").strip() == SUM.strip()


@pytest.mark.parity("ADR-003", "base-term-validation-retry", "base-error-code-syntax")
async def test_a_source_that_does_not_parse_comes_back_with_its_line_and_is_tried_again(catalogue: Catalogue) -> None:
    broken = SUM.replace("class SumComponent(Component):", "class SumComponent(Component)")
    model = ScriptedModel("generate_component", make(1, broken), make(2), "Now it works.")
    async with serving(assistant(catalogue, model, ComponentRunner())) as live:
        found = await say(live, "create a component that sums a + b")
    (refusal,) = model.tool_answers(2)
    assert "line 6" in refusal
    told = [event for event in found if event.get("step") in {"validating", "validation_failed", "validated"}]
    assert [(event["step"], event["attempt"], event["max_attempts"]) for event in told] == snapshot(
        [
            ("validating", 1, 3),
            ("validation_failed", 1, 3),
            ("validating", 2, 3),
            ("validated", 2, 3),
        ]
    )


@pytest.mark.parity("base-error-no-component-class")
async def test_a_source_without_a_component_comes_back_with_how_to_write_one(catalogue: Catalogue) -> None:
    model = ScriptedModel("generate_component", make(1, "def add(a, b):\n    return a + b\n"), make(2), "Done.")
    async with serving(assistant(catalogue, model, ComponentRunner())) as live:
        await say(live, "create a component that sums a + b")
    refusal = model.tool_answers(2)[0]
    assert "No component class" in refusal
    assert "from lfx.custom import Component" in refusal


@pytest.mark.parity("base-error-code-import", "base-term-runtime-validation", "ADR-010")
async def test_a_class_that_cannot_be_made_comes_back_with_the_engines_reason_and_is_not_kept(
    catalogue: Catalogue, data_folder: Path
) -> None:
    source = SUM.replace("from lfx.io", "import numbers_of_nowhere\nfrom lfx.io")
    refusal = ComponentFailure("missing_package", "No module named 'numbers_of_nowhere'", "Use the standard library.")
    model = ScriptedModel("generate_component", make(1, source), make(2, source), "I could not make it.")
    async with serving(assistant(catalogue, model, ComponentRunner(refusals=[refusal, refusal]))) as live:
        await say(live, "create a component that sums a + b")
    first, second = model.tool_answers(3)
    assert "numbers_of_nowhere" in first
    assert "line 2" in first
    assert "the same source failed again" in second
    assert sources(data_folder) == {}


@pytest.mark.parity("base-term-validation")
async def test_what_the_guard_refuses_is_never_made(catalogue: Catalogue) -> None:
    source = SUM.replace("from lfx.io", "import os\nfrom lfx.io").replace("str(sum", "os.environ['HOME'] + str(sum")
    runner = ComponentRunner(refusals=[ComponentFailure("code", "It was made.", "Never.")])
    model = ScriptedModel("generate_component", make(1, source), "I could not make it.", "I could not make it.")
    async with serving(assistant(catalogue, model, runner)) as live:
        await say(live, "create a component that sums a + b")
    assert "os.environ" in model.tool_answers(2)[0]
    assert len(runner.refusals) == 1


@pytest.mark.parity("smoke-tool-reserved")
async def test_a_reserved_output_is_refused_and_the_next_try_passes(catalogue: Catalogue, data_folder: Path) -> None:
    reserved = SUM.replace('name="total"', 'name="component_as_tool"')
    model = ScriptedModel("generate_component", make(1, reserved), make(2), "Done.")
    async with serving(assistant(catalogue, model, ComponentRunner())) as live:
        await say(live, "create a component that sums a + b")
    assert "item, price or result" in model.tool_answers(2)[0]
    assert list(sources(data_folder)) == ["SumComponent.py"]


@pytest.mark.parity("smoke-component-long-name")
async def test_a_name_that_is_too_long_is_refused_and_the_answer_still_comes(
    catalogue: Catalogue, data_folder: Path
) -> None:
    long = SUM.replace("SumComponent", "S" + "um" * 50)
    model = ScriptedModel("generate_component", make(1, long), "The name was too long.", "The name was too long.")
    async with serving(assistant(catalogue, model, ComponentRunner())) as live:
        await say(live, "create a component that sums a + b")
    assert "length 101 exceeds max 64" in model.tool_answers(2)[0]
    assert sources(data_folder) == {}


@pytest.mark.parity("term-register-if-valid")
async def test_a_component_that_cannot_be_kept_serves_this_turn_all_the_same(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch, data_folder: Path
) -> None:
    monkeypatch.setattr("runtime.components.store.MAX_COMPONENTS", 0)
    model = ScriptedModel("component_then_flow", make(1), BUILD, "Built.")
    async with serving(assistant(catalogue, model, ComponentRunner())) as live:
        found = await say(live, "create a component that sums a + b and build a flow with it")
    assert found[-1]["data"]["proposal"]["name"] == "Adder"
    assert any("not kept" in caveat for caveat in found[-1]["data"]["caveats"])
    assert sources(data_folder) == {}


def instructions(messages: list[Any]) -> str:
    """What the agent was told to do."""
    return "".join(message.instructions or "" for message in messages if isinstance(message, ModelRequest))


@pytest.mark.parity("base-term-agent-tool-section", "term-agent-tool-section")
async def test_how_to_write_a_component_is_taught_only_where_one_may_be_written(catalogue: Catalogue) -> None:
    model = ScriptedModel("generate_component", make(1), "Done.", "build_flow", BUILD, "Done.")
    async with serving(assistant(catalogue, model, ComponentRunner())) as live:
        await say(live, "create a component that sums a + b")
        await say(live, "build a flow with it")
    writing, building = instructions(model.requests[1]), instructions(model.requests[4])
    for taught in ("verb_noun", "description", "tool_mode=True", "component_as_tool", "to_toolkit"):
        assert taught in writing
    assert "component_as_tool" not in building


@pytest.mark.parity("base-scenario-own-component-as-tool", "smoke-tool-own-output")
def test_a_users_own_output_of_the_reserved_name_stays_a_tool() -> None:
    own: JsonObject = {"name": "component_as_tool", "method": "get_price", "types": ["Message"], "tool_mode": True}
    made: JsonObject = {"name": "component_as_tool", "method": "to_toolkit", "types": ["Tool"], "tool_mode": True}
    outputs: list[Json] = [own, made]
    code: JsonObject = {"type": "code", "value": "from lfx.custom import Component\nclass Price(Component): ..."}
    definition: JsonObject = {"template": {"code": code}, "outputs": outputs, "display_name": "Price"}
    data: JsonObject = {"id": "Price-1", "type": "CustomComponent", "node": definition}
    assert tool_names(Node({"id": "Price-1", "data": data}), Catalogue({})) == ["get_price"]


@pytest.mark.engine
@pytest.mark.parity("ADR-MCP-037", "ADR-021", "scenario-real-introspection")
async def test_a_component_has_the_ports_of_its_class_on_the_engine_and_runs(
    engine: Runner,
    runner_environment: RunnerEnvironment,
) -> None:
    found = await inspect(SUM, engine)
    assert found.component is not None, found.faults
    assert [(output["name"], output["method"]) for output in found.component.outputs] == [("total", "add_numbers")]
    catalogue = Catalogue.load(runner_environment.cache / "catalogue.json").with_components([found.component])
    built = build(USES, catalogue)
    assert built.flow is not None, built.faults
    result = await engine.run(built.flow, "1+2")
    assert result.error is None
    assert result.output == "3"


@pytest.mark.parity("base-term-assistant")
async def test_plain_words_become_a_component_that_the_next_message_can_speak_of(
    catalogue: Catalogue, data_folder: Path
) -> None:
    async with serving(assistant(catalogue, runner=ComponentRunner())) as live:
        await say(live, "Create a custom component that reverses text", session_id="agentic_s1")
        found = await say(live, "What does TextReverser do?", session_id="agentic_s1")
    assert list(sources(data_folder)) == ["TextReverser.py"]
    assert "`TextReverser`" in found[-1]["data"]["result"]
