"""What the guard says about the engine's own components, which need no permission but are read all the same."""

import pytest

from flows.catalogue import Catalogue
from runtime.guard import scan
from runtime.install.environment import RunnerEnvironment

pytestmark = pytest.mark.engine

DO_A_BLOCKED_THING = {
    "APIRequest": "files",
    "Agent": "escape",
    "CSVAgent": "dynamic_code",
    "CSVtoData": "files",
    "Directory": "escape",
    "File": "files",
    "FileContentRetriever": "files",
    "FileDescriptionGeneratorComponent": "process",
    "FileSystemTool": "files",
    "FlowTool": "dynamic_code",
    "GuardrailValidatorV2": "secrets",
    "JSONtoData": "files",
    "JsonAgent": "files",
    "FileVectorStore": "files",
    "Knowledge": "secrets",
    "MCPTools": "process",
    "MemoryBase": "secrets",
    "OpenAPIAgent": "files",
    "PythonFunction": "dynamic_code",
    "PythonREPLComponent": "dynamic_code",
    "PythonREPLTool": "dynamic_code",
    "RunFlow": "dynamic_code",
    "SaveToFile": "files",
    "SearXNGTool": "escape",
    "Smart Transform": "dynamic_code",
    "URLComponent": "secrets",
}
"""Types of the catalogue that the guard flags, each with one rule that it breaks in truth."""


def test_only_components_that_do_a_blocked_thing_are_flagged(runner_environment: RunnerEnvironment) -> None:
    flagged = {
        component.type: {found.rule for found in violations}
        for component in Catalogue.load(runner_environment.catalogue)
        if (violations := scan(component.code))
    }
    assert set(flagged) == set(DO_A_BLOCKED_THING)
    assert {kind for kind, rule in DO_A_BLOCKED_THING.items() if rule not in flagged[kind]} == set()
