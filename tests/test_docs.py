"""The manual does what it says: its commands and examples are run."""

import asyncio
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.routing import Route

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from evals.flow_tests.cases import load_tests
from flows.catalogue import Catalogue
from server.app import create_app
from server.settings import ServerSettings
from tests.server.live import serving
from tests.shared.stand_ins import StandInRunner

DOCS = Path(__file__).parent.parent / "docs"


def commands(page: str) -> list[str]:
    """The shell blocks of a page."""
    return re.findall(r"^```sh\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.table
@pytest.mark.anyio
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed on this machine")
@pytest.mark.parametrize("command", commands("http-api.md"))
async def test_the_commands_of_the_http_manual_work(
    command: str, catalogue: Catalogue, tmp_path: Path, wirewright_command: Path
) -> None:
    assistant = Assistant(AssistantSettings(model="demo"), StandInRunner(), catalogue=catalogue)
    async with serving(assistant) as live:
        address = str(live.client.base_url).rstrip("/")
        process = await asyncio.create_subprocess_shell(
            f"set -e; {command.replace('http://127.0.0.1:7878', address)}",
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{wirewright_command.parent}:{os.environ['PATH']}"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, problems = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 0, problems.decode()
    assert output


def test_the_http_manual_names_every_route() -> None:
    manual = re.sub(r"\{\w+\}", "{}", (DOCS / "http-api.md").read_text())
    served = {route.path for route in create_app(ServerSettings()).routes if isinstance(route, Route)}
    missing = [path for path in served if re.sub(r"\{\w+(?::\w+)?\}", "{}", path) not in manual]
    assert sorted(missing) == []


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.engine
def test_the_manual_of_sessions_shows_what_happens(tmp_path: Path, warm_engine: None, wirewright_command: Path) -> None:
    def ran(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    [spec] = blocks("sessions.md", "text")
    (tmp_path / "history.txt").write_text(spec)
    shown = "".join(blocks("sessions.md", "console"))
    commands = re.findall(r"^\$ wirewright (.*)$", shown, re.MULTILINE)
    for command, output in zip(commands, re.split(r"^\$ .*\n", shown, flags=re.MULTILINE)[1:], strict=True):
        assert ran(wirewright_command, *shlex.split(command)) == output
    [code] = blocks("sessions.md", "python")
    first, second = ran(sys.executable, "-c", code).split("\n", 1)
    assert first == "You said: [] Now: I am Ada"
    assert second == "You said: [User: I am Ada\nAI: You said: [] Now: I am Ada] Now: Who am I?\n"


@pytest.mark.engine
def test_the_manual_of_flow_tests_shows_what_happens(
    tmp_path: Path, warm_engine: None, wirewright_command: Path
) -> None:
    (tmp_path / "louder.flow").write_text(blocks("flow-tests.md", "text")[0])
    tests, models = blocks("flow-tests.md", "yaml")
    for console in blocks("flow-tests.md", "console"):
        command, output = console.removeprefix("$ wirewright ").split("\n", 1)
        done = subprocess.run(
            [wirewright_command, *shlex.split(command)],
            cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (0, output)
        saved = (tmp_path / "louder.tests.yaml").read_text()
        assert tests.startswith(saved)
        (tmp_path / "louder.tests.yaml").write_text(tests)
    (tmp_path / "models.yaml").write_text(models)
    assert load_tests(tmp_path / "models.yaml").models


def test_every_link_of_the_documents_leads_somewhere() -> None:
    root = DOCS.parent
    for page in (root / "README.md", root / "CONTRIBUTING.md", *DOCS.rglob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), (page.name, target)


def test_every_path_in_the_decision_records_exists() -> None:
    root = DOCS.parent
    for page in (DOCS / "adrs").glob("*.md"):
        for path in re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", page.read_text()):
            if (root / path.split("/")[0]).is_dir():
                assert (root / path).exists(), (page.name, path)
