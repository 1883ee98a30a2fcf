"""The wheel: whole, and able to find what it carries."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import uv

from runtime.install.environment import RunnerEnvironment

ROOT = Path(__file__).parent.parent
CARRIED = {
    "wirewright.py",
    "agent/prompts/builder.md",
    "runtime/_lfx_runner/main.py",
    "runtime/_lfx_runner/pyproject.toml",
    "runtime/_lfx_runner/uv.lock",
}
LOCATE = """
import json, runtime
from runtime.install.environment import RunnerEnvironment
print(json.dumps({"home": runtime.__file__, "digest": RunnerEnvironment.locate().digest}))
"""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built as it would be published."""
    folder = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [uv.find_uv_bin(), "build", "--wheel", "--out-dir", str(folder), "--python", sys.executable, str(ROOT)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert built.returncode == 0, built.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_carries_the_prompts_the_scenarios_and_the_runner(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= CARRIED
    assert any(name.startswith("evals/scenarios/") and name.endswith(".yaml") for name in names)
    assert not any(name.startswith(("tests/", "benchmarks/", "scripts/", "cassettes/", "docs/")) for name in names)


def test_an_installed_wheel_finds_the_same_runner_as_the_checkout(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    subprocess.run(
        [uv.find_uv_bin(), "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel)],
        check=True,
        timeout=120,
    )
    found = subprocess.run(
        [sys.executable, "-c", LOCATE],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    answer = json.loads(found.stdout)
    assert Path(answer["home"]).is_relative_to(target)
    assert answer["digest"] == RunnerEnvironment.locate().digest
