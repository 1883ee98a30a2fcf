"""Compound edits and starter flows as tools: what they answer, and what they say when a call cannot be done."""

import json

import pytest

from agent.models.scripted import call
from agent.toolsets.selection import READ_TOOLS, all_tools
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from flows.templates import templates
from tests.shared.stand_ins import ASKED_FOR, StandInRunner
from tests.tools.toolsets.test_toolsets import LOUDER, node_id, use
from tools.workbench import Workbench

pytestmark = pytest.mark.anyio


@pytest.fixture
def bench(catalogue: Catalogue) -> Workbench:
    flow = build(LOUDER, catalogue).flow
    assert flow is not None
    return Workbench(
        mandate=ASKED_FOR, user="local", session="s", catalogue=catalogue, runner=StandInRunner(), flow=flow
    )


async def test_inserting_reports_the_two_new_connections(bench: Workbench) -> None:
    source, target = node_id(bench.flow, "Prompt Template"), node_id(bench.flow, "ChatOutput")
    (answer,) = await use(
        bench,
        call("insert_component", 1, type="CombineText", source_id=source, target_id=target, values={"text2": "!"}),
    )
    new = bench.flow.nodes[-1].id
    assert str(answer.content) == (
        f"Inserted {new}: {source}.prompt -> {new}.text1; {new}.combined_text -> {target}.input_value."
    )
    assert [action.kind for action in bench.actions] == ["disconnect", "add_component", "connect", "connect", "arrange"]


async def test_replacing_reports_what_was_not_kept(bench: Workbench) -> None:
    prompt = node_id(bench.flow, "Prompt Template")
    (answer,) = await use(bench, call("replace_component", 1, component_id=prompt, type="CombineText"))
    new = node_id(bench.flow, "CombineText")
    assert f"Replaced {prompt} by {new}." in str(answer.content)
    assert f"Not kept: {prompt}.template" in str(answer.content)
    assert len(bench.flow.edges) == 2


async def test_renaming_and_copying_change_only_what_was_asked(bench: Workbench) -> None:
    prompt = node_id(bench.flow, "Prompt Template")
    await use(
        bench,
        call("rename_component", 1, component_id=prompt, name="Shouter"),
        call("duplicate_component", 2, component_id=prompt),
    )
    assert [node.display_name for node in bench.flow.nodes][1::2] == ["Shouter", "Shouter"]
    assert [action.kind for action in bench.actions] == ["amend", "add_component"]
    (answer,) = await use(bench, call("rename_component", 1, component_id=prompt, name="Shouter"))
    assert "nothing was changed" in str(answer.content)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("insert_component", {"type": "CombineText", "source_id": "x", "target_id": "y"}),
        ("replace_component", {"component_id": "x", "type": "CombineText"}),
        ("rename_component", {"component_id": "x", "name": "y"}),
        ("duplicate_component", {"component_id": "x"}),
        ("use_template", {"name": "ecko"}),
    ],
)
async def test_an_impossible_call_names_what_exists_and_changes_nothing(
    tool: str, arguments: dict[str, str], bench: Workbench
) -> None:
    before = bench.flow
    (answer,) = await use(bench, call(tool, 1, **arguments))
    assert answer.outcome == "retried"
    assert "ChatInput" in str(answer.content) or "echo" in str(answer.content)
    assert bench.flow is before
    assert bench.proposal is None


async def test_every_template_is_listed_with_what_it_needs(bench: Workbench) -> None:
    (answer,) = await use(bench, call("list_templates", 1))
    lines = str(answer.content).splitlines()
    assert [line.split(":")[0].removeprefix("- ") for line in lines] == [one.name for one in templates()]
    assert "needs: model" in next(line for line in lines if line.startswith("- prompt-chain"))
    assert len(str(answer.content)) < 2_000


async def test_a_template_is_proposed_and_verified(bench: Workbench) -> None:
    canvas = bench.flow
    (answer,) = await use(bench, call("use_template", 1, name="Prompt Fill"))
    assert bench.flow is canvas
    assert bench.proposal is not None
    assert bench.proposal.name == "Fill a prompt"
    assert "Verified: it runs." in str(answer.content)
    assert "_input_type" not in str(answer.content)


async def test_a_template_that_needs_a_model_is_proposed_with_a_caveat(bench: Workbench) -> None:
    bench.flow = Flow.empty()
    (answer,) = await use(bench, call("use_template", 1, name="memory-chat"))
    assert bench.caveats == ["It was checked but not run, because a run needs: model."]
    assert bench.caveats[0] in str(answer.content)
    assert isinstance(bench.runner, StandInRunner)
    assert bench.runner.asked == []


async def test_the_edit_tools_are_small_and_questions_may_only_list_templates() -> None:
    sizes = {
        name: len(json.dumps({"description": tool.description, "parameters": tool.function_schema.json_schema}))
        for toolset in all_tools()
        for name, tool in toolset.tools.items()
    }
    for name in ("insert_component", "replace_component", "rename_component", "duplicate_component", "use_template"):
        assert sizes[name] < 1_300
    assert "list_templates" in READ_TOOLS
    assert "use_template" not in READ_TOOLS
