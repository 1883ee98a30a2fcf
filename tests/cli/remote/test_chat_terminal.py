"""`wirewright chat --server` at a real terminal, narrow and wide: what is asked and answered fits its width."""

import os
import re
from pathlib import Path

import pytest

from agent.models.scripted import call
from tests.cli.chat.terminal import Terminal, needs_tmux
from tests.cli.remote.conftest import Serve
from tests.shared.flow_texts import ECHO

QUESTION = "What is a flow, and what would somebody who has never seen one make of it on a Monday morning?"
ANSWER = "A flow is a graph of components, each of which takes what others made, works on it, and passes on the rest."


@needs_tmux
@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_conversation_on_a_server_fits_its_terminal(
    columns: int, serve: Serve, tmp_path: Path, wirewright_command: Path
) -> None:
    remote = serve("question", ANSWER, "build_flow", call("build_flow", 1, spec=ECHO), "Here it is.")
    folder = tmp_path / "here"
    folder.mkdir()
    known = {"WIREWRIGHT_CACHE": os.environ.get("WIREWRIGHT_CACHE", ""), "WIREWRIGHT_TOKEN": remote.token}
    environment = {**known, "WIREWRIGHT_DATA": str(remote.data)}
    command = (wirewright_command, "chat", "--server", remote.url)
    with Terminal(*command, columns=columns, environment=environment, folder=folder) as terminal:
        terminal.wait_for("^>")
        terminal.type(QUESTION)
        terminal.press("Enter")
        screen = terminal.wait_for(r"the rest\.\s*\n(.*\n)*>")
        assert ANSWER in " ".join(screen.split())
        terminal.type("Build an echo flow")
        terminal.press("Enter")
        terminal.wait_for(r"Put it on the canvas\? \[y/N\]")
        terminal.type("y")
        terminal.press("Enter")
        terminal.wait_for(r"Added to the canvas\.\s*\n(.*\n)*>")
        terminal.type("/sto")
        terminal.wait_for(r"> /sto")
        terminal.press("Tab")
        terminal.wait_for(r"> /store *$")
        terminal.type("Mine")
        terminal.press("Enter")
        screen = terminal.wait_for(r"stored\s+as\s+“Mine”")
        terminal.press("C-d")
        assert terminal.exit_code() == 0
    shown = [line for line in screen.split("\n") if line]
    assert max(map(len, shown)) <= columns
    assert any(len(line) > min(columns, 100) / 2 for line in shown), "lines use the width that there is"
    assert not re.search(r"\w-\n", screen), "no word is broken"
    assert [one["name"] for one in remote.run("flow", "list", "--json").json["flows"]] == ["Mine"]
