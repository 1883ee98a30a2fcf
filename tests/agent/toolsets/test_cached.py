"""The tools of a turn as one set."""

import pytest
from pydantic_ai import Agent, ModelMessage, ModelResponse, RunContext, TextPart, ToolDefinition
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_ai.usage import RunUsage

from agent.toolsets.cached import cached_toolset, subset
from agent.toolsets.selection import all_tools
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.shared.stand_ins import StandInRunner
from tools.workbench import Workbench

pytestmark = pytest.mark.anyio


def bench_of(catalogue: Catalogue) -> Workbench:
    """A workbench with an empty canvas."""
    return Workbench(user="u", session="s", catalogue=catalogue, runner=StandInRunner(), flow=Flow.empty())


async def told(toolsets: list[AbstractToolset[Workbench]], catalogue: Catalogue) -> list[ToolDefinition]:
    """What a model is told of some sets' tools."""
    seen: list[ToolDefinition] = []

    def plain(_: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.extend(info.function_tools)
        return ModelResponse(parts=[TextPart("Done.")])

    await Agent(FunctionModel(plain), deps_type=Workbench, toolsets=toolsets).run("Go", deps=bench_of(catalogue))
    return seen


def context(catalogue: Catalogue) -> RunContext[Workbench]:
    """A run's context."""
    return RunContext(deps=bench_of(catalogue), model=TestModel(), usage=RunUsage())


async def test_a_combined_toolset_describes_the_same_tools_as_its_parts(catalogue: Catalogue) -> None:
    sets = all_tools()
    apart, together = await told([*sets], catalogue), await told([cached_toolset(tuple(sets))], catalogue)
    assert together == apart
    assert {tool.toolset_id for tool in together} == {toolset.id for toolset in sets}


async def test_a_combined_toolset_and_its_tools_are_made_once(catalogue: Catalogue) -> None:
    sets = tuple(all_tools())
    first = cached_toolset(sets)
    assert cached_toolset(sets) is first
    assert cached_toolset(sets[:2]) is not first
    tools = await first.get_tools(context(catalogue))
    again = await first.get_tools(context(catalogue))
    assert {name: id(tool) for name, tool in tools.items()} == {name: id(tool) for name, tool in again.items()}


async def test_every_tool_keeps_the_attempts_and_the_order_of_its_own_set(catalogue: Catalogue) -> None:
    def facts(tool: ToolsetTool[Workbench]) -> tuple[int, bool]:
        return tool.max_retries, tool.tool_def.sequential

    whole = await cached_toolset(tuple(all_tools())).get_tools(context(catalogue))
    for toolset in all_tools():
        for name, tool in (await toolset.get_tools(context(catalogue))).items():
            assert facts(whole[name]) == facts(tool)


async def test_a_subset_has_only_the_named_tools(catalogue: Catalogue) -> None:
    whole = next(toolset for toolset in all_tools() if toolset.id == "edit")
    part = subset(whole, "add_component", "configure_component")
    assert list(part.tools) == ["add_component", "configure_component"]
    assert part.id == whole.id
    expected = [tool for tool in await told([whole], catalogue) if tool.name in part.tools]
    assert await told([part], catalogue) == expected
    assert "remove_component" in whole.tools
