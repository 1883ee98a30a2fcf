"""The tools that find components: ranked lists, filters, and an honest answer when nothing is found."""

from collections.abc import Sequence

import pytest
from pydantic_ai import ToolReturnPart

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.install.environment import RunnerEnvironment
from tests.shared.scripted_assistant import call_tools
from tests.shared.stand_ins import StandInRunner
from tools.toolsets.discover import discover_tools
from tools.workbench import Workbench

pytestmark = pytest.mark.anyio


async def search(catalogue: Catalogue, **arguments: object) -> str:
    """What the model is told when it searches."""
    bench = Workbench(user="local", session="s", catalogue=catalogue, runner=StandInRunner(), flow=Flow.empty())
    answers, _ = await call_tools(bench, [discover_tools], call("search_components", 1, **arguments))
    return str(_only(answers).content)


def _only(answers: Sequence[ToolReturnPart]) -> ToolReturnPart:
    (answer,) = answers
    return answer


async def test_best_component_is_listed_first(catalogue: Catalogue) -> None:
    lines = (await search(catalogue, query="read a pdf", limit=3)).splitlines()
    assert lines[0].startswith("- File: ")
    assert 1 <= len(lines) <= 3


async def test_only_components_that_pass_the_filters_are_listed(catalogue: Catalogue) -> None:
    assert "CalculatorComponent" in await search(catalogue, query="calculator", produces="Tool")
    told = await search(catalogue, query="calculator and table", produces="Table")
    assert "CalculatorComponent" not in told.partition("Without these filters")[0]


async def test_what_no_component_does_is_said_with_what_comes_nearest(catalogue: Catalogue) -> None:
    told = await search(catalogue, query="export as PDF")
    assert told.startswith("No component writes PDF.")
    assert "The nearest:\n- SaveToFile" in told


async def test_nothing_is_better_than_what_has_nothing_to_do_with_it(catalogue: Catalogue) -> None:
    assert "CSVAgent" not in await search(catalogue, query="error handling")
    assert "Try other words" in await search(catalogue, query="quantum entanglement")


async def test_a_component_that_is_asked_for_is_described_whole(catalogue: Catalogue) -> None:
    bench = Workbench(user="local", session="s", catalogue=catalogue, runner=StandInRunner(), flow=Flow.empty())
    for kind in ("File", "Operations"):
        answers, _ = await call_tools(bench, [discover_tools], call("describe_component", 1, type=kind))
        whole = str(_only(answers).content)
        assert "left out" not in whole
        assert "…" not in whole
        assert len(whole) > len(catalogue.describe(kind))


async def test_nearest_are_offered_when_nothing_is_found(catalogue: Catalogue) -> None:
    told = await search(catalogue, query="chatoinutx")
    assert "No component matches 'chatoinutx'" in told
    assert "nearest" in told
    assert "- ChatInput: " in told


async def test_filters_are_named_when_nothing_passes_them(catalogue: Catalogue) -> None:
    told = await search(catalogue, query="if else", produces="Embeddings", accepts="Message")
    assert "No component matches 'if else' and accepts Message and produces Embeddings." in told
    assert "ConditionalRouter" in told


async def test_other_words_are_asked_for_when_nothing_is_even_near(catalogue: Catalogue) -> None:
    assert "Try other words" in await search(catalogue, query="  ")


@pytest.mark.engine
async def test_what_does_not_run_here_says_so_and_names_what_does(runner_environment: RunnerEnvironment) -> None:
    whole = Catalogue.load(runner_environment.catalogue)
    lines = (await search(whole, query="vector store for my documents")).splitlines()
    assert lines[0].startswith("- FileVectorStore: ")
    knowledge = (await search(whole, query="langflow knowledge base")).splitlines()
    assert [line for line in knowledge if "does not run here" in line] == [
        line for line in knowledge if line.startswith(("- Knowledge", "- MemoryBase"))
    ]
    told = whole.describe("Knowledge")
    assert "does not run here: keeps its texts in Langflow's knowledge bases; use FileVectorStore" in told


async def test_a_search_by_port_types_describes_the_best_match(catalogue: Catalogue) -> None:
    found = await search(catalogue, query="convert text to a table", accepts="Message", produces="Table")
    assert catalogue.describe(found.partition(":")[0].removeprefix("- "), 700) in found
    assert "outputs:" not in await search(catalogue, query="convert text to a table")
