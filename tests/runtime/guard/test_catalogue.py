"""What the guard says about the engine's own components, which need no permission but are read all the same."""

import pytest

from flows.catalogue import Catalogue
from runtime.guard import scan
from runtime.install.environment import RunnerEnvironment

pytestmark = pytest.mark.engine

DO_A_BLOCKED_THING = {
    "A2AAgent": "unlisted",
    "AMapComponent": "unlisted",
    "APIRequest": "files",
    "AgenerateComponent": "unlisted",
    "Agent": "escape",
    "AreduceComponent": "unlisted",
    "CSVAgent": "dynamic_code",
    "CSVtoData": "files",
    "CrewAIAgentComponent": "unlisted",
    "Directory": "escape",
    "File": "files",
    "FileContentRetriever": "files",
    "FileDescriptionGeneratorComponent": "process",
    "FileSystemTool": "files",
    "FileVectorStore": "files",
    "FlowTool": "dynamic_code",
    "GuardrailValidatorV2": "secrets",
    "HierarchicalCrewComponent": "unlisted",
    "JSONtoData": "files",
    "JsonAgent": "files",
    "Knowledge": "secrets",
    "KnowledgeBase": "files",
    "KnowledgeIngestion": "files",
    "LLMMathChain": "unlisted",
    "LangChain Hub Prompt": "unlisted",
    "MCPTools": "process",
    "MemoryBase": "secrets",
    "OpenAPIAgent": "files",
    "PythonFunction": "dynamic_code",
    "PythonREPLComponent": "dynamic_code",
    "PythonREPLTool": "dynamic_code",
    "RunFlow": "unlisted",
    "SaveToFile": "files",
    "SearXNGTool": "escape",
    "SequentialCrewComponent": "unlisted",
    "SequentialTaskAgentComponent": "unlisted",
    "Smart Transform": "dynamic_code",
    "SubFlow": "unlisted",
    "ToolCallingAgent": "unlisted",
    "URLComponent": "secrets",
    "YahooFinanceTool": "escape",
}
"""Types of the catalogue that the guard flags, each with one rule that it breaks: `unlisted` ones need a package that
is no part of the engine, or a part of the engine that runs flows or programs."""


def test_only_components_that_do_a_blocked_thing_are_flagged(runner_environment: RunnerEnvironment) -> None:
    flagged = {
        component.type: {found.rule for found in violations}
        for component in Catalogue.load(runner_environment.catalogue)
        if (violations := scan(component.code))
    }
    assert set(flagged) == set(DO_A_BLOCKED_THING)
    assert {kind for kind, rule in DO_A_BLOCKED_THING.items() if rule not in flagged[kind]} == set()
