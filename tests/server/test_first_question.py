"""What a server does not import before it has answered a first question."""

import re
import sys
from pathlib import Path

import pytest

from tests.server.test_first_start import ROOT, asked, offline, served

__all__ = ["offline"]
IMPORTED = re.compile(r"import time:[ \d|]+\| +(\S+)")
UNNEEDED = {
    "genai_prices.data": "the planner's answers cost nothing, so no price is looked up",
    "runtime.guard.interpreter": "no source is read",
    "runtime.guard.values": "no source is read",
    "regex": "no file is searched",
    "fasttext": "its words tell the language of the question",
    "pygments": "nothing is shown in colours",
    "rich": "nothing is shown in colours",
    "server.agui.endpoint": "no AG-UI client has come",
    "server.streams.agui": "no AG-UI client has come",
    "server.agui.run_input": "no AG-UI client has come",
    "server.routes.aisdk.chat": "no client of the AI SDK has come",
    "server.streams.aisdk": "no client of the AI SDK has come",
    "server.mcp.transports.endpoint": "no MCP client has come",
    "server.mcp.transports.http": "no MCP client has come",
    "server.routes.langflow.links": "no Langflow server is connected",
    "runtime.langflow.client": "no Langflow server is connected",
    "sqlalchemy.dialects.postgresql": "the database is SQLite",
    "cli.eval.app": "another command",
    "cli.flow.app": "another command",
    "cli.chat.command": "another command",
}


MOST_COLLECTED = 100_000
"""Objects that a collection may go through once the server is imported, which is twice as many."""
COUNTED = """
import gc, sys
def counted(phase, info):
    if phase == "start" and "server.app" in sys.modules:
        looked_at = sum(len(gc.get_objects(generation=young)) for young in range(info["generation"] + 1))
        print(looked_at, file=sys.stderr, flush=True)
gc.callbacks.append(counted)
from cli.main import main
main()
"""


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    """The command, whose server notes on its standard error what it imports."""
    script = tmp_path / "traced"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -X importtime -m cli.main "$@" 2>"$IMPORTS"\n')
    script.chmod(0o700)
    return script


def test_a_first_question_is_answered_without_what_it_does_not_need(
    offline: dict[str, str], tmp_path: Path, traced: Path
) -> None:
    imports = tmp_path / "imports"
    environment = {**offline, "IMPORTS": str(imports)}
    with served(traced, environment, tmp_path / "log") as client:
        assert "Langflow" in str(asked(client, "What can you do?")["result"])
        imported = set(IMPORTED.findall(imports.read_text()))
    assert {"server.app", "agent.demo.planner", "pydantic_ai"} <= imported, "imports were noted"
    assert sorted(UNNEEDED.keys() & imported) == []


def test_collecting_garbage_does_not_go_through_what_was_imported(offline: dict[str, str], tmp_path: Path) -> None:
    command, counts = tmp_path / "counted", tmp_path / "counts"
    (tmp_path / "counted.py").write_text(COUNTED)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path}/counted.py" "$@" 2>"{counts}"\n')
    command.chmod(0o700)
    environment = {**offline, "PYTHONPATH": str(ROOT)}
    with served(command, environment, tmp_path / "log") as client:
        assert "Langflow" in str(asked(client, "What can you do?")["result"])
        looked_at = [int(line) for line in counts.read_text().splitlines() if line.isdecimal()]
    assert looked_at, "something was collected"
    assert max(looked_at) < MOST_COLLECTED
