"""`generate_component`: source that a model writes becomes a component type in the same turn, or is sent back."""

from pathlib import Path

import pytest
from pydantic_ai import (
    ToolCallPart,
)

from agent.models.scripted import call
from agent.prompts import prompt
from agent.toolsets.selection import tools_for
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.components.store import UserComponents, load
from runtime.guard import scan
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner
from tests.runtime.components.test_rules import GOOD
from tests.shared.scripted_assistant import call_tools
from tests.shared.stand_ins import ASKED_FOR, StandInRunner
from tools.toolsets.build import build_tools
from tools.toolsets.components import component_tools
from tools.toolsets.discover import discover_tools
from tools.toolsets.run import run_tools
from tools.workbench import Workbench

pytestmark = [pytest.mark.engine, pytest.mark.anyio]

REVERSE = prompt("components").split("```python\n")[1].split("```")[0]
"""The example of the prompt."""
FLOW = """nodes:
  A: ChatInput
  R: ReverseText
  O: ChatOutput
edges:
  A.message -> R.text
  R.reversed_text -> O.input_value
"""
HOSTILE = GOOD.replace("    def greet", "    import os\n    x = os.environ\n\n    def greet")


@pytest.fixture
def runner(engine: Runner) -> Runner:
    """What components are made on."""
    return engine


@pytest.fixture
def bench(runner: Runner, runner_environment: RunnerEnvironment, data_folder: Path) -> Workbench:
    catalogue = Catalogue.load(runner_environment.catalogue)
    components = UserComponents(data_folder, "alice", runner)
    return Workbench(
        mandate=ASKED_FOR,
        user="alice",
        session="s",
        catalogue=catalogue,
        runner=runner,
        flow=Flow.empty(),
        user_components=components,
    )


async def use(bench: Workbench, *calls: ToolCallPart) -> list[str]:
    """Call tools one after the other; returns what each was told."""
    answers, _ = await call_tools(bench, [component_tools, discover_tools, build_tools, run_tools], *calls)
    return [str(answer.content) for answer in answers]


async def test_a_component_is_created_found_built_with_and_run_in_one_turn(bench: Workbench) -> None:
    made, found, described, built, ran = await use(
        bench,
        call("generate_component", 1, source=REVERSE),
        call("search_components", 2, query="reverse a text"),
        call("describe_component", 3, type="ReverseText"),
        call("build_flow", 4, spec=FLOW),
        call("run_flow", 5, input="abc"),
    )
    assert "Made the component type ReverseText" in made
    assert "text (Message, str), tool input" in made
    assert "reversed_text (Message)" in made
    assert "component_as_tool" in made
    assert "ReverseText" in found
    assert "reversed_text" in described
    assert "Ran, by its own account" in built
    assert "Verified" not in built
    assert "cba" in ran
    assert [part.type for part in bench.components] == ["ReverseText"]
    assert bench.acted


async def test_a_component_is_stored_for_its_user_only(bench: Workbench, data_folder: Path, runner: Runner) -> None:
    await use(bench, call("generate_component", 1, source=REVERSE))
    assert [part.type for part in (await load(data_folder, "alice", runner)).components] == ["ReverseText"]
    assert (await load(data_folder, "bob", runner)).components == ()
    assert bench.user_components is not None
    view, _ = await bench.user_components.catalogue(Catalogue({}))
    assert "ReverseText" in view


async def test_a_refused_source_is_answered_with_line_rule_and_remedy_and_the_next_one_counts(bench: Workbench) -> None:
    refused, made = await use(
        bench, call("generate_component", 1, source=HOSTILE), call("generate_component", 2, source=REVERSE)
    )
    assert "line 11" in refused
    assert "environment" in refused
    assert "Fix:" in refused
    assert "Made the component type" in made


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (GOOD, "description"),
        (GOOD.replace("-> Message", ""), "-> Message"),
        (GOOD.replace("Greeter", "ChatInput"), "built-in"),
        (GOOD.replace('name="greeting"', 'name="component_as_tool"'), "item, price or result"),
        (GOOD.replace("lfx.io import Output", "lfx.io import Ouput as Output"), "Ouput"),
    ],
)
async def test_a_model_learns_what_to_correct(bench: Workbench, source: str, told: str) -> None:
    (refused,) = await use(bench, call("generate_component", 1, source=source))
    assert told in refused
    assert "Not made" in refused
    assert bench.components == []


async def test_repeating_a_source_stops_further_attempts(bench: Workbench) -> None:
    _, again = await use(
        bench, call("generate_component", 1, source=HOSTILE), call("generate_component", 2, source=HOSTILE)
    )
    assert "the same source failed again" in again
    assert "Do not call generate_component again" in again


async def test_the_third_failure_stops_further_attempts(bench: Workbench) -> None:
    sources = [HOSTILE + f"# {number}\n" for number in range(3)]
    told = await use(bench, *(call("generate_component", n, source=source) for n, source in enumerate(sources)))
    assert "3 attempts failed" in told[-1]


async def test_a_fence_around_a_source_is_removed(bench: Workbench) -> None:
    (made,) = await use(bench, call("generate_component", 1, source=f"```python\n{REVERSE}```\n"))
    assert "Made the component type" in made


async def test_an_anonymous_user_may_use_a_component_and_keeps_none(bench: Workbench, data_folder: Path) -> None:
    assert bench.user_components is not None
    bench.user_components = UserComponents(data_folder, None, bench.user_components.runner)
    (made,) = await use(bench, call("generate_component", 1, source=REVERSE))
    assert "Made the component type" in made
    assert any("not kept" in caveat for caveat in bench.caveats)


async def test_without_an_engine_no_component_is_created(catalogue: Catalogue) -> None:
    bench = Workbench(
        mandate=ASKED_FOR, user="a", session="s", catalogue=catalogue, runner=StandInRunner(), flow=Flow.empty()
    )
    (told,) = await use(bench, call("generate_component", 1, source=REVERSE))
    assert "cannot be made here" in told


def test_the_rules_for_writing_one_are_short_and_their_example_passes(catalogue: Catalogue) -> None:
    assert len(prompt("components")) < 3_000
    assert scan(REVERSE) == []


def test_the_tool_is_offered_only_in_turns_that_may_write_a_component(catalogue: Catalogue) -> None:
    bench = Workbench(
        mandate=ASKED_FOR, user="a", session="s", catalogue=catalogue, runner=StandInRunner(), flow=Flow.empty()
    )
    for intent in ("generate_component", "component_then_flow"):
        assert component_tools in tools_for(intent, bench, "make a component")
    for intent in ("question", "build_flow", "run_flow", "manage_files"):
        assert component_tools not in tools_for(intent, bench, "make a component")
