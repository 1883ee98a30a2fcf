"""Questions to lfx itself, asked inside the engine's own environment."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.catalogue import Catalogue
from runtime.environment import passed_environment
from runtime.provision import RunnerEnvironment


@pytest.fixture
def inside(runner_environment: RunnerEnvironment, tmp_path: Path) -> Callable[..., Any]:
    """Ask the script beside this file a question, with material for it if it needs any, and environment variables."""

    def ask(question: str, material: Any = None, **variables: str) -> Any:
        script, answer, given = (
            Path(__file__).parent / "inside.py",
            tmp_path / "answer.json",
            tmp_path / "material.json",
        )
        given.write_text(json.dumps(material), encoding="utf-8")
        command = [runner_environment.python, "-I", script, runner_environment.source, question, answer, given]
        environment = {**passed_environment(tmp_path), **variables}
        done = subprocess.run(command, capture_output=True, env=environment, timeout=300)
        assert done.returncode == 0, done.stderr.decode()[-3000:]
        return json.loads(answer.read_text(encoding="utf-8"))

    return ask


@pytest.fixture(scope="session")
def full_catalogue(runner_environment: RunnerEnvironment) -> Catalogue:
    """The catalogue with every type, as the engine exported it."""
    return Catalogue.load(runner_environment.catalogue)
