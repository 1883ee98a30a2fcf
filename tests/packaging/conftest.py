"""A wheel built as it would be published, and an installation of it that shares nothing with the checkout."""

import subprocess
import sys
from pathlib import Path

import pytest
import uv

ROOT = Path(__file__).parents[2]
FOREIGN = ("agent", "cli", "evals", "flows", "runtime", "server", "tools")
PLAYER = '''
"""A player of the user's own: whatever is asked, it answers with an echo."""

from wirewright import Catalogue, TurnRequest, build

ECHO = """
name: Echo
nodes:
  chat: ChatInput
  answer: ChatOutput
edges:
  chat.message -> answer.input_value
"""


async def play(request: TurnRequest) -> dict[str, object]:
    flow = build(ECHO, Catalogue.load()).flow
    assert flow is not None
    return {"flow": flow.to_json(), "text": "I built an echo flow."}
'''


def uv_run(*arguments: str, cwd: Path = ROOT) -> None:
    """Run uv, and fail with what it says."""
    done = subprocess.run([uv.find_uv_bin(), *arguments], cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a source distribution as it would be published."""
    folder = tmp_path_factory.mktemp("wheel")
    uv_run("build", "--quiet", "--out-dir", str(folder), "--python", sys.executable, str(ROOT))
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment that holds the wheel, its extra `evals`, and the locked dependencies."""
    folder = tmp_path_factory.mktemp("installed")
    python, locked = folder / "venv" / "bin" / "python", folder / "requirements.txt"
    choice = ("--frozen", "--no-dev", "--extra", "evals", "--no-emit-project", "--no-hashes")
    uv_run("export", "--quiet", *choice, "--output-file", str(locked))
    uv_run("venv", "--quiet", "--python", sys.executable, str(folder / "venv"))
    uv_run("pip", "install", "--quiet", "--no-deps", "--python", str(python), "--requirement", str(locked), str(wheel))
    return python


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's project with packages that have the names of ours; each says so when it is imported."""
    for name in FOREIGN:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f'WHOSE = "the user\'s {name}"\n')
    (tmp_path / "agent" / "player.py").write_text(PLAYER)
    return tmp_path
