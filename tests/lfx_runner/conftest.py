"""Questions to lfx itself, asked inside the engine's own environment."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.catalogue import Catalogue
from runtime.engine.environment_variables import engine_environment
from runtime.install.environment import RunnerEnvironment
from tests.processes.forked import ForkParent


@pytest.fixture(scope="session")
def nursery(runner_environment: RunnerEnvironment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkParent]:
    """Forks a process for each question: the engine's imports take seconds."""
    folder = tmp_path_factory.mktemp("inside")
    script = Path(__file__).parent / "inside.py"
    variables = engine_environment(folder)
    made = ForkParent(runner_environment.python, script, runner_environment.source, folder=folder, variables=variables)
    yield made
    made.end()


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
