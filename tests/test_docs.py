"""The manual's commands work: every shell block of the HTTP manual is run against a real server."""

import asyncio
import re
import shutil
from pathlib import Path

import pytest

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from flows.catalogue import Catalogue
from tests.server.live import serving
from tests.stand_ins import StandInRunner

DOCS = Path(__file__).parent.parent / "docs"


def commands(page: str) -> list[str]:
    """The shell blocks of a page."""
    return re.findall(r"^```sh\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.anyio
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed on this machine")
@pytest.mark.parametrize("command", commands("http-api.md"))
async def test_the_commands_of_the_http_manual_work(command: str, catalogue: Catalogue) -> None:
    assistant = Assistant(AssistantSettings(model="demo"), StandInRunner(), catalogue=catalogue)
    async with serving(assistant) as live:
        address = str(live.client.base_url).rstrip("/")
        process = await asyncio.create_subprocess_shell(
            f"set -e; {command.replace('http://127.0.0.1:7878', address)}",
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, problems = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 0, problems.decode()
    assert output


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
