"""Questions to lfx itself, asked inside the engine's own environment."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.catalogue import Catalogue
from runtime.engine.environment_variables import engine_environment
from runtime.install.environment import RunnerEnvironment
from tests.processes.forked import ForkParent, MakeForkParent


@pytest.fixture(scope="session")
def nursery(runner_environment: RunnerEnvironment, fork_parent: MakeForkParent) -> ForkParent:
    """Forks a process for each question: the engine's imports take seconds."""
    script = Path(__file__).parent / "inside.py"
    python, source = runner_environment.python, runner_environment.source
    return fork_parent("inside", python, script, source, variables=engine_environment)


@pytest.fixture
def inside(nursery: ForkParent, tmp_path: Path) -> Callable[..., Any]:
    """Ask the script beside this file a question, with material for it if it needs any, and environment variables."""

    def ask(question: str, material: Any = None, **variables: str) -> Any:
        answer, given = tmp_path / "answer.json", tmp_path / "material.json"
        given.write_text(json.dumps(material), encoding="utf-8")
        more = {**engine_environment(tmp_path), **variables}
        done = nursery.run(question, str(answer), str(given), folder=tmp_path, variables=more, seconds=300)
        assert done.code == 0, done.err[-3000:]
        return json.loads(answer.read_text(encoding="utf-8"))

    return ask


@pytest.fixture(scope="session")
def full_catalogue(runner_environment: RunnerEnvironment) -> Catalogue:
    """The catalogue with every type, as the engine exported it."""
    return Catalogue.load(runner_environment.catalogue)
