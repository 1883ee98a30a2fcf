"""The wheel: one package, whole, and at home beside a user's own `agent`, `tools`, `server`, `evals` and `flows`."""

import json
import os
import re
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from runtime.install.environment import RunnerEnvironment
from scripts.page import page_folder
from tests.packaging.conftest import FOREIGN
from tests.processes.installation import ROOT, uv_run

CARRIED = {
    "wirewright/__init__.py",
    "wirewright/py.typed",
    "wirewright/agent/prompts/builder.md",
    "wirewright/evals/behaviours/recorded.json.gz",
    "wirewright/runtime/_lfx_runner/main.py",
    "wirewright/runtime/_lfx_runner/pyproject.toml",
    "wirewright/runtime/_lfx_runner/uv.lock",
}

FIND_ENGINE = """
from wirewright.runtime.install.environment import RunnerEnvironment
print(RunnerEnvironment.locate().digest)
"""


def run(python: Path, *arguments: str, cwd: Path, program: str = "python") -> subprocess.CompletedProcess[str]:
    """Run a program of an installation in a project, on its packages."""
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "WIREWRIGHT_DATA": str(cwd / "data"),
    }
    command = [str(python.parent / program), *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)


def test_the_wheel_holds_one_package_and_all_that_it_reads(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"wirewright"}
    assert names >= CARRIED
    assert ("wirewright/server/static/index.html" in names) == (page_folder(ROOT) / "index.html").exists()
    assert not any("node_modules" in name for name in names)
    assert any(name.startswith("wirewright/evals/scenarios/") and name.endswith(".yaml") for name in names)
    assert not any(name.endswith(".pyc") for name in names)


def contents(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel by name."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_it_builds_offline_from_warm_caches(wheel: Path, tmp_path: Path) -> None:
    choice = ("--quiet", "--offline", "--wheel", "--out-dir", str(tmp_path), "--python", sys.executable)
    uv_run("build", *choice, str(ROOT))
    assert contents(next(tmp_path.glob("*.whl"))) == contents(wheel)


def test_it_names_its_version_and_the_commit_that_it_was_built_from(
    wheel: Path, installed: Path, project: Path
) -> None:
    commit = contents(wheel)["wirewright/runtime/install/commit.txt"].decode()
    assert re.fullmatch(r"[0-9a-f]{12}(\.dirty)?", commit), "this checkout has a commit"
    done = run(installed, "--version", cwd=project, program="wirewright")
    assert done.stdout.strip() == f"wirewright {metadata.version('wirewright')}+{commit}"


def test_it_finds_the_same_engine_as_the_checkout(installed: Path, project: Path) -> None:
    found = run(installed, "-c", FIND_ENGINE, cwd=project)
    assert found.stdout.strip() == RunnerEnvironment.locate().digest, found.stderr


def test_the_face_works_beside_a_users_own_packages(installed: Path, project: Path) -> None:
    names = ", ".join(FOREIGN)
    source = f"from wirewright import *; import {names}; print([part.WHOSE for part in ({names})], scan('x = 1'))"
    done = run(installed, "-c", source, cwd=project)
    theirs = [f"the user's {name}" for name in FOREIGN]
    assert done.stdout.strip() == f"{theirs} []", done.stderr


@pytest.mark.engine
def test_a_player_in_the_users_agent_package_is_played(installed: Path, project: Path, warm_engine: None) -> None:
    choice = ("--scenario", "build-only", "--player", "python:agent.player:play", "--json")
    done = run(installed, "eval", "run", *choice, cwd=project, program="wirewright")
    assert done.returncode == 0, done.stderr
    played = json.loads(done.stdout)
    assert (played["player"], played["scored"], played["harness_errors"]) == ("python:agent.player:play", 1, 0)
    assert (played["rates"]["built"], played["rates"]["valid"]) == (1.0, 1.0)


def test_a_type_checker_accepts_the_readmes_examples(installed: Path, project: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for number, block in enumerate(blocks):
        (project / f"example_{number}.py").write_text(block)
    (project / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard", "include": ["example_*.py"]}')
    checker = Path(sys.executable).parent / "basedpyright"
    command = [str(checker), "--pythonpath", str(installed)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
